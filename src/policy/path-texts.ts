// Which texts of a call are paths: told by the key that they stand under, or by their own look.
import { ARGS_DEPTH_MAX } from '../limits.ts'
import { type Looks, newLooks, someAt, type Segment } from './arg-path.ts'

/** How a key ends: `file_path`, `targetDir`, `outfile`, `paths`, `path2`, `FILE_NAME`. A profile is no file and a resource no source. */
const PATH_WORD =
  /(?:(?:path|(?<!(?:^|[^a-z])pro)file|dir|director(?:y|ie)|folder)s?(?:[^a-z]*(?:name|spec))?|cwd|root|uri|(?<!(?:^|[^a-z])re)source|destination|src|dst|dest|target)s?[^a-z]*$/
/** Absolute, in a home, or leading up: a path under any key. */
const PATH_LOOK = /^(?:\/|~|\.{1,2}(?:[/\\]|$)|[a-z]:[/\\]|file:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i
const LOOK_CHARS_MAX = 1_024
const OTHER_SCHEME = /^(?!file:)[a-z][a-z0-9+.-]+:\/\//i
/** Levels of members for which a key speaks: its own value, and `{"path": {"value": …}}`. Lists do not count as a level. */
const NAMED_LEVELS = 2

/** The texts; or that there are more values, or deeper ones, than anybody looks at, or a key that can be read in two ways. */
export function pathTextsOf(
  args: object,
  keys: readonly (readonly Segment[])[] | null,
): readonly string[] | 'unknown' | 'ambiguous' {
  const texts = new Set<string>()
  const looks = newLooks()
  if (keys === null) return collect(args, 0, 0, looks, texts) ? [...texts] : 'unknown'
  for (const segments of keys) {
    const found = someAt(args, segments, 0, looks, (value) =>
      collectStrings(value, 0, looks, texts) ? false : 'unknown',
    )
    if (found === 'unknown' || found === 'ambiguous') return found
  }
  return [...texts]
}

/** Where an author says that paths stand, every text below is one. */
function collectStrings(value: unknown, depth: number, looks: Looks, texts: Set<string>): boolean {
  looks.left -= 1
  if (looks.left < 0 || depth > ARGS_DEPTH_MAX) return false
  if (typeof value === 'string') texts.add(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((inner) => collectStrings(inner, depth + 1, looks, texts))
}

/** `named`: for how many levels a key above still says that texts are paths. */
function collect(value: unknown, named: number, depth: number, looks: Looks, texts: Set<string>): boolean {
  looks.left -= 1
  if (looks.left < 0 || depth > ARGS_DEPTH_MAX) return false
  if (typeof value === 'string') {
    if ((named > 0 || looksLikePath(value)) && !OTHER_SCHEME.test(value)) texts.add(value)
    return true
  }
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every((item) => collect(item, named, depth + 1, looks, texts))
  const members = Object.entries(value)
  // `{"/etc/x": "content"}`; below a key for paths `src/x` is told by its slash.
  const paths = new Set(
    Object.keys(value).filter(
      (key) => looksLikePath(key) || (named > 0 && key.includes('/') && !OTHER_SCHEME.test(key)),
    ),
  )
  for (const path of paths) texts.add(path)
  // `{"path": …, "content": …}` says by itself which of its texts are paths.
  const inherited = paths.size > 0 || members.some(([key]) => isPathKey(key)) ? 0 : Math.max(named - 1, 0)
  return members.every(([key, inner]) =>
    collect(inner, !paths.has(key) && isPathKey(key) ? NAMED_LEVELS : inherited, depth + 1, looks, texts),
  )
}

function isPathKey(key: string): boolean {
  return PATH_WORD.test(key.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase())
}

function looksLikePath(text: string): boolean {
  return text.length <= LOOK_CHARS_MAX && !/\s/.test(text) && PATH_LOOK.test(text)
}
