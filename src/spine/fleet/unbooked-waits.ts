// Waits for a person that the watcher does not record, since they stand in the store: a note that says its sender is blocked, and a collision. Also those that are over.
import type { Coordination } from '../../coordination/coordination.ts'
import type { Reader, StoredEvent } from '../../coordination/store.ts'
import { INCURSION_WINDOW_MS, STATUS_EVENTS_MAX } from '../../limits.ts'
import type { Collision } from './fleet.ts'

export interface UnbookedWait {
  readonly agent: string
  readonly id: string
  readonly fromMs: number
  /** Infinity while it is open. */
  readonly toMs: number
  readonly text: string
}

/** `open` as a look at the fleet has them: whether one still stands is told there, and nowhere else. */
export function unbookedWaits(room: Coordination, open: readonly Collision[]): UnbookedWait[] {
  return room.store.read((rows) => [...blockedWaits(rows), ...collisionWaits(rows, open)])
}

function blockedWaits(rows: Reader): UnbookedWait[] {
  return rows
    .notes({ limit: STATUS_EVENTS_MAX })
    .filter(({ category, requiresAck }) => category === 'BLOCKED' && requiresAck)
    .map(({ messageId, from, subject, createdMs, ackedMs }) => ({
      agent: from,
      id: messageId,
      fromMs: createdMs,
      toMs: ackedMs ?? Infinity,
      text: subject,
    }))
}

/** From the first attempt until the claim is given up; or until it was not tried again for the window of an INCURSION. */
function collisionWaits(rows: Reader, open: readonly Collision[]): UnbookedWait[] {
  const events = rows.events({ types: ['INCURSION'], last: STATUS_EVENTS_MAX })
  const counts = rows.incursionCounts(events.map(({ id }) => id))
  const waits = new Map<string, UnbookedWait>()
  for (const event of events) {
    const agent = event.payload['incoming_agent']
    if (typeof agent !== 'string' || event.claimId === null) continue
    const id = `${event.claimId}.${agent}`
    const isOpen = open.some((collision) => collision.id === id)
    waits.set(id, {
      agent,
      id: `collision.${id}`,
      fromMs: waits.get(id)?.fromMs ?? event.wallMs,
      toMs: isOpen ? Infinity : endOf(rows, event, counts.get(event.id) ?? 1),
      text: `wants ${event.scope ?? ''}`,
    })
  }
  return [...waits.values()]
}

/** Attempts after the first are only counted, up to the end of the window. */
function endOf(rows: Reader, { claimId, wallMs }: StoredEvent, attempts: number): number {
  const fadedMs = wallMs + INCURSION_WINDOW_MS * (attempts > 1 ? 2 : 1)
  return Math.min(fadedMs, (claimId === null ? null : rows.claim(claimId)?.endedMs) ?? fadedMs)
}
