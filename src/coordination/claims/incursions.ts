// Collisions on record: one INCURSION for a pair of scopes and ten minutes, with a count of how often it was tried (seed 002 §6.2).
import { INCURSION_WINDOW_MS } from '../../limits.ts'
import type { Conflict, Contest } from './conflicts.ts'
import type { Change } from '../change.ts'
import { sinceMs } from '../moment.ts'
import type { Agent } from '../store.ts'

/** Whoever came in: an agent, or a person, who has no HAID and goes by name. */
export type Incoming = Pick<Agent, 'haid' | 'agentId'>

export function recordIncursion(change: Change, incoming: Incoming, conflict: Conflict): void {
  // Repeated attempts are one event as long as the owner's liveness, and so the hint, is the same.
  const pair = JSON.stringify([conflict.claimId, incoming.haid, conflict.held, conflict.wanted, conflict.liveness])
  const known = change.rows.incursion(pair)
  if (known !== undefined && sinceMs(known.since, change.now) < INCURSION_WINDOW_MS) {
    change.rows.putIncursion({ ...known, count: known.count + 1 })
    return
  }
  const eventId = change.record({
    type: 'INCURSION',
    to: conflict.agentId,
    task: conflict.task,
    scope: conflict.wanted,
    claimId: conflict.claimId,
    payload: {
      incursion_kind: conflict.kind,
      owner_agent: conflict.agentId,
      incoming_agent: incoming.agentId,
      owner_liveness: conflict.liveness,
      resolution_hint: resolutionHint(conflict),
      held_scope: conflict.held,
      witness: conflict.witness,
    },
  })
  change.rows.putIncursion({ pair, since: change.now, count: 1, eventId })
}

/** A write that one of several agents made, and not the holder: one event for a path and ten minutes, and nobody's incursion. */
export function recordStray(change: Change, conflict: Conflict, suspects: readonly string[]): void {
  const { claimId, held, wanted, agentId, task } = conflict
  const pair = JSON.stringify([claimId, '', held, wanted])
  const known = change.rows.incursion(pair)
  if (known !== undefined && sinceMs(known.since, change.now) < INCURSION_WINDOW_MS) return
  const payload = { owner_agent: agentId, held_scope: held, may_be: suspects.toSorted().join(', ') }
  const eventId = change.record({ type: 'STRAY_WRITE', to: agentId, task, scope: wanted, claimId, payload })
  change.rows.putIncursion({ pair, since: change.now, count: 1, eventId })
}

/** Two claims met on one path without either's doing: the later one came in. */
export function recordContest(change: Change, { holder, later }: Contest): void {
  recordIncursion(change, later, { ...holder, kind: 'partial', wanted: later.held, witness: later.witness })
}

/** What whoever came in can do. `takeover` is how it is asked for at this door. */
export function resolutionHint(
  conflict: Pick<Conflict, 'agentId' | 'liveness'>,
  takeover = '--takeover-stale',
): string {
  return conflict.liveness === 'active'
    ? `ask ${conflict.agentId} for a handoff, wait for it, or work elsewhere`
    : `${conflict.agentId} is ${conflict.liveness}: take over with ${takeover} after looking at what it left behind`
}
