// Is an agent alive: from beats that were counted and observed, never from one reading of a clock (seed 002 §4).
import { LEASE_MINUTES_MAX } from '../../limits.ts'
import { type Moment, sinceMs } from '../moment.ts'

export type Liveness = 'active' | 'stale' | 'evicted'

/** The last sign of life of an agent, and how many there were. */
export interface Beat {
  readonly count: number
  readonly at: Moment
}

/**
 * What this boot of this machine has seen of a beat that was made elsewhere (another machine, or before a reboot):
 * that the count has stood at `count` since `monoMs`, and was `ageMs` old at that time.
 */
export interface Sighting {
  readonly boot: string
  readonly count: number
  readonly monoMs: number
  readonly ageMs: number
}

/** How long an agent has been silent. */
export function silenceMs(beat: Beat, seen: Sighting | null, now: Moment): number {
  if (beat.at.boot === now.boot) return sinceMs(beat.at, now)
  if (seen !== null && seen.boot === now.boot && seen.count === beat.count)
    return seen.ageMs + Math.max(0, now.monoMs - seen.monoMs)
  return firstAgeMs(beat, seen, now)
}

/** The sighting to remember when a beat from elsewhere was not seen in this form before; nothing when there is nothing new. */
export function sight(beat: Beat, seen: Sighting | null, now: Moment): Sighting | undefined {
  if (beat.at.boot === now.boot) return undefined
  if (seen !== null && seen.boot === now.boot && seen.count === beat.count) return undefined
  return { boot: now.boot, count: beat.count, monoMs: now.monoMs, ageMs: firstAgeMs(beat, seen, now) }
}

/**
 * At first sight the two walls are all there is (a reading from the future counts as now). A count that has moved
 * since the last look belongs to an agent that is beating, whatever its clock says.
 */
function firstAgeMs(beat: Beat, seen: Sighting | null, now: Moment): number {
  if (seen !== null && seen.boot === now.boot && seen.count !== beat.count) return 0
  return sinceMs(beat.at, now)
}

/** Both boundaries belong to the older side: silent for exactly the stale time is stale, for exactly twice that is evicted. */
export function livenessOf(silentMs: number, staleMs: number): Liveness {
  return silentMs < staleMs ? 'active' : silentMs < 2 * staleMs ? 'stale' : 'evicted'
}

/** Every beat of the holder renews its leases, so a lease has lapsed when the holder was silent for its length, or it outlived the cap. */
export function isLapsed(holderSilentMs: number, ttlMinutes: number, grantedAgoMs: number): boolean {
  return holderSilentMs >= ttlMinutes * 60_000 || grantedAgoMs >= LEASE_MINUTES_MAX * 60_000
}

/** When the lease ends unless the holder beats again; for display. */
export function expiresMs(lastBeatWallMs: number, ttlMinutes: number, grantedWallMs: number): number {
  const from = Math.max(lastBeatWallMs, grantedWallMs)
  return Math.min(from + ttlMinutes * 60_000, grantedWallMs + LEASE_MINUTES_MAX * 60_000)
}
