// Events on the wire: the stable envelope of seed 002 §6.1 and the payloads of §6.2.
import { HeimdallError } from '../errors.ts'
import type { Coordination } from './coordination.ts'
import { iso } from './moment.ts'
import type { EventQuery, StoredEvent } from './store.ts'

export interface Envelope {
  readonly id: string
  readonly version: 'v1'
  readonly event_type: string
  readonly project_root: string
  readonly bead_id: string
  readonly from_agent: string | null
  readonly to_agent: string | null
  readonly scope: string | null
  readonly created_at: string
  readonly payload: Readonly<Record<string, unknown>>
  /** Ours, additive: the only order, who acted, the claim it is about, and where it was made. */
  readonly seq: number
  readonly actor_kind: 'agent' | 'human' | 'system'
  readonly claim_id: string | null
  readonly origin: string
}

/** A task that is not known goes by this name on the wire. */
export const NO_TASK = 'none'

export function toEnvelope(event: StoredEvent, projectRoot: string, count?: number): Envelope {
  return {
    id: event.id,
    version: 'v1',
    event_type: event.type,
    project_root: projectRoot,
    bead_id: event.task ?? NO_TASK,
    from_agent: event.actor,
    to_agent: event.to,
    scope: event.scope,
    created_at: iso(event.wallMs),
    payload: count === undefined ? event.payload : { ...event.payload, count },
    seq: event.seq,
    actor_kind: event.actorKind,
    claim_id: event.claimId,
    origin: event.origin,
  }
}

/** Events in order, incursions with their present count. */
export function listEvents(room: Coordination, query: EventQuery = {}): Envelope[] {
  return room.store.read((rows) => {
    const events = rows.events(query)
    const counts = rows.incursionCounts(events.filter(({ type }) => type === 'INCURSION').map(({ id }) => id))
    return events.map((event) => toEnvelope(event, room.project.root, counts.get(event.id)))
  })
}

/** Types of events besides those of tasks, which begin with TASK_. */
export const EVENT_TYPES: readonly string[] = (
  'CLAIM RENEW RELEASE EXPIRE TAKEOVER INCURSION STRAY_WRITE CONFLICT_RAISED REFUSED HANDOFF BLOCKED DECISION INFO READ ' +
  'ACK DECISION_RECORDED REGISTER SESSION SESSION_END RESUME UPDATE HEARTBEAT REVOKE REINSTATE SETTING REMOTE_CLAIM ' +
  'REMOTE_RELEASE REPORTED WORKER SESSION_ANNOUNCE ANNOUNCE_ACK'
).split(' ')

type Check = 'text' | 'flag' | readonly string[]

const PAYLOADS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  HANDOFF: { subject: 'text', summary: 'text', next_action: 'text', requires_ack: 'flag' },
  BLOCKED: {
    subject: 'text',
    blocker: 'text',
    requested_action: 'text',
    urgency: ['low', 'medium', 'high'],
    requires_ack: 'flag',
  },
  INCURSION: {
    incursion_kind: ['exact', 'partial'],
    owner_agent: 'text',
    incoming_agent: 'text',
    owner_liveness: ['active', 'stale', 'evicted'],
    resolution_hint: 'text',
  },
  RESUME: {
    resume_reason: ['uncommitted_scope', 'in_progress_ownership'],
    prior_session_agent: 'text',
    adopted_agent: 'text',
    evidence: 'text',
  },
}

/** Refuses a payload that lacks a field of its type; further fields are welcome. */
export function checkPayload(type: string, payload: Readonly<Record<string, unknown>>): void {
  for (const [field, check] of Object.entries(PAYLOADS[type] ?? {})) {
    const value = payload[field]
    const isGood =
      check === 'text'
        ? typeof value === 'string' && value.trim() !== ''
        : check === 'flag'
          ? typeof value === 'boolean'
          : typeof value === 'string' && check.includes(value)
    if (isGood) continue
    const allowed = check === 'text' ? 'a text' : check === 'flag' ? 'true or false' : check.join(', ')
    throw new HeimdallError(
      'INVALID_MESSAGE',
      `${type} needs ${field}: ${allowed}; got ${value === undefined ? 'nothing' : JSON.stringify(value)}`,
    )
  }
}
