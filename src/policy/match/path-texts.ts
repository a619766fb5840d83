// Which texts of a call are paths: told by the key that they stand under, or by their own look.
import { ARGS_DEPTH_MAX } from '../../limits.ts'
import { type Looks, newLooks, someAt, type Segment } from './arg-path.ts'

/** How a key ends: `file_path`, `targetDir`, `outfile`, `paths`, `path2`, `FILE_NAME`. A profile is no file and a resource no source. */
const PATH_WORD =
  /(?:(?:path|(?<!(?:^|[^a-z])pro)file|dir|director(?:y|ie)|folder)s?(?:[^a-z]*(?:name|spec))?|cwd|root|uri|(?<!(?:^|[^a-z])re)source|destination|src|dst|dest|target)s?[^a-z]*$/
/** Absolute, in a home, or leading up: a path under any key. */
const PATH_LOOK = /^(?:\/|~|\.{1,2}(?:[/\\]|$)|[a-z]:[/\\]|file:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i
const LOOK_CHARS_MAX = 1_024
/** Schemes of addresses on a network, with a host behind them. Whatever else has a scheme, a program may open as a path: `ab://../x`. */
const ADDRESS =
  /^(?:https?|wss?|s?ftp|ftps|ssh|git|git\+(?:ssh|https?)|svn|rsync|s3|gs|az|docker|oci|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|kafka|nats|ldaps?|smtps?|imaps?|tcp|udp|grpcs?):\/\/(?:[^\s/?#@\\]*@)?(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::[0-9]*)?(?:[/?#]|$)/i
const LEADS_UP = /(?:^|[/\\])\.\.(?:[/\\]|$)/
/** Levels of members for which a key speaks: its own value, and `{"path": {"value": …}}`. Lists do not count as a level. */
const NAMED_LEVELS = 2

/** The texts; or that there are more values, or deeper ones, than anybody looks at, or a key that can be read in two ways. */
export function pathTextsOf(
  args: object,
  keys: readonly (readonly Segment[])[] | null,
): readonly string[] | 'unknown' | 'ambiguous' {
  const texts = new Set<string>()
  const looks = newLooks()
  if (keys === null) return collect(args, UNNAMED, 0, looks, texts) ? [...texts] : 'unknown'
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

/** What a key above says of texts: whether they are paths, and for how many levels. */
interface Named {
  readonly levels: number
  /** It speaks of files: what stands under a path may be what is in the file. */
  readonly mayBeContent: boolean
}

const UNNAMED: Named = { levels: 0, mayBeContent: false }

function collect(value: unknown, named: Named, depth: number, looks: Looks, texts: Set<string>): boolean {
  looks.left -= 1
  if (looks.left < 0 || depth > ARGS_DEPTH_MAX) return false
  if (typeof value === 'string') {
    if ((named.levels > 0 || looksLikePath(value)) && !isAddress(value)) texts.add(value)
    return true
  }
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every((item) => collect(item, named, depth + 1, looks, texts))
  const members = Object.entries(value)
  // `{"/etc/x": "content"}`; below a key for paths `src/x` is told by its slash.
  const paths = new Set(
    Object.keys(value).filter(
      (key) => (looksLikePath(key) || (named.levels > 0 && key.includes('/'))) && !isAddress(key),
    ),
  )
  for (const path of paths) texts.add(path)
  // `{"path": …, "content": …}` says by itself which of its texts are paths.
  const isTold = members.some(([key]) => !paths.has(key) && isPathKey(key))
  const inherited = isTold ? UNNAMED : { ...named, levels: Math.max(named.levels - 1, 0) }
  return members.every(([key, inner]) => {
    const isPath = paths.has(key)
    if (!isPath && isPathKey(key)) return collect(inner, namedBy(key), depth + 1, looks, texts)
    // `{"paths": {"src/a": "lib/a"}}` has two; of `{"files": {"src/a": "…"}}` the second may be what the file holds.
    const isContent = isPath && named.mayBeContent && !(typeof inner === 'string' && couldBePath(inner))
    return collect(inner, isContent ? UNNAMED : inherited, depth + 1, looks, texts)
  })
}

function namedBy(key: string): Named {
  return { levels: NAMED_LEVELS, mayBeContent: /files?[^a-z]*$/i.test(key) }
}

function isPathKey(key: string): boolean {
  return PATH_WORD.test(key.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase())
}

/** No path but a place on a network; one that leads up is no address that anybody writes. */
function isAddress(text: string): boolean {
  return ADDRESS.test(text) && !LEADS_UP.test(text)
}

function couldBePath(text: string): boolean {
  return text.length <= LOOK_CHARS_MAX && /^\S*[/\\]\S*$/.test(text)
}

function looksLikePath(text: string): boolean {
  return text.length <= LOOK_CHARS_MAX && !/\s/.test(text) && PATH_LOOK.test(text)
}
