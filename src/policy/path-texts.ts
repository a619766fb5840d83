// Which texts of a call are paths: told by the key that they stand under, or by their own look.
import { ARGS_DEPTH_MAX } from '../limits.ts'
import { type Looks, newLooks, someAt, type Segment } from './arg-path.ts'

/** Last word of a key, as `file_path`, `targetDir` and `paths` have it. */
const PATH_WORD =
  /(?:^|[^a-z])(?:path|file|filename|dir|directory|folder|cwd|workdir|root|uri|source|destination|src|dst|dest|target)s?$/
/** Absolute, in a home, or leading up: a path under any key. */
const PATH_LOOK = /^(?:\/|~|\.{1,2}(?:[/\\]|$)|[A-Za-z]:[/\\]|file:)|(?:^|[/\\])\.\.(?:[/\\]|$)/
const LOOK_CHARS_MAX = 1_024
const OTHER_SCHEME = /^(?!file:)[A-Za-z][A-Za-z0-9+.-]+:\/\//

/** The texts; or that there are more values, or deeper ones, than anybody looks at, or a key that can be read in two ways. */
export function pathTextsOf(
  args: object,
  keys: readonly (readonly Segment[])[] | null,
): readonly string[] | 'unknown' | 'ambiguous' {
  const texts = new Set<string>()
  const looks = newLooks()
  if (keys === null) return collect(args, false, 0, looks, texts) ? [...texts] : 'unknown'
  for (const segments of keys) {
    const found = someAt(args, segments, 0, looks, (value) => {
      collectStrings(value, texts)
      return false
    })
    if (found === 'unknown' || found === 'ambiguous') return found
  }
  return [...texts]
}

function collectStrings(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string') texts.add(value)
  else if (Array.isArray(value)) for (const item of value) if (typeof item === 'string') texts.add(item)
}

function collect(value: unknown, isNamed: boolean, depth: number, looks: Looks, texts: Set<string>): boolean {
  looks.left -= 1
  if (looks.left < 0 || depth > ARGS_DEPTH_MAX) return false
  if (typeof value === 'string') {
    if ((isNamed || looksLikePath(value)) && !OTHER_SCHEME.test(value)) texts.add(value)
    return true
  }
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every((item) => collect(item, isNamed, depth + 1, looks, texts))
  return Object.entries(value).every(([key, inner]) => collect(inner, isPathKey(key), depth + 1, looks, texts))
}

function isPathKey(key: string): boolean {
  return PATH_WORD.test(key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase())
}

function looksLikePath(text: string): boolean {
  return text.length <= LOOK_CHARS_MAX && !/\s/.test(text) && PATH_LOOK.test(text)
}
