// What N spawns cost when a provider's prompt cache is priced in: a prefix is written once and read by the others.
import { CACHED_PREFIX_TOKENS_MIN } from '../../limits.ts'

/** Price of a cached token as a share of an uncached input token. */
export const CACHE_WRITE = 1.25
export const CACHE_READ = 0.1

/** One arm, per spawn and once, in measured tokens. */
export interface Spend {
  /** At the start of every spawn's text, the same for all. */
  readonly shared: number
  /** What differs from spawn to spawn, on average, answers included. */
  readonly own: number
  /** Paid once, whatever the number of spawns. */
  readonly once: number
}

export function rawCost({ shared, own, once }: Spend, spawns: number): number {
  return once + spawns * (shared + own)
}

/** In equivalents of uncached input tokens. A prefix too short for a cache is paid in full each time. */
export function cachedCost(spend: Spend, spawns: number): number {
  const { shared, own, once } = spend
  if (shared < CACHED_PREFIX_TOKENS_MIN) return rawCost(spend, spawns)
  return once + spawns * own + shared * (CACHE_WRITE + CACHE_READ * (spawns - 1))
}

export interface BreakEven {
  /** The smallest number of spawns at which ours costs less; nothing when it never does. */
  readonly from: number | undefined
  /** The last number of spawns at which it still does; infinite when nothing ends it. */
  readonly upTo: number
}

/** Costs are straight lines in the number of spawns, so two of them cross at most once. */
export function breakEven(ours: Spend, theirs: Spend): BreakEven {
  const ahead = (spawns: number): boolean => cachedCost(ours, spawns) < cachedCost(theirs, spawns)
  const slope = (spend: Spend): number => cachedCost(spend, 2) - cachedCost(spend, 1)
  const gap = cachedCost(theirs, 1) - cachedCost(ours, 1)
  const gain = slope(theirs) - slope(ours)
  if (ahead(1)) return { from: 1, upTo: gain >= 0 ? Number.POSITIVE_INFINITY : lastBefore(gap / -gain + 1) }
  return gain > 0
    ? { from: Math.floor(-gap / gain + 1) + 1, upTo: Number.POSITIVE_INFINITY }
    : { from: undefined, upTo: 0 }
}

/** The largest whole number strictly below where the lines cross. */
const lastBefore = (crossing: number): number => Math.ceil(crossing) - 1
