// A word of a shell command while it is built: which characters are unquoted, which parts are unknown, and what brace expansion makes of it.
import type { ShellValue } from './values.ts'

/** A word of a command. `text` is null where only the shell knows the value: variables, substitutions. */
export interface Word {
  readonly text: string | null
  /** It has an unquoted `*`, `?`, `[` or `{`. */
  readonly isPattern: boolean
  /** Of a word whose text is null, the known part at its beginning: `A=` of `A=$B`. */
  readonly head?: string
  /** Of such a word, the whole, with unknown parts as they are in the source: a shell that receives it parses them again. */
  readonly script?: string
  /** Of such a word, bash may split it into several: it is unquoted. */
  readonly isSplit?: true
  /** Its `~` is the user's home: at its beginning, or after `NAME=`. */
  readonly isHome?: true
}

/** Words that one word may become by brace expansion. */
const BRACES_MAX = 64

/** A text, and for each of its characters whether it is unquoted. */
interface Piece {
  readonly text: string
  readonly isBare: readonly boolean[]
}

export class WordDraft {
  #text = ''
  readonly #isBare: boolean[] = []
  #head: string | undefined
  #script = ''
  #isHome = false
  #isSplit = false
  #isStarted = false

  /** Whether a `~` here is the user's home: at the beginning, and after `NAME=`. */
  get #takesHome(): boolean {
    return !this.#isStarted || (this.#head === undefined && /^[A-Za-z_]\w*=$/.test(this.#text))
  }

  add(text: string, isBare = false): void {
    this.#isStarted = true
    this.#text += text
    this.#script += text
    for (let index = 0; index < text.length; index += 1) this.#isBare.push(isBare)
  }

  /** Unquoted source text. `isLast`: nothing follows it in the word. */
  addBare(source: string, isLast: boolean): void {
    const isHome = this.#takesHome && /^~(?:\/|$)/.test(source) && (isLast || source.length > 1)
    if (isHome) this.#addHome()
    for (const [text] of (isHome ? source.slice(1) : source).matchAll(/\\[^]|[^]/g))
      if (text !== '\\\n') this.add(text.at(-1) ?? '', text.length === 1)
  }

  addValue({ text, isHome }: ShellValue): void {
    if (isHome === true) this.#addHome()
    this.add(isHome === true ? text.slice(1) : text)
  }

  #addHome(): void {
    this.#isHome = true
    this.add('~')
  }

  /** A part that only the shell knows, as it is in the source. */
  addUnknown(source: string, isSplit = false): void {
    this.#isStarted = true
    this.#isSplit ||= isSplit
    this.#head ??= this.#text
    this.#script += source
  }

  /** Several where braces make several of it, none where an unquoted variable was empty. */
  words(): Word[] {
    if (!this.#isStarted) return []
    const piece = { text: this.#text, isBare: this.#isBare }
    if (this.#head !== undefined)
      return [
        {
          text: null,
          isPattern: hasSign(piece, '*?[{'),
          head: this.#head,
          script: this.#script,
          ...(this.#isSplit ? { isSplit: true } : {}),
        },
      ]
    const isHome = this.#isHome ? { isHome: true as const } : {}
    const several = braced(piece, { left: BRACES_MAX })
    if (several === undefined) return [{ text: this.#text, isPattern: true, ...isHome }]
    return several.map((one) => ({ text: one.text, isPattern: hasSign(one, '*?['), ...isHome }))
  }
}

const hasSign = ({ text, isBare }: Piece, signs: string): boolean =>
  isBare.some((bare, at) => bare && signs.includes(text[at] ?? ''))

/** `a{b,c}` is `ab ac`, `{1..3}` is `1 2 3`; nothing where it would be more than anybody writes. */
function braced(piece: Piece, budget: { left: number }): Piece[] | undefined {
  const found = firstBraces(piece)
  if (found === undefined) {
    budget.left -= 1
    return budget.left < 0 ? undefined : [piece]
  }
  const { from, to, parts } = found
  const all: Piece[] = []
  for (const part of parts) {
    const one = braced(joined(cut(piece, 0, from), part, cut(piece, to + 1)), budget)
    if (one === undefined) return undefined
    all.push(...one)
  }
  return all
}

const cut = ({ text, isBare }: Piece, from: number, to?: number): Piece => ({
  text: text.slice(from, to),
  isBare: isBare.slice(from, to),
})

const joined = (...pieces: readonly Piece[]): Piece => ({
  text: pieces.map(({ text }) => text).join(''),
  isBare: pieces.flatMap(({ isBare }) => isBare),
})

/** The first braces that the shell takes for a list or a sequence; `{}` and `{a}` are what they are. */
function firstBraces(piece: Piece): { from: number; to: number; parts: readonly Piece[] } | undefined {
  const { text, isBare } = piece
  const is = (at: number, sign: string): boolean => isBare[at] === true && text[at] === sign
  for (let from = 0; from < text.length; from += 1) {
    if (!is(from, '{')) continue
    const commas: number[] = []
    let depth = 0
    for (let at = from; at < text.length; at += 1) {
      if (is(at, '{')) depth += 1
      if (is(at, ',') && depth === 1) commas.push(at)
      if (is(at, '}')) depth -= 1
      if (depth > 0) continue
      const parts = commas.length === 0 ? sequence(cut(piece, from + 1, at)) : listed(piece, [from, ...commas, at])
      if (parts !== undefined) return { from, to: at, parts }
      break
    }
  }
  return undefined
}

const listed = (piece: Piece, bounds: readonly number[]): Piece[] =>
  bounds.slice(1).map((end, index) => cut(piece, (bounds[index] ?? 0) + 1, end))

function sequence({ text }: Piece): Piece[] | undefined {
  const [, from, to] = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(text) ?? /^([a-zA-Z])\.\.([a-zA-Z])$/.exec(text) ?? []
  if (from === undefined || to === undefined) return undefined
  const isNumber = /\d/.test(from)
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)]
  // One more than the bound is enough to be past it.
  const count = Math.min(Math.abs(last - first), BRACES_MAX) + 1
  return Array.from({ length: count }, (_, index) => {
    const value = first + (last < first ? -index : index)
    const one = isNumber ? String(value) : String.fromCharCode(value)
    return { text: one, isBare: Array.from(one, () => false) }
  })
}
