// Rows of the tables as values of the store's types, and back: the shared row, and beside it what this machine alone knows.
import type { Scope } from '../../scopes/scope.ts'
import type { Row } from '../log-entry.ts'
import { ELSEWHERE, number, numberOrNull, text, textOrNull } from './row-values.ts'
import { dispatchColumns, dispatchFrom } from './dispatch-rows.ts'
import type { Moment } from '../moment.ts'
import type {
  ActorKind,
  Agent,
  Claim,
  ClaimState,
  Incursion,
  NewEvent,
  Note,
  NoteState,
  StoredEvent,
  Task,
  TaskState,
  Ticket,
} from '../store.ts'

/** The local reading belongs to one wall time; where the shared row has another by now, it was made elsewhere. */
function momentFrom(row: Row, name: 'granted' | 'since'): Moment {
  const wallMs = number(row, `${name}_wall_ms`)
  return row['read_wall_ms'] === wallMs
    ? { boot: text(row, `${name}_boot`), monoMs: number(row, `${name}_mono_ms`), wallMs }
    : { ...ELSEWHERE, wallMs }
}

export function agentRow(agent: Omit<Agent, 'beat' | 'seen'>): Row {
  const { runtime } = agent
  return {
    haid: agent.haid,
    agent_id: agent.agentId,
    display_name: agent.displayName,
    role: agent.role,
    tool: agent.tool,
    tool_version: agent.toolVersion,
    origin: agent.origin,
    version: agent.version,
    created_ms: agent.createdMs,
    revoked_ms: agent.revokedMs,
    session_epoch: runtime.epoch,
    session_secret_hash: runtime.secretHash,
    session_client: runtime.client,
    session_started_ms: runtime.startedMs,
    session_ended_ms: runtime.endedMs,
  }
}

export function localAgentRow({ haid, runtime }: Pick<Agent, 'haid' | 'runtime'>): Row {
  return { haid, process_epoch: runtime.epoch, session_process: runtime.process, session_tree: runtime.tree }
}

export function agentFrom(row: Row): Agent {
  const startedMs = number(row, 'session_started_ms')
  const isOfSession = row['process_epoch'] === row['session_epoch']
  return {
    haid: text(row, 'haid'),
    agentId: text(row, 'agent_id'),
    displayName: text(row, 'display_name'),
    role: text(row, 'role'),
    tool: text(row, 'tool'),
    toolVersion: text(row, 'tool_version'),
    origin: text(row, 'origin') as Agent['origin'],
    version: number(row, 'version'),
    createdMs: number(row, 'created_ms'),
    revokedMs: numberOrNull(row, 'revoked_ms'),
    beat:
      row['beat_count'] === null
        ? { count: 0, at: { ...ELSEWHERE, wallMs: startedMs } }
        : {
            count: number(row, 'beat_count'),
            at: {
              boot: text(row, 'beat_boot'),
              monoMs: number(row, 'beat_mono_ms'),
              wallMs: number(row, 'beat_wall_ms'),
            },
          },
    seen:
      row['seen_boot'] === null
        ? null
        : {
            boot: text(row, 'seen_boot'),
            count: number(row, 'seen_count'),
            monoMs: number(row, 'seen_mono_ms'),
            ageMs: number(row, 'seen_age_ms'),
          },
    runtime: {
      epoch: number(row, 'session_epoch'),
      secretHash: textOrNull(row, 'session_secret_hash'),
      client: textOrNull(row, 'session_client'),
      process: isOfSession ? textOrNull(row, 'session_process') : null,
      tree: isOfSession ? textOrNull(row, 'session_tree') : null,
      startedMs,
      endedMs: numberOrNull(row, 'session_ended_ms'),
    },
  }
}

/** What a claim is known by, and its scopes, never change. */
export function claimRow(claim: Omit<Claim, 'epoch'>): Row {
  return {
    claim_id: claim.claimId,
    ...claimChanges(claim),
    created_ms: claim.createdMs,
    origin: claim.origin,
    scopes: JSON.stringify(claim.scopes),
  }
}

export function claimChanges(claim: Omit<Claim, 'epoch'>): Row {
  return {
    holder: claim.holder,
    task: claim.task,
    intent: claim.intent,
    ttl_minutes: claim.ttlMinutes,
    state: claim.state,
    granted_wall_ms: claim.granted.wallMs,
    ended_ms: claim.endedMs,
    ended_reason: claim.endedReason,
    displaced_by: claim.displacedBy,
    told_ms: claim.toldMs,
  }
}

export function localClaimRow({ epoch, worktree, tree, granted }: Claim): Row {
  return {
    epoch,
    worktree,
    tree,
    read_wall_ms: granted.wallMs,
    granted_boot: granted.boot,
    granted_mono_ms: granted.monoMs,
  }
}

export function claimFrom(row: Row, scopes: readonly Scope[]): Claim {
  return {
    claimId: text(row, 'claim_id'),
    epoch: number(row, 'epoch'),
    holder: text(row, 'holder'),
    task: textOrNull(row, 'task'),
    intent: textOrNull(row, 'intent'),
    worktree: row['worktree'] === null ? '' : text(row, 'worktree'),
    ttlMinutes: number(row, 'ttl_minutes'),
    state: text(row, 'state') as ClaimState,
    createdMs: number(row, 'created_ms'),
    granted: momentFrom(row, 'granted'),
    endedMs: numberOrNull(row, 'ended_ms'),
    endedReason: textOrNull(row, 'ended_reason'),
    displacedBy: textOrNull(row, 'displaced_by'),
    tree: textOrNull(row, 'tree'),
    toldMs: numberOrNull(row, 'told_ms'),
    origin: text(row, 'origin') as Claim['origin'],
    scopes,
  }
}

export function incursionFrom(row: Row): Incursion {
  return {
    pair: text(row, 'pair'),
    since: momentFrom(row, 'since'),
    count: number(row, 'count'),
    eventId: text(row, 'event_id'),
  }
}

/** Of one who waits elsewhere nothing is known here; a fleet tells of its signs. */
export function ticketFrom(row: Row): Ticket {
  return {
    ticket: number(row, 'ticket'),
    holder: text(row, 'holder'),
    scopes: JSON.parse(text(row, 'scopes')) as Scope[],
    process: textOrNull(row, 'process'),
    refreshed:
      row['refreshed_boot'] === null
        ? { ...ELSEWHERE, wallMs: 0 }
        : {
            boot: text(row, 'refreshed_boot'),
            monoMs: number(row, 'refreshed_mono_ms'),
            wallMs: number(row, 'refreshed_wall_ms'),
          },
  }
}

export function eventRow(event: NewEvent): Row {
  return {
    id: event.id,
    type: event.type,
    actor: event.actor,
    actor_kind: event.actorKind,
    to_agent: event.to,
    task: event.task,
    scope: event.scope,
    claim_id: event.claimId,
    wall_ms: event.wallMs,
    payload: JSON.stringify(event.payload),
    origin: event.origin,
  }
}

export function eventFrom(row: Row): StoredEvent {
  return {
    seq: number(row, 'seq'),
    id: text(row, 'id'),
    type: text(row, 'type'),
    actor: textOrNull(row, 'actor'),
    actorKind: text(row, 'actor_kind') as ActorKind,
    to: textOrNull(row, 'to_agent'),
    task: textOrNull(row, 'task'),
    scope: textOrNull(row, 'scope'),
    claimId: textOrNull(row, 'claim_id'),
    wallMs: number(row, 'wall_ms'),
    payload: JSON.parse(text(row, 'payload')) as Record<string, unknown>,
    origin: text(row, 'origin'),
  }
}

export function noteRow(note: Note): Row {
  return {
    message_id: note.messageId,
    thread_id: note.threadId,
    task: note.task,
    from_agent: note.from,
    to_agent: note.to,
    category: note.category,
    subject: note.subject,
    body: note.body,
    state: note.state,
    requires_ack: note.requiresAck ? 1 : 0,
    created_ms: note.createdMs,
    read_ms: note.readMs,
    acked_ms: note.ackedMs,
    acked_by: note.ackedBy,
    next_action: note.nextAction,
    requested_action: note.requestedAction,
    urgency: note.urgency,
  }
}

export function noteFrom(row: Row): Note {
  return {
    messageId: text(row, 'message_id'),
    threadId: text(row, 'thread_id'),
    task: text(row, 'task'),
    from: text(row, 'from_agent'),
    to: text(row, 'to_agent'),
    category: text(row, 'category'),
    subject: text(row, 'subject'),
    body: text(row, 'body'),
    state: text(row, 'state') as NoteState,
    requiresAck: number(row, 'requires_ack') === 1,
    createdMs: number(row, 'created_ms'),
    readMs: numberOrNull(row, 'read_ms'),
    ackedMs: numberOrNull(row, 'acked_ms'),
    ackedBy: textOrNull(row, 'acked_by') as ActorKind | null,
    nextAction: textOrNull(row, 'next_action'),
    requestedAction: textOrNull(row, 'requested_action'),
    urgency: textOrNull(row, 'urgency'),
  }
}

export function taskFrom(row: Row): Task {
  return {
    taskId: text(row, 'task_id'),
    owner: textOrNull(row, 'owner'),
    state: text(row, 'state') as TaskState,
    title: text(row, 'title'),
    startedMs: number(row, 'started_ms'),
    endedMs: numberOrNull(row, 'ended_ms'),
    summary: textOrNull(row, 'summary'),
    dispatch: dispatchFrom(row),
  }
}

export function taskRow({ taskId, owner, state, title, startedMs, endedMs, summary, dispatch }: Task): Row {
  return {
    task_id: taskId,
    owner,
    state,
    title,
    started_ms: startedMs,
    ended_ms: endedMs,
    summary,
    ...dispatchColumns(dispatch),
  }
}
