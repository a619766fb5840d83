// A configuration as text with places in it: which servers it names, and where the parts lie that an import changes. Nothing is ever serialised anew.

/** From `start` up to `end`, in UTF-16 units of the text. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

export interface Edit extends TextSpan {
  readonly text: string
}

/** A list with its brackets. */
export interface ListAt extends TextSpan {
  readonly elements: readonly TextSpan[]
}

/** One server of a configuration. */
export interface ServerAt {
  /** Keys that lead to it; the last is its name. */
  readonly at: readonly string[]
  readonly value: Readonly<Record<string, unknown>>
  /** The command's literal, quotes included. */
  readonly command: TextSpan | undefined
  list(key: string): ListAt | undefined
  /** Adds lists that are not there yet, behind the command. */
  addLists(lists: readonly NewList[]): Edit
  /** Takes a member out, with what separates it from the one before. */
  remove(key: string): Edit
}

export interface NewList {
  readonly key: string
  /** Literals. */
  readonly items: readonly string[]
}

export interface ConfigText {
  readonly text: string
  readonly servers: readonly ServerAt[]
  /** What stands in the place of a server and is none. */
  readonly others: readonly OtherAt[]
  /** Values that nobody needs to see in order to judge an import: tokens may be among them. */
  hidden(): readonly TextSpan[]
}

export interface OtherAt {
  readonly at: readonly string[]
  /** As a noun: `a list`. */
  readonly kind: string
}

/** Members of a server that are shown to whoever asks what an import changes. */
export const SHOWN: ReadonlySet<string> = new Set(['command', 'args', 'env_vars', 'type'])

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}

/** A place where the text cannot be read on. */
export interface Unreadable {
  readonly line: number
  readonly column: number
  readonly problem: string
}

/** As both formats write a string: JSON's escapes are TOML's, but for one character that TOML wants escaped. */
export function literal(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`)
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  const inOrder = edits.toSorted((a, b) => a.start - b.start || a.end - b.end)
  let done = ''
  let from = 0
  for (const edit of inOrder) {
    done += text.slice(from, edit.start) + edit.text
    from = edit.end
  }
  return done + text.slice(from)
}

/** White space from the start of the line up to `place`; nothing when something else stands before it. */
export function indentBefore(text: string, place: number): string | undefined {
  return /(?:^|\n)([ \t]*)$/.exec(text.slice(0, place))?.[1]
}

export const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

export function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
