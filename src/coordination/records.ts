// Agents, claims and notes as the two seeds write them; what we add comes after the seed's own fields.
import { isoSeconds } from '../clock.ts'
import { livenessIn } from './who/alive.ts'
import type { Conflict, Standing } from './claims/conflicts.ts'
import type { Coordination } from './coordination.ts'
import { readHaid } from './who/haid.ts'
import { resolutionHint } from './claims/incursions.ts'
import type { Liveness } from './who/liveness.ts'
import { iso, type Moment } from './moment.ts'
import { NO_TASK } from './protocol.ts'
import type { Agent, Claim, Note, Reader } from './store.ts'

/** Seed 002's agent. */
export interface AgentRecord {
  readonly agent_id: string
  readonly display_name: string
  readonly role: string
  /** `working` while it holds a claim, `revoked`, else `idle`. */
  readonly status: 'idle' | 'working' | 'revoked'
  readonly created_at: string
  readonly last_seen_at: string
  readonly version: number
  readonly current_task: string | null
  readonly haid: string
  readonly liveness: Liveness
  readonly session_epoch: number
  readonly origin: 'local' | 'remote'
  /** As its HAID names it. */
  readonly machine: string
}

export function agentRecord(room: Coordination, rows: Reader, agent: Agent, now: Moment): AgentRecord {
  const held = rows.claims({ holder: agent.haid, state: 'active' })
  const task = rows.tasks({ owner: agent.haid, state: 'in_progress' }).at(-1)?.taskId
  return {
    agent_id: agent.agentId,
    display_name: agent.displayName,
    role: agent.role,
    status: agent.revokedMs !== null ? 'revoked' : held.length > 0 ? 'working' : 'idle',
    created_at: iso(agent.createdMs),
    last_seen_at: iso(Math.min(agent.beat.at.wallMs, now.wallMs)),
    version: agent.version,
    current_task: task ?? held.at(-1)?.task ?? null,
    haid: agent.haid,
    liveness: livenessIn(room, rows, agent, now),
    session_epoch: agent.runtime.epoch,
    origin: agent.origin,
    machine: readHaid(agent.haid)?.machine ?? 'unknown',
  }
}

/** Seed 000's entry of the registry. */
export function registryRecord(room: Coordination, rows: Reader, agent: Agent, now: Moment): Record<string, unknown> {
  const liveness = livenessIn(room, rows, agent, now)
  return {
    human: readHaid(agent.haid)?.human ?? 'unknown',
    role: agent.role,
    tool: agent.tool,
    tool_version: agent.toolVersion,
    first_seen: isoSeconds(agent.createdMs),
    last_heartbeat: isoSeconds(Math.min(agent.beat.at.wallMs, now.wallMs)),
    status: agent.revokedMs !== null ? 'revoked' : liveness === 'active' ? 'active' : 'stale',
    agent_id: agent.agentId,
    liveness,
    origin: agent.origin,
  }
}

/** Seed 002's reservation. */
export function reservationRecord(
  room: Coordination,
  { claim, agentId, liveness, lease, expiresAt }: Standing,
): Record<string, unknown> {
  const absolute = (canonical: string): string =>
    /^[a-z][a-z0-9+.-]+:\/\//i.test(canonical) ? canonical : `${room.project.root}/${canonical}`
  return {
    reservation_id: claim.claimId,
    scope: claim.scopes.map(({ raw }) => raw).join(' '),
    agent_id: agentId,
    bead_id: claim.task ?? NO_TASK,
    state: claim.state,
    created_at: iso(claim.createdMs),
    expires_at: expiresAt,
    released_at: claim.endedMs === null ? null : iso(claim.endedMs),
    normalized_scope: claim.scopes.map(({ canonical }) => absolute(canonical)).join(' '),
    scopes: claim.scopes.map(({ raw }) => raw),
    epoch: claim.epoch,
    haid: claim.holder,
    ttl_minutes: claim.ttlMinutes,
    liveness,
    lease,
    origin: claim.origin,
  }
}

/** Seed 000 T-4: the HAID of a client that claims over MCP is woven into the reference, so that older readers see it too. */
export function taskRef(task: string | null, via: string | null): string {
  return via === null ? (task ?? NO_TASK) : `${task ?? NO_TASK} (via heimdall-ledger-mcp:${via})`
}

/** Seed 000's claim. */
export function claimRecord({
  claim,
  agentId,
  liveness,
  lease,
  expiresAt,
  lastSeenAt,
  via,
}: Standing): Record<string, unknown> {
  return {
    haid: claim.holder,
    human: readHaid(claim.holder)?.human ?? 'unknown',
    claimed_surfaces: claim.scopes.map(({ raw }) => raw),
    task_ref: taskRef(claim.task, via),
    claimed_at: isoSeconds(claim.createdMs),
    ttl_minutes: claim.ttlMinutes,
    heartbeat: isoSeconds(Date.parse(lastSeenAt)),
    claim_id: claim.claimId,
    epoch: claim.epoch,
    agent_id: agentId,
    liveness,
    lease,
    expires_at: expiresAt,
    origin: claim.origin,
    ...(claim.intent === null ? {} : { intent: claim.intent }),
  }
}

export function conflictRecord(conflict: Conflict): Record<string, unknown> {
  return {
    claim_id: conflict.claimId,
    epoch: conflict.epoch,
    haid: conflict.haid,
    human: readHaid(conflict.haid)?.human ?? 'unknown',
    agent_id: conflict.agentId,
    liveness: conflict.liveness,
    lease: conflict.lease,
    kind: conflict.kind,
    held: conflict.held,
    wanted: conflict.wanted,
    witness: conflict.witness,
    pairs: conflict.pairs,
    since: conflict.since,
    expires_at: conflict.expiresAt,
    task: conflict.task,
    intent: conflict.intent,
    origin: conflict.origin,
    hint: conflictHint(conflict),
  }
}

export function conflictHint(conflict: Conflict): string {
  return resolutionHint(conflict, 'heimdall claim takeover')
}

/** What a note asks of its recipient (seed 002 §6.2): only the fields that its category has. */
export const actionsOf = ({ nextAction, requestedAction, urgency }: Note) => ({
  ...(nextAction === null ? {} : { next_action: nextAction }),
  ...(requestedAction === null ? {} : { requested_action: requestedAction }),
  ...(urgency === null ? {} : { urgency }),
})

/** Seed 002's message. */
export function noteRecord(note: Note): Record<string, unknown> {
  return {
    message_id: note.messageId,
    thread_id: note.threadId,
    bead_id: note.task,
    from_agent: note.from,
    to_agent: note.to,
    category: note.category,
    subject: note.subject,
    body: note.body,
    state: note.state,
    requires_ack: note.requiresAck,
    created_at: iso(note.createdMs),
    read_at: note.readMs === null ? null : iso(note.readMs),
    acked_at: note.ackedMs === null ? null : iso(note.ackedMs),
    acked_by: note.ackedBy,
    ...actionsOf(note),
  }
}

/** A claim as a standing that no longer changes: for what has just ended. */
export function endedStanding(claim: Claim, agentId: string): Standing {
  const at = iso(claim.endedMs ?? claim.createdMs)
  return { claim, agentId, liveness: 'active', lease: 'live', expiresAt: at, lastSeenAt: at, via: null }
}
