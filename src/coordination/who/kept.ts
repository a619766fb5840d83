// Acts for the agent of a run by whoever keeps the run. Its secret is in the environment of the agent and nowhere else, so the epoch is the fence: of a session that another has replaced, nothing is changed.
import type { Coordination } from '../coordination.ts'
import { type Change, changeAsOther } from '../change.ts'
import { isOver } from './alive.ts'
import { endReleased } from './enrol.ts'
import type { SessionOutcome } from './outcome.ts'
import type { ProcessRef } from './process-ref.ts'
import type { Agent } from '../store.ts'
import type { Conflict } from '../claims/conflicts.ts'
import { recordIncursion, recordStray } from '../claims/incursions.ts'

/** One session of an agent, and no other. */
export interface KeptIdentity {
  readonly haid: string
  readonly epoch: number
}

/** The session of the agent is this process and what it has started: with it, the agent is over. */
export function bindTo(room: Coordination, kept: KeptIdentity, process: ProcessRef): Promise<boolean> {
  return asKept(room, kept, ({ rows }, agent) => {
    rows.putAgent({ ...agent, runtime: { ...agent.runtime, process, tree: process } })
  })
}

/** Until it is bound to what it runs, the agent lives with this process. */
export function heldBy(room: Coordination, kept: KeptIdentity, process: ProcessRef): Promise<boolean> {
  return asKept(room, kept, ({ rows }, agent) => {
    rows.putAgent({ ...agent, runtime: { ...agent.runtime, process } })
  })
}

/** Renews the leases of a running agent; not those of a revoked one, whose claims must lapse. */
export function beatFor(room: Coordination, kept: KeptIdentity): Promise<boolean> {
  return asKept(room, kept, ({ rows, now }, agent) => {
    if (agent.revokedMs === null && !isOver(room, agent)) rows.beat(agent.haid, now)
  })
}

/** What the agent held is released, and its session is over. */
export function endFor(
  room: Coordination,
  kept: KeptIdentity,
  reason: string,
  outcome: SessionOutcome | undefined,
): Promise<boolean> {
  return asKept(room, kept, (change, agent) => void endReleased(change, agent, reason, { ...outcome }))
}

/** The agent has written into what others hold. */
export function incursionFor(room: Coordination, kept: KeptIdentity, held: readonly Conflict[]): Promise<boolean> {
  return asKept(room, kept, (change, agent) => {
    for (const conflict of held) recordIncursion(change, agent, conflict)
  })
}

/** Somebody has, and nobody can tell which of several: it is told, and held against nobody. */
export function strayFor(room: Coordination, conflict: Conflict, suspects: readonly string[]): Promise<void> {
  return changeAsOther(room, { kind: 'system' }, (change) => recordStray(change, conflict, suspects))
}

/** False, and nothing changed, where the session has ended or another took its place. */
function asKept(
  room: Coordination,
  { haid, epoch }: KeptIdentity,
  act: (change: Change, agent: Agent) => void,
): Promise<boolean> {
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const agent = change.rows.agent(haid)
    if (agent === undefined || agent.runtime.epoch !== epoch || agent.runtime.endedMs !== null) return false
    const own: Change = {
      ...change,
      record: (event) => change.record({ actor: agent.agentId, actorKind: 'agent', ...event }),
    }
    act(own, agent)
    return true
  })
}
