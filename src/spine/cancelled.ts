// Whether somebody has ended a session on purpose. Pure.
import type { ExitRecord } from '../sessions/keeper.ts'

/** In whose name a rule of the policy has a session ended. */
export const BY_POLICY = 'TERMINATE_RUN'

/** What policy ends has failed; what anybody else ends is what they wanted. */
export const isCancelled = ({ reason, ended_by: by }: Pick<ExitRecord, 'reason' | 'ended_by'>): boolean =>
  reason === 'kill' && by?.startsWith(`${BY_POLICY} `) !== true

/** Who it was, for people: the number of a process that is gone tells nobody anything, and the record keeps it. */
export const whoEnded = (by: string): string => by.replace(/ \(process \d+\)/, '')
