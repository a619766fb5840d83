// Counting tokens with a real BPE tokenizer. A count that claims to be measured can only be made here.
import { createRequire } from 'node:module'
import { HeimdallError } from '../errors.ts'
import { TOKEN_RUN_CHARS_MAX } from '../limits.ts'

export const TOKENIZERS = ['o200k_base', 'cl100k_base'] as const
export type Tokenizer = (typeof TOKENIZERS)[number]

/** Vendors of other models publish no tokenizer: the count is exact for this one, and every row says which it is. */
export const DEFAULT_TOKENIZER: Tokenizer = 'o200k_base'

export interface Measured {
  readonly tokens: number
  readonly tokenizer: Tokenizer
}

// What `measure` has made. A literal `{ tokens: 3300 }` has the same type and is not in here.
const genuine = new WeakSet<Measured>()

export function measure(text: string, tokenizer: Tokenizer = DEFAULT_TOKENIZER): Measured {
  const { countTokens } = load(tokenizer)
  const tokens = pieces(text).reduce((sum, piece) => sum + countTokens(piece, PLAIN), 0)
  const measured = Object.freeze({ tokens, tokenizer })
  genuine.add(measured)
  return measured
}

/** The sum of measured counts is a measured count. */
export function sumMeasured(parts: readonly [Measured, ...Measured[]]): Measured {
  for (const part of parts) assertMeasured(part)
  const sum = Object.freeze({
    tokens: parts.reduce((total, part) => total + part.tokens, 0),
    tokenizer: parts[0].tokenizer,
  })
  genuine.add(sum)
  return sum
}

/** Refuses a count that did not come out of `measure`: a number typed in must never be recorded as measured. */
export function assertMeasured(measured: Measured): void {
  if (!genuine.has(measured))
    throw new HeimdallError('INTERNAL', `a count of ${measured.tokens} tokens claims to be measured and is not`)
}

/** Text that spells a special token is text. */
const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

// The tokenizer cuts text into words, numbers, punctuation and blanks first; only a run within one of these is quadratic.
const RUN = new RegExp(
  [String.raw`[\p{L}\p{M}]`, String.raw`[^\s\p{L}\p{N}]`, String.raw`\s`]
    .map((kind) => `${kind}{${TOKEN_RUN_CHARS_MAX}}`)
    .join('|'),
  'gu',
)

/** The text in pieces, cut only inside runs that are too long for the tokenizer; ordinary text is one piece, counted exactly. */
function pieces(text: string): string[] {
  const cuts = [...text.matchAll(RUN)].map((match) => match.index + match[0].length)
  return [...cuts, text.length].map((end, i) => text.slice(i === 0 ? 0 : cuts[i - 1], end))
}

interface Encoding {
  readonly countTokens: (text: string, options: typeof PLAIN) => number
}

const loaded = new Map<Tokenizer, Encoding>()

/** Loaded on first use: its tables take a quarter of a second, and most commands count nothing. */
function load(tokenizer: Tokenizer): Encoding {
  const known = loaded.get(tokenizer)
  if (known !== undefined) return known
  const encoding = createRequire(import.meta.url)(`gpt-tokenizer/encoding/${tokenizer}`) as Encoding
  loaded.set(tokenizer, encoding)
  return encoding
}
