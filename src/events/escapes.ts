// Text with its escapes decoded, where each character knows its place in the original.

/** Decoded text to find names and operators in. All strings have the same indices. */
export interface DecodedText {
  readonly text: string
  /** The same with a filler in place of each decoded character: an escaped delimiter does not end an unescaped value. */
  readonly plain: string
  /** Where the character at an index begins in the original. */
  readonly originalAt: (index: number) => number
}

/** `\u0061` (also with its backslash escaped), `\x61`, `\/`, `%61`, `%2561`, `&#97;`, `&#x61;`, `&quot;`, `&amp;quot;`. */
const ESCAPE =
  /\\{1,4}(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|\/)|%(?:25){0,3}([2-7][0-9a-f]|0[9ad])|&(?:amp;){0,3}(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi
const NAMED = new Map(
  Object.entries({ quot: '"', apos: "'", lt: '<', gt: '>', amp: '&', nbsp: ' ', equals: '=', colon: ':', lowbar: '_' }),
)
const FILLER = '\u0001'

export function viewOf(original: string): DecodedText {
  const escapes = matchesOf(ESCAPE, original)
  if (escapes.length === 0) return { text: original, plain: original, originalAt: (index) => index }
  let text = ''
  let plain = ''
  let from = 0
  const starts = new Uint32Array(original.length + 1)
  const copy = (to: number): void => {
    for (let i = from; i < to; i += 1) starts[text.length + i - from] = i
    const piece = original.slice(from, to)
    text += piece
    plain += piece
  }
  for (const found of escapes) {
    const char = decoded(found)
    if (char === null) continue
    copy(found.index)
    starts[text.length] = found.index
    text += char
    plain += /[\r\n]/.test(char) ? char : FILLER
    from = found.index + found[0].length
  }
  copy(original.length)
  starts[text.length] = original.length
  return { text, plain, originalAt: (index) => starts[index] ?? original.length }
}

/** One UTF-16 unit; null for an escape that is unknown or that no name or operator contains. */
function decoded([whole, unit, point, byte, percent, decimal, hex, name]: RegExpMatchArray): string | null {
  if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? null
  const digits = unit ?? point ?? byte ?? percent ?? hex
  if (digits === undefined && decimal === undefined) return whole.endsWith('/') ? '/' : null
  const code = digits === undefined ? Number(decimal) : parseInt(digits, 16)
  return code <= 0xff_ff ? String.fromCharCode(code) : null
}

/** What to read a value from that begins at `at`: decoded if it is opened by an escaped character, otherwise plain. */
export function codedLike(view: DecodedText, at: number): string {
  return view.plain[at - 1] === FILLER ? view.text : view.plain
}

/** All matches of a global expression. `matchAll` copies the expression each time, which costs more than reading a short string. */
export function matchesOf(what: RegExp, text: string): RegExpExecArray[] {
  const matches: RegExpExecArray[] = []
  what.lastIndex = 0
  for (let found = what.exec(text); found !== null; found = what.exec(text)) matches.push(found)
  return matches
}
