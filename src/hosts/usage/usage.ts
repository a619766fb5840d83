// What a message of a model has cost in tokens, as a host's own files tell it; one form for all hosts.
import type { TokenCounts } from '../../token-counts.ts'
import { isObject } from '../../plain-object.ts'

export type UsageHost = 'claude' | 'codex' | 'gemini'

export const COUNTS = ['input', 'cached', 'cache_write', 'cache_write_1h', 'output', 'reasoning'] as const

export const NO_TOKENS: TokenCounts = {
  input: 0,
  cached: 0,
  cache_write: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
}

export const plusTokens = (a: TokenCounts, b: TokenCounts): TokenCounts => combined(a, b, (x, y) => x + y)

export const minusTokens = (a: TokenCounts, b: TokenCounts): TokenCounts => combined(a, b, (x, y) => x - y)

const combined = (a: TokenCounts, b: TokenCounts, of: (x: number, y: number) => number): TokenCounts => ({
  input: of(a.input, b.input),
  cached: of(a.cached, b.cached),
  cache_write: of(a.cache_write, b.cache_write),
  cache_write_1h: of(a.cache_write_1h, b.cache_write_1h),
  output: of(a.output, b.output),
  reasoning: of(a.reasoning, b.reasoning),
})

export const isNothing = (tokens: TokenCounts): boolean => COUNTS.every((name) => tokens[name] === 0)

export interface MessageUsage {
  /** The same on every line that tells of this message. */
  readonly id: string
  readonly model: string | null
  /** When it was said, by the host's clock; null where the line does not say. */
  readonly atMs: number | null
  readonly tokens: TokenCounts
}

/** What a session has cost so far by the host's own count, for each model: also what no message tells, such as titles and summaries. */
export interface SessionTotal {
  readonly totals: ReadonlyMap<string, TokenCounts>
}

/** Lines of one file, in their order. A file that was written anew is read by a new one. */
export interface UsageReader {
  /** Words one of which is in every line that matters; other lines are not looked at. */
  readonly marks: readonly string[]
  /** What the line tells; a line that should tell something and does not is `strange`, with the reason. */
  read(line: string): MessageUsage | SessionTotal | 'strange' | undefined
  /** What the file says of itself, as far as it was read. */
  readonly facts: TranscriptFacts
}

export interface TranscriptFacts {
  /** Version of the host that wrote it. */
  version: string | null
  session: string | null
  cwd: string | null
  /** Its session is another's: what it says is said for that one. */
  isSubagent: boolean
  /** Messages of a model, whether or not they told what they cost. */
  messages: number
  usages: number
}

export const noFacts = (): TranscriptFacts => ({
  version: null,
  session: null,
  cwd: null,
  isSubagent: false,
  messages: 0,
  usages: 0,
})

/** The object in a line; nothing when the line is cut, or no object. */
export function lineObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(line))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  isObject(value) ? value : undefined

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export function timeOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(ms) ? null : ms
}

/** A count that may be left out; anything but a whole number from 0 up is nothing that was counted. */
export function countOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
