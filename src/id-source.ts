// Ids that sort by time of making. Not in ids.ts: the library loads node:crypto, which a command that makes no id need not pay for.
import { monotonicFactory } from 'ulid'
import type { Clock } from './clock.ts'

/**
 * Makes ULIDs (26 characters, time first) that strictly increase within one process even when the clock
 * stands still or steps back: the random part then counts up.
 */
export function createIdSource(clock: Pick<Clock, 'wallMs'>, random?: () => number): () => string {
  const next = monotonicFactory(random)
  return () => next(clock.wallMs())
}
