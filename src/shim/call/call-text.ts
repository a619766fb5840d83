// What a human reads of a call before allowing it: target or command first, then the change, then the rest. The order is ours, so the caller's order of keys hides nothing. Pure.
import { canonicalBytes } from '../../canonical/canonical.ts'
import { childrenOf } from '../../canonical/children.ts'
import { HeimdallError } from '../../errors.ts'
import { type Redact, redactValue } from '../../events/redact.ts'
import { seeable } from '../../pins/difference.ts'
import { isObject } from '../../plain-object.ts'
import { fold } from '../../policy/bundle/likeness.ts'

export interface CallText {
  /** Every line; the first is the target or the command. */
  readonly whole: string
  /** Long parts cut, with how to see them; the same as `whole` where nothing is cut. */
  readonly short: string
}

/** Arguments that say what a call acts on, most telling first; compared without letter case, `_` and `-`. */
const TARGETS = (
  'command cmd script argv path filepath file filename relativepath targetfile notebookpath source src destination dest from to ' +
  'oldpath newpath paths files directory dir folder cwd workdir workingdirectory uri url endpoint method query sql statement code ' +
  'repo repository branch ref remote host database table channel recipient email'
).split(' ')
const EDIT = TARGETS.length
const SHORT_VALUE = EDIT + 1
const LONG_VALUE = EDIT + 2

/** Names that editing tools give to the text before an edit and after it. */
const EDITS: Readonly<Record<string, string>> = {
  oldstring: 'newstring',
  oldstr: 'newstr',
  oldtext: 'newtext',
  oldcontent: 'newcontent',
  oldcode: 'newcode',
  search: 'replace',
  find: 'replace',
  pattern: 'replacement',
  before: 'after',
  old: 'new',
}

/** Equal lines shown around a change. */
const CONTEXT_LINES = 2
/** Longer texts get lines of their own. */
const INLINE_CHARS = 160
const NESTED_MAX = 8
/** Of the short form. */
const LINES_MAX = 40
const PART_LINES_MAX = 12
const LINE_CHARS_MAX = 200
const TARGETS_MAX = 4
const TARGET_CHARS_MAX = 80

/** An argument, or a part of a nested one. */
interface Part {
  /** Targets first, then edits, short values and long ones. */
  readonly rank: number
  readonly name: string
  /** A short value in one line; of a long one how much it is. */
  readonly value: string
  readonly lines: readonly string[]
}

/** `args`: the arguments object as it was sent; null where it is too large to inspect. `how` says how to see what is cut. */
export function callText(args: Buffer | null, redact: Redact, how: string): CallText {
  if (args === null) return { whole: TOO_LARGE, short: TOO_LARGE }
  const found: Part[] = []
  collectMembers('', membersIn(args, redact), 0, found)
  const parts = found.toSorted((a, b) => a.rank - b.rank)
  const first = firstLine(parts)
  const whole = [first, ...parts.flatMap((part) => linesOf(part, Infinity))]
  const cut = [first, ...parts.flatMap((part) => linesOf(part, PART_LINES_MAX))].map(cutLine)
  if (cut.length > LINES_MAX) cut.splice(LINES_MAX, Infinity, `… ${cut.length - LINES_MAX} more lines`)
  const isCut = cut.length < whole.length || cut.some((line, i) => line !== whole[i])
  return { whole: whole.join('\n'), short: [...cut, ...(isCut ? [`all of it: ${how}`] : [])].join('\n') }
}

const TOO_LARGE = 'arguments of more than 1 MiB: not inspected, and not shown'

type NamedValue = readonly [name: string, value: unknown]

/** Also those that are named twice. Redacted as one text, where that leaves JSON. */
function membersIn(args: Buffer, redact: Redact): readonly NamedValue[] {
  const text = Buffer.from(redact(args.toString()))
  if (isJson(text)) return childrenOf(text).map(({ name, from, to }) => [name, valueOf(text.subarray(from, to))])
  return childrenOf(args).map(({ name, from, to }) => {
    const [member] = Object.entries(redactValue({ [name]: valueOf(args.subarray(from, to)) }, redact) as object)
    return (member ?? [name, null]) as NamedValue
  })
}

function isJson(text: Buffer): boolean {
  try {
    JSON.parse(text.toString())
    return true
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return false
  }
}

/** The JSON text itself where readers may understand it differently, such as with a key twice. */
function valueOf(json: Buffer): unknown {
  try {
    canonicalBytes(json)
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code.startsWith('JSON_'))) throw error
    return json.toString()
  }
  return JSON.parse(json.toString())
}

const plain = (name: string): string => fold(name).replace(/[_\s-]/g, '')

function collectMembers(path: string, members: readonly NamedValue[], depth: number, found: Part[]): void {
  const edit = editIn(members)
  if (edit !== undefined) found.push({ rank: EDIT, name: path === '' ? 'change' : path, value: '', lines: diff(edit) })
  // By name: the order is not the caller's.
  for (const [name, value] of members.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    if (edit?.names.includes(name) === true) continue
    const shown = /^[\w$-]+$/.test(name) ? name : seeable(JSON.stringify(name))
    collect(path === '' ? shown : `${path}.${shown}`, plain(name), value, depth, found)
  }
}

function collect(path: string, key: string, value: unknown, depth: number, found: Part[]): void {
  if (depth < NESTED_MAX && isObject(value) && Object.keys(value).length > 0) {
    collectMembers(path, Object.entries(value), depth + 1, found)
    return
  }
  if (depth < NESTED_MAX && Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null)) {
    for (const [i, item] of value.entries()) collect(`${path}[${i}]`, key, item, depth + 1, found)
    return
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const lines = text.split(/\r\n|[\r\n]/)
  const isShort = lines.length === 1 && text.length <= INLINE_CHARS
  const target = TARGETS.indexOf(key)
  found.push({
    rank: target === -1 ? (isShort ? SHORT_VALUE : LONG_VALUE) : target,
    name: path,
    value: isShort
      ? seeable(text)
      : `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}, ${text.length} characters`,
    lines: isShort ? [] : lines.map((line) => `  | ${seeable(line)}`),
  })
}

interface Edit {
  readonly names: readonly string[]
  readonly before: string
  readonly after: string
}

function editIn(members: readonly NamedValue[]): Edit | undefined {
  const names = members.map(([name]) => plain(name))
  const only = (wanted: string): NamedValue | undefined => {
    const at = names.indexOf(wanted)
    return at === -1 || names.lastIndexOf(wanted) !== at ? undefined : members[at]
  }
  for (const [oldName, newName] of Object.entries(EDITS)) {
    const [was, is] = [only(oldName), only(newName)]
    if (was === undefined || is === undefined) continue
    const [before, after] = [was[1], is[1]]
    if (typeof before === 'string' && typeof after === 'string') return { names: [was[0], is[0]], before, after }
  }
  return undefined
}

/** What differs as one block: lines that agree at both ends are left out, but for a few. */
function diff({ before, after }: Edit): readonly string[] {
  const [was, is] = [before.split('\n'), after.split('\n')]
  const shorter = Math.min(was.length, is.length)
  let start = 0
  while (start < shorter && was[start] === is[start]) start += 1
  let end = 0
  while (end < shorter - start && was.at(-1 - end) === is.at(-1 - end)) end += 1
  const marked = (mark: string, lines: readonly string[]): string[] => lines.map((line) => `  ${mark} ${seeable(line)}`)
  return [
    ...marked(' ', was.slice(Math.max(0, start - CONTEXT_LINES), start)),
    ...marked('-', was.slice(start, was.length - end)),
    ...marked('+', is.slice(start, is.length - end)),
    ...marked(' ', was.slice(was.length - end, was.length - end + CONTEXT_LINES)),
  ]
}

/** All targets, named where there are several: one may be there to draw attention from another. */
function firstLine(parts: readonly Part[]): string {
  const targets = parts.filter(({ rank }) => rank < EDIT)
  const [only, ...more] = targets
  if (only !== undefined && more.length === 0) return targetOf(only)
  const shown = only === undefined ? parts : targets
  if (shown.length === 0) return 'no arguments'
  const named = shown.slice(0, TARGETS_MAX).map((part) => `${part.name}: ${targetOf(part)}`)
  const rest = shown.length - named.length
  return [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}

function targetOf({ value, lines }: Part): string {
  const text = lines.length === 0 ? value : lines.map((line) => line.slice('  | '.length)).join(' ↵ ')
  return inMiddle(text, TARGET_CHARS_MAX)
}

function linesOf({ name, value, lines }: Part, max: number): readonly string[] {
  const head = `${name}:${value === '' ? '' : ` ${value}`}`
  if (lines.length <= max) return [head, ...lines]
  const first = Math.ceil((max * 2) / 3)
  const last = max - first
  return [head, ...lines.slice(0, first), `  … ${lines.length - max} more lines`, ...lines.slice(-last)]
}

const cutLine = (line: string): string => inMiddle(line, LINE_CHARS_MAX)

/** Beginning and end: what a caller pads is cut, not what it hides behind the padding. */
function inMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const half = Math.floor(max / 2)
  return `${text.slice(0, half)}…[${text.length - 2 * half} characters]…${text.slice(-half)}`
}
