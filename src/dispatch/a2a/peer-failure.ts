// Every way in which a peer fails to answer, as a reply: what counts is whether it may have begun.
import { HeimdallError } from '../../errors.ts'
import { TOO_LARGE } from './bounded-answer.ts'
import type { PeerReply } from '../peer.ts'

/** Turned away before anybody has read it. */
export class Unheard extends Error {
  readonly status: number

  constructor(name: string, status: number) {
    super(`${name} ${status === 429 ? 'has too many requests' : 'takes no message of this size'} (${status})`)
    this.status = status
  }
}

/** Errors by which a peer says that it has failed, and not that it will not. */
const FAULTS: ReadonlySet<unknown> = new Set(['INTERNAL_ERROR', 'INVALID_AGENT_RESPONSE'])

/** Which failures prove that nothing was begun. */
export function failureOf(error: Error, isConnected: boolean): PeerReply {
  const why = describe(error)
  // By its words: a client that reads the body may have wrapped the error.
  if (why.includes(TOO_LARGE)) return { kind: 'rejected', why, how: 'too_large' }
  if (error instanceof Unheard) return { kind: 'rejected', why, how: error.status === 429 ? 'busy' : 'refusal' }
  if (error instanceof HeimdallError || !isConnected || /ECONNREFUSED|ENOTFOUND|EHOSTUNREACH/.test(why))
    return { kind: 'refused', why }
  // It answered, in the protocol's words.
  if ('reason' in error) return { kind: 'rejected', why, how: FAULTS.has(error.reason) ? 'fault' : 'refusal' }
  return { kind: 'silent', why }
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : undefined
  const code = (cause as { code?: unknown } | undefined)?.code
  return [error.message, cause?.message, typeof code === 'string' ? code : undefined]
    .filter((part) => part !== undefined && part !== '')
    .join(': ')
}
