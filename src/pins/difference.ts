// Two definitions of a tool side by side, for a person's eye: which parts differ, and how, with nothing in it that a terminal obeys or hides.
import { canonicalBytes } from '../canonical/canonical.ts'
import { HeimdallError } from '../errors.ts'

export interface Difference {
  /** Members of the definition that differ: `description`, `inputSchema`. */
  readonly fields: readonly string[]
  /** Lines that begin with `-` for what was, and `+` for what is. */
  readonly lines: readonly string[]
}

/** Of a text that is cut to what differs, this much around it. */
const AROUND_CHARS = 60
const TOO_LARGE = '(too large to be kept)'

/** Null stands for a definition that is not there, or was too large to be kept. */
export function difference(before: string | null, after: string | null): Difference {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  const fields = new Set<string>()
  const lines: string[] = []
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(path), now.get(path)]
    if (was?.text === is?.text) continue
    fields.add((was ?? is)?.field ?? '')
    lines.push(...pair(path, was?.text, is?.text))
  }
  // What differs in a way that parsing loses, such as a key twice.
  if (lines.length === 0 && before !== after) lines.push(...pair('', before ?? TOO_LARGE, after ?? TOO_LARGE))
  return { fields: [...fields].filter((field) => field !== ''), lines }
}

function pair(path: string, was: string | undefined, is: string | undefined): string[] {
  const name = path === '' ? '' : `${path}: `
  const [old, now] = was === undefined || is === undefined ? [was, is] : aroundDifference(was, is)
  return [
    ...(old === undefined ? [] : [`- ${seeable(name + old)}`]),
    ...(now === undefined ? [] : [`+ ${seeable(name + now)}`]),
  ]
}

interface Leaf {
  readonly field: string
  readonly text: string
}

/** By path; a definition that is not to be taken apart is one text. */
function leavesOf(text: string | null): ReadonlyMap<string, Leaf> {
  if (text === null) return new Map()
  const value = parsed(text)
  const leaves = new Map<string, Leaf>()
  if (value === undefined) leaves.set('', { field: '', text })
  else collect(value, '', '', leaves)
  return leaves
}

function collect(value: unknown, path: string, field: string, leaves: Map<string, Leaf>): void {
  const isArray = Array.isArray(value)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (entries.length === 0) leaves.set(path, { field, text: JSON.stringify(value) })
  for (const [key, member] of entries) {
    const step = isArray ? `[${key}]` : /^[\w$-]+$/.test(key) ? key : JSON.stringify(key)
    const below = path === '' || isArray ? path + step : `${path}.${step}`
    collect(member, below, field === '' ? key : field, leaves)
  }
}

/** Undefined for what is nested too deep to be walked, or is no JSON since a secret was taken out of it. */
function parsed(text: string): unknown {
  try {
    canonicalBytes(text)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (error.code === 'JSON_TOO_DEEP' || error.code === 'JSON_MALFORMED') return undefined
  }
  return JSON.parse(text) as unknown
}

/** Long texts are cut where they agree, never where they differ. */
function aroundDifference(was: string, is: string): [string, string] {
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start += 1
  let end = 0
  while (end < was.length - start && end < is.length - start && was.at(-1 - end) === is.at(-1 - end)) end += 1
  const cut = (text: string): string => {
    const from = start > AROUND_CHARS * 2 ? start - AROUND_CHARS : 0
    const to = end > AROUND_CHARS * 2 ? text.length - end + AROUND_CHARS : text.length
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
  }
  return [cut(was), cut(is)]
}

/** Controls, what is drawn as nothing, private letters: whatever a model reads and a person would not see. */
const UNSEEABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** A text for a terminal: what cannot be seen stands there as `\u{…}`. */
export function seeable(text: string): string {
  return text.replace(UNSEEABLE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
}
