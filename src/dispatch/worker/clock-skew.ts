// A deadline is a moment of the sender's clock; here it is as far away as it was there.
import { CLOCK_SKEW_MS_MIN } from '../../limits.ts'
import type { TaskDispatch } from '../messages.ts'

/** What is within the time of a message on its way is no skew. */
export function byOwnClock(contract: TaskDispatch, nowMs: number): TaskDispatch {
  const { deadline, sent_at: sentAt } = contract
  if (deadline === null || sentAt === undefined) return contract
  const skewMs = nowMs - Date.parse(sentAt)
  if (Math.abs(skewMs) < CLOCK_SKEW_MS_MIN) return contract
  return { ...contract, deadline: new Date(Date.parse(deadline) + skewMs).toISOString() }
}
