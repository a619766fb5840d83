// An event as a line of `protocol.log`, the trail that people read (seed 000: every action is in it).
import type { LogActor } from '../../storage/protocol-log.ts'
import type { StoredEvent } from '../store.ts'

export interface ProtocolLine {
  readonly actor: LogActor
  readonly action: string
  readonly detail: string
}

const ACTORS: Readonly<Record<string, ProtocolLine['actor']>> = {
  CLAIM: 'claim',
  RENEW: 'claim',
  RELEASE: 'claim',
  TAKEOVER: 'claim',
  EXPIRE: 'claim',
  INCURSION: 'claim',
  REFUSED: 'claim',
  REGISTER: 'haid',
  UPDATE: 'haid',
  SESSION: 'haid',
  SESSION_END: 'haid',
  HEARTBEAT: 'haid',
  RESUME: 'haid',
  REVOKE: 'haid',
  REINSTATE: 'haid',
  DECISION_RECORDED: 'decision',
  CONFLICT_RAISED: 'conflict',
  HANDOFF: 'note',
  BLOCKED: 'note',
  DECISION: 'note',
  INFO: 'note',
  READ: 'note',
  ACK: 'note',
}

/** What a line shows of the payload. */
const PAYLOAD_SHOWN = ['code', 'title', 'page', 'message_id', 'subject'] as const

/** Nothing for tasks, which are not seed 000's, and for what other machines report. */
export function logLineOf(event: StoredEvent): ProtocolLine | undefined {
  const actor = ACTORS[event.type]
  if (actor === undefined) return undefined
  // A refused attempt that nobody can be proved to have made must not look like that of its target.
  const who = event.actor ?? (event.type === 'REFUSED' ? null : event.to) ?? event.actorKind
  const said = PAYLOAD_SHOWN.map((name) => event.payload[name]).filter((value) => typeof value === 'string')
  const parts = [who, event.scope, event.claimId, event.task, ...said]
  return {
    actor,
    action: event.type.toLowerCase().replaceAll('_', '-'),
    detail: parts.filter((part) => part !== null).join(' '),
  }
}
