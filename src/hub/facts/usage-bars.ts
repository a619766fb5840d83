// What the models of a run have used, along its time: from bookings, each of which names the sum so far.
import { iso } from '../../coordination/moment.ts'
import type { ModelUsage } from '../../events/types.ts'
import { bookedUsage } from '../../runs/run-cost.ts'
import type { TimelineReply, TokensReply } from '../contract.ts'

/** As many bars as can be told apart. */
const BARS = 60

export function usageBars(runDir: string, fromMs: number, toMs: number): TimelineReply['tokens'] {
  return barsOf(bookedUsage(runDir), fromMs, toMs)
}

interface Use {
  readonly saidAt: string | null
  readonly cached: number
  readonly uncached: number
  readonly usd: number
}

/** Differences of sums, so that a correction counts once. */
function usesOf(bookings: readonly ModelUsage[]): Use[] {
  let before = { cached: 0, uncached: 0, usd: 0 }
  return bookings.map(({ said_at: saidAt, total }) => {
    const { input, cached, cache_write: written, output } = total.tokens
    const sum = { cached, uncached: input + written + output, usd: total.usd }
    const use = {
      saidAt,
      cached: sum.cached - before.cached,
      uncached: sum.uncached - before.uncached,
      usd: sum.usd - before.usd,
    }
    before = sum
    return use
  })
}

/** Pure. */
export function barsOf(bookings: readonly ModelUsage[], fromMs: number, toMs: number): TimelineReply['tokens'] {
  const widthMs = Math.max(1_000, Math.ceil((toMs - fromMs) / BARS))
  const bars = new Map<number, { cached: number; uncached: number; usd: number | null }>()
  for (const { saidAt, ...more } of usesOf(bookings)) {
    const atMs = saidAt === null ? Number.NaN : Date.parse(saidAt)
    if (!(atMs >= fromMs && atMs <= toMs)) continue
    const place = Math.floor((atMs - fromMs) / widthMs)
    const bar = bars.get(place) ?? { cached: 0, uncached: 0, usd: null }
    bars.set(place, {
      cached: Math.max(0, bar.cached + more.cached),
      uncached: Math.max(0, bar.uncached + more.uncached),
      usd: more.usd > 0 ? (bar.usd ?? 0) + more.usd : bar.usd,
    })
  }
  return [...bars]
    .toSorted(([a], [b]) => a - b)
    .map(([place, { cached, uncached, usd }]) => ({
      at: iso(fromMs + place * widthMs),
      cached,
      uncached,
      cost_usd: usd,
    }))
}

/** What runs have used, hour by hour; a record that is gone has nothing to add. */
export function usageByHour(runDirs: readonly string[]): TokensReply['by_hour'] {
  return hoursOf(runDirs.map(bookedUsage))
}

/** Pure. */
export function hoursOf(runs: readonly (readonly ModelUsage[])[]): TokensReply['by_hour'] {
  const hours = new Map<string, { cached: number; uncached: number }>()
  for (const bookings of runs)
    for (const { saidAt, cached, uncached } of usesOf(bookings)) {
      if (saidAt === null) continue
      const hour = `${saidAt.slice(0, 13)}:00:00Z`
      const sum = hours.get(hour) ?? { cached: 0, uncached: 0 }
      hours.set(hour, { cached: sum.cached + Math.max(0, cached), uncached: sum.uncached + Math.max(0, uncached) })
    }
  return [...hours].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([hour, sums]) => ({ hour, ...sums }))
}
