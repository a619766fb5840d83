// For programs that run on and only read: while one of them does, a member's copy follows its fleet.
import type { HeimdallError } from '../errors.ts'
import { type CoordinationOptions, openCoordination, openCoordinationToRead } from './coordination.ts'
import { membershipIn } from './membership.ts'

/** Until the signal; at once where there is no fleet, or no store yet. */
export async function keepLinked(
  options: CoordinationOptions,
  signal: AbortSignal,
  onFailure?: (error: HeimdallError) => void,
): Promise<void> {
  const there = openCoordinationToRead(options)
  const isMember = there !== undefined && membershipIn(there.store) !== undefined
  there?.store.close()
  if (!isMember) return
  const room = openCoordination(options)
  try {
    await room.store.link(signal, onFailure)
  } finally {
    room.store.close()
  }
}
