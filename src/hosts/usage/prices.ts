// What a million tokens costs, in US dollars, by the makers' public lists on the date below. A model that is not here is counted in tokens only, and whoever reads the sum is told so.
import type { TokenCounts } from '../../token-counts.ts'

/** When the table was made. Claude's prices are those that Claude Code 2.1.325 itself counts with, by test:hosts. */
export const PRICES_DATE = '2026-11-16'

interface Price {
  readonly input: number
  readonly cached: number
  /** Kept for five minutes, where that costs more than reading does. */
  readonly cacheWrite: number
  readonly output: number
}

const claude = (input: number, cached: number, output: number): Price => ({
  input,
  cached,
  cacheWrite: input * 1.25,
  output,
})

/** Writing to the cache costs what input costs. */
const plain = (input: number, cached: number, output: number): Price => ({ input, cached, cacheWrite: input, output })

/** Makers put dates behind these names. */
const PRICES: readonly (readonly [string, Price])[] = [
  ['claude-fable-5-2', claude(8, 0.2, 40)],
  ['claude-fable-5-1', claude(10, 0.25, 50)],
  ['claude-fable-5', claude(10, 1, 50)],
  ['claude-opus-5-5', claude(4, 0.2, 20)],
  ['claude-opus-5', claude(5, 0.5, 25)],
  ['claude-opus-4-8', claude(5, 0.5, 25)],
  ['claude-opus-4-7', claude(5, 0.5, 25)],
  ['claude-opus-4-6', claude(5, 0.5, 25)],
  ['claude-opus-4-5', claude(5, 0.5, 25)],
  ['claude-sonnet-5-5', claude(2, 0.1, 10)],
  ['claude-sonnet-5', claude(2, 0.2, 10)],
  ['claude-sonnet-4-6', claude(3, 0.3, 15)],
  ['claude-sonnet-4-5', claude(3, 0.3, 15)],
  ['claude-haiku-4-5', claude(1, 0.1, 5)],
  ['gpt-6.1-sol', plain(2, 0.1, 10)],
  ['gpt-6-sol', plain(2, 0.2, 10)],
  ['gpt-5.5', plain(5, 0.5, 30)],
  ['gpt-5.4', plain(2.5, 0.25, 15)],
  ['gpt-5.3-codex', plain(1.75, 0.175, 14)],
  ['gpt-5.2', plain(1.75, 0.175, 14)],
]

/** Kept for an hour, writing costs twice the input. */
const HOUR_FACTOR = 2

/** A dash and a digit behind the name are another version; a date is the same one. */
const isSame = (model: string, name: string): boolean =>
  model === name || (model.startsWith(name) && /^-(\d{8}|\d{4}-\d\d-\d\d|latest)$/.test(model.slice(name.length)))

/** Nothing where the model has no price here. */
export function usdOf(model: string | null, tokens: TokenCounts): number | undefined {
  if (model === null) return undefined
  const price = PRICES.find(([name]) => isSame(model, name))?.[1]
  if (price === undefined) return undefined
  const short = tokens.cache_write - tokens.cache_write_1h
  return (
    (tokens.input * price.input +
      tokens.cached * price.cached +
      short * price.cacheWrite +
      tokens.cache_write_1h * price.input * HOUR_FACTOR +
      tokens.output * price.output) /
    1e6
  )
}
