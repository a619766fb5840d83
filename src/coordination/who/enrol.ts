// The runtime that speaks for an agent: made with a secret that is seen once, fenced by its epoch, ended on record.
import { endClaim } from '../claims/held.ts'
import type { Coordination } from '../coordination.ts'
import { type AgentActor, type Change, changeAs, hashSecret } from '../change.ts'
import type { SecretKeeper } from './key-files.ts'
import type { ProcessRef } from './process-ref.ts'
import type { Agent, Reader, Runtime } from '../store.ts'

/** An agent and the secret of its new session: the only time that the secret is seen outside the holder. */
export interface Enrolled {
  readonly agent: Agent
  readonly secret: string
}

/** Makes the secret of a new session outside of the change that needs it, which may run more than once; `keys` has it on disk by then. */
export async function withSecret<T extends Enrolled | undefined>(
  room: Coordination,
  keys: SecretKeeper | undefined,
  change: (secret: string) => Promise<T>,
): Promise<T> {
  const secret = newSecret(room)
  keys?.offer(secret)
  let made: T
  try {
    made = await change(secret)
  } catch (error) {
    keys?.withdraw(secret)
    throw error
  }
  if (made === undefined) keys?.withdraw(secret)
  else keys?.keep(made.agent.haid, secret)
  return made
}

/** For sessions that are proved by their processes alone, and whose secret nobody ever sees. */
export const newSecret = (room: Coordination): string => room.randomBytes(24).toString('hex')

/** Where a session comes from; nothing for one that a command makes outside of any. */
export interface Origin {
  /** Name of the MCP client that it is. */
  readonly client?: string | undefined
  /** The process it is made for, and ends with. */
  readonly process?: ProcessRef | undefined
  /** The process whose descendants may speak for it. */
  readonly tree?: ProcessRef | undefined
  /** The agent that has started it; nothing where a person or a script has. */
  readonly startedBy?: string | undefined
}

export interface Enrolment extends Origin {
  readonly secret: string
  readonly haid: string
  readonly agentId: string
  readonly role: string
  readonly displayName: string
}

export function enrol(room: Coordination, { rows, now, record }: Change, enrolment: Enrolment): Enrolled {
  const { haid, agentId, role, displayName, client, secret } = enrolment
  const runtime = makeRuntime(room, 1, enrolment)
  const agent: Agent = {
    haid,
    agentId,
    role,
    displayName,
    tool: client ?? 'unknown',
    toolVersion: 'unknown',
    origin: 'local',
    version: 1,
    createdMs: now.wallMs,
    revokedMs: null,
    beat: { count: 1, at: now },
    seen: null,
    runtime,
  }
  rows.putAgent(agent)
  rows.putBeat(haid, agent.beat)
  const payload = { haid, role, epoch: runtime.epoch, ...starterIn(enrolment) }
  record({ type: 'REGISTER', actor: agentId, actorKind: 'agent', payload })
  return { agent, secret }
}

/** The next session of a known agent: from here on the secret before it is worth nothing. */
export function newSession(
  room: Coordination,
  { rows, now, record }: Change,
  agent: Agent,
  origin: Origin & { readonly secret: string },
  more: Readonly<Record<string, unknown>> = {},
): Enrolled {
  const runtime = makeRuntime(room, agent.runtime.epoch + 1, origin)
  rows.putAgent({ ...agent, runtime, version: agent.version + 1 })
  rows.beat(agent.haid, now)
  record({
    type: 'SESSION',
    actor: agent.agentId,
    actorKind: 'agent',
    payload: { haid: agent.haid, epoch: runtime.epoch, ...starterIn(origin), ...more },
  })
  return { agent: rows.agent(agent.haid) ?? agent, secret: origin.secret }
}

const starterIn = ({ startedBy }: Origin): Readonly<Record<string, string>> =>
  startedBy === undefined ? {} : { started_by: startedBy }

/** The agent that has started its latest session, as the record has it. */
export function startedBy(rows: Reader, { agentId }: Agent): unknown {
  return rows.events({ types: ['REGISTER', 'SESSION'], agent: agentId, last: 1 })[0]?.payload['started_by']
}

function makeRuntime(room: Coordination, epoch: number, origin: Origin & { readonly secret: string }): Runtime {
  return {
    epoch,
    secretHash: hashSecret(origin.secret),
    client: origin.client ?? null,
    process: origin.process ?? null,
    tree: origin.tree ?? null,
    startedMs: room.clock.wallMs(),
    endedMs: null,
  }
}

/** The end of a session: its claims are released, and its secret opens nothing any more. */
export async function endSession(room: Coordination, actor: AgentActor): Promise<{ released: string[] }> {
  return changeAs(room, actor, (change, agent) => ({ released: endReleased(change, agent, 'session ended') }))
}

/** What it held is released, and it is over. Returns the claims. */
export function endReleased(
  change: Change,
  agent: Agent,
  reason: string,
  more: Readonly<Record<string, unknown>> = {},
): string[] {
  const held = change.rows.claims({ holder: agent.haid, state: 'active' })
  for (const claim of held) {
    change.rows.putClaim({ ...claim, state: 'released', endedMs: change.now.wallMs, endedReason: reason })
    change.record({
      type: 'RELEASE',
      claimId: claim.claimId,
      task: claim.task,
      payload: { epoch: claim.epoch, reason },
    })
  }
  end(change, agent, more)
  return held.map((claim) => claim.claimId)
}

/** By somebody else's word: what it held is archived as expired, and it is over. Returns the claims. */
export function endExpired(change: Change, agent: Agent, reason: string): string[] {
  const held = change.rows.claims({ holder: agent.haid, state: 'active' })
  for (const claim of held) endClaim(change, claim, 'expired', reason)
  if (agent.runtime.endedMs === null) end(change, agent, { reason })
  return held.map(({ claimId }) => claimId)
}

/**
 * The session says that it ends and leaves its claims behind: a host that restarts its servers must not drop the work
 * of its agent. Whoever proves to be the same takes them up again; others may take them with the usual flag, at once.
 */
export async function leaveSession(room: Coordination, actor: AgentActor): Promise<void> {
  await changeAs(room, actor, (change, agent) => {
    const left = change.rows.claims({ holder: agent.haid, state: 'active' }).map(({ claimId }) => claimId)
    end(change, agent, { left })
  })
}

function end(change: Change, agent: Agent, more: Readonly<Record<string, unknown>>): void {
  change.rows.putAgent({ ...agent, runtime: { ...agent.runtime, endedMs: change.now.wallMs } })
  change.record({ type: 'SESSION_END', payload: { haid: agent.haid, epoch: agent.runtime.epoch, ...more } })
}
