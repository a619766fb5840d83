// A scope's text as characters that know whether they were escaped, so that braces, classes and separators are
// told from their literal twins at every later step.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { SCOPE_ALTERNATIVES_MAX, SCOPE_EXPANDED_CHARS_MAX } from '../limits.ts'

export interface Token {
  readonly char: string
  /** Escaped: the character itself, never a sign of the pattern language. */
  readonly literal: boolean
}

// A backslash before one of these escapes it; before anything else it is the separator of another system.
const ESCAPABLE = new Set('*?[]{},!#\\')

/** Reads what a person typed. */
export function tokenise(text: string): Token[] {
  return read(text, (char) => ESCAPABLE.has(char))
}

/** Reads canonical text, where a backslash always escapes. */
export function tokeniseCanonical(text: string): Token[] {
  return read(text, () => true)
}

function read(text: string, isEscapable: (char: string) => boolean): Token[] {
  const tokens: Token[] = []
  const chars = Array.from(text)
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? ''
    const next = chars[i + 1]
    if (char !== '\\') tokens.push({ char, literal: false })
    else if (next !== undefined && isEscapable(next)) {
      tokens.push({ char: next, literal: true })
      i += 1
    } else tokens.push({ char: '/', literal: false })
  }
  return tokens
}

/** The characters alone, every sign taken as itself. */
export function plainText(tokens: readonly Token[]): string {
  return tokens.map((token) => token.char).join('')
}

export function isSign(token: Token | undefined, signs: string): boolean {
  return token !== undefined && !token.literal && signs.includes(token.char)
}

/** A plain path as a pattern that matches it and nothing else. */
export function escapeText(text: string): string {
  return text.replace(/[*?[\]{},!#\\]/g, (sign) => `\\${sign}`)
}

export function splitSegments(tokens: readonly Token[]): Token[][] {
  const segments: Token[][] = [[]]
  for (const token of tokens)
    if (isSign(token, '/')) segments.push([])
    else segments.at(-1)?.push(token)
  return segments
}

/** `{a,b}` and `{1..3}` written out; braces without a comma or a range stand for themselves. */
export function expandBraces(tokens: readonly Token[]): Token[][] {
  const done: Token[][] = []
  let size = 0
  const visit = (head: readonly Token[], tail: readonly Token[]): void => {
    const group = firstGroup(tail)
    if (group === undefined) {
      done.push([...head, ...tail])
      size += head.length + tail.length
      if (done.length > SCOPE_ALTERNATIVES_MAX || size > SCOPE_EXPANDED_CHARS_MAX) throw tooMany(tokens)
      return
    }
    const before = [...head, ...tail.slice(0, group.start)]
    const after = tail.slice(group.end + 1)
    // The choice is read again together with what follows, because it may hold braces of its own.
    for (const choice of group.choices) visit(before, [...choice, ...after])
  }
  visit([], tokens)
  return done
}

interface Group {
  readonly start: number
  readonly end: number
  readonly choices: readonly (readonly Token[])[]
}

function firstGroup(tokens: readonly Token[]): Group | undefined {
  for (let start = 0; start < tokens.length; start += 1) {
    if (!isSign(tokens[start], '{')) continue
    const commas: number[] = []
    let depth = 0
    for (let end = start; end < tokens.length; end += 1) {
      const token = tokens[end]
      if (isSign(token, '{')) depth += 1
      else if (isSign(token, ',') && depth === 1) commas.push(end)
      else if (isSign(token, '}')) depth -= 1
      if (depth > 0) continue
      const cuts = [start, ...commas, end]
      const choices =
        commas.length > 0
          ? cuts.slice(1).map((cut, i) => tokens.slice((cuts[i] ?? 0) + 1, cut))
          : rangeChoices(tokens.slice(start + 1, end))
      if (choices !== undefined) return { start, end, choices }
      break
    }
  }
  return undefined
}

function rangeChoices(tokens: readonly Token[]): Token[][] | undefined {
  if (tokens.some((token) => token.literal)) return undefined
  const text = plainText(tokens)
  const found = /^(?:(-?\d+)\.\.(-?\d+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d+))?$/.exec(text)
  if (found === null) return undefined
  const [, fromNumber, toNumber, fromLetter, toLetter, stepText] = found
  const from = fromNumber === undefined ? (fromLetter ?? '').charCodeAt(0) : Number(fromNumber)
  const to = toNumber === undefined ? (toLetter ?? '').charCodeAt(0) : Number(toNumber)
  const step = Math.max(1, Math.abs(Number(stepText ?? 1)))
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || Math.abs(to - from) / step >= SCOPE_ALTERNATIVES_MAX)
    throw tooMany(tokens)
  const isPadded = [fromNumber, toNumber].some((end) => end !== undefined && /^-?0\d/.test(end))
  const width = isPadded ? Math.max(fromNumber?.length ?? 0, toNumber?.length ?? 0) : 0
  const count = Math.floor(Math.abs(to - from) / step)
  return Array.from({ length: count + 1 }, (_, i) => {
    const value = from + Math.sign(to - from) * step * i
    const shown = fromNumber === undefined ? String.fromCharCode(value) : padded(value, width)
    return Array.from(shown, (char) => ({ char, literal: true }))
  })
}

function padded(value: number, width: number): string {
  const digits = String(Math.abs(value))
  return value < 0 ? `-${digits.padStart(width - 1, '0')}` : digits.padStart(width, '0')
}

export function tooMany(tokens: readonly Token[]): HeimdallError {
  return new HeimdallError(
    'SCOPE_INVALID',
    `scope ${printable(plainText(tokens))} expands to more than ${SCOPE_ALTERNATIVES_MAX} patterns or ${SCOPE_EXPANDED_CHARS_MAX} characters`,
    { hint: 'claim the folder, or write fewer alternatives' },
  )
}
