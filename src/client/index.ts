// The client library: connect to a session, ask it, follow it, type into it, end it.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseId } from '../ids.ts'
import { sessionsDir } from '../paths.ts'
import { checkSessionDirIfThere } from '../session-folder.ts'
import { type ConnectOptions, openConnection, type SessionConnection } from './connection.ts'

export { HeimdallError } from '../errors.ts'
export type { Info, NeedsInput, Report, Size, StateEvent, SubscribeOptions, TerminalColors } from '../wire/payloads.ts'
export type { ConnectOptions, SessionConnection, SessionStatus } from './connection.ts'
export type { SessionEvent } from './events.ts'
export type { SendOptions, Sent } from './send.ts'

interface ById {
  readonly id: string
  readonly socketDir?: string
}

export type Target = { readonly socketPath: string } | ById

/** Connects to a session by the path of its socket, or by its id in the usual folder or the one that is named. */
export async function connect(target: Target, options?: ConnectOptions): Promise<SessionConnection> {
  const path = 'socketPath' in target ? target.socketPath : socketPathOf(target)
  const connection = await openConnection(path, options)
  // A session of ours is told who asks: it refuses what an agent may not do, and records the rest under its name.
  try {
    if (existsSync(path.replace(/\.sock$/, '.pid'))) await connection.callAs('the client library')
  } catch (error) {
    connection.close()
    throw error
  }
  return connection
}

/** Whoever else could write to the folder could have put a socket there that only pretends. A path that is named is the caller's word. */
function socketPathOf({ id, socketDir = sessionsDir({ HOME: homedir() }) }: ById): string {
  const path = join(socketDir, `${parseId('session', id)}.sock`)
  checkSessionDirIfThere(socketDir, process.getuid?.() ?? 0)
  return path
}
