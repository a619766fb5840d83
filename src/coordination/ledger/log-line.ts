// An event as a line of `protocol.log`, the trail that people read (seed 000: every action is in it).
import type { StoredEvent } from '../store.ts'

export interface ProtocolLine {
  readonly actor: 'claim' | 'haid'
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
  REGISTER: 'haid',
  UPDATE: 'haid',
  SESSION: 'haid',
  SESSION_END: 'haid',
  HEARTBEAT: 'haid',
  RESUME: 'haid',
  REVOKE: 'haid',
  REINSTATE: 'haid',
}

/** Nothing for events that have a page of their own, such as decisions, and for what others report. */
export function logLineOf(event: StoredEvent): ProtocolLine | undefined {
  const actor = ACTORS[event.type]
  if (actor === undefined) return undefined
  const parts = [event.actor ?? event.to ?? event.actorKind, event.scope, event.claimId, event.task]
  return {
    actor,
    action: event.type.toLowerCase().replaceAll('_', '-'),
    detail: parts.filter((part) => part !== null).join(' '),
  }
}
