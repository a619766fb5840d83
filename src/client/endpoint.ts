// Where a session is spoken to: the path of its socket on this machine, or a way to it that somebody else makes.
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

/** A way to a session that is no socket of this machine. What it gives speaks the session's protocol from the mode byte on. */
export interface Way {
  /** For messages: `api on box`. */
  readonly name: string
  open(): Promise<Duplex>
}

export type Endpoint = string | Way

export const nameOf = (endpoint: Endpoint): string => (typeof endpoint === 'string' ? endpoint : endpoint.name)

/** A socket is there at once and says later whether anybody listens. */
export function openLine(endpoint: Endpoint): Duplex | Promise<Duplex> {
  return typeof endpoint === 'string' ? connect(endpoint) : endpoint.open()
}
