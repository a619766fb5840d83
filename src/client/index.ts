// The client library: connect to a session, ask it, follow it, type into it, end it.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseId } from '../ids.ts'
import { sessionsDir } from '../paths.ts'
import { type ConnectOptions, openConnection, type SessionConnection } from './connection.ts'

export { HeimdallError } from '../errors.ts'
export type { Info, NeedsInput, Size, StateEvent, SubscribeOptions } from '../wire/messages.ts'
export type { ConnectOptions, SessionConnection, SessionStatus } from './connection.ts'
export type { SessionEvent } from './events.ts'
export type { SendOptions, Sent } from './send.ts'

export type Target = { readonly socketPath: string } | { readonly id: string; readonly socketDir?: string }

/** Connects to a session by the path of its socket, or by its id in the usual folder or the one that is named. */
export async function connect(target: Target, options?: ConnectOptions): Promise<SessionConnection> {
  return await openConnection('socketPath' in target ? target.socketPath : socketPathOf(target), options)
}

function socketPathOf({ id, socketDir }: { readonly id: string; readonly socketDir?: string }): string {
  return join(socketDir ?? sessionsDir({ HOME: homedir() }), `${parseId('session', id)}.sock`)
}
