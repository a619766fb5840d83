// Asking a session to end: its whole tree, as `hm kill` does.
import { openConnection } from '../client/connection.ts'
import { HeimdallError } from '../errors.ts'
import { sendSignal } from '../signals.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { isSupervisorAlive, readHolder } from './session-files.ts'

/** Resolves when it was asked; a session that has ended has nothing to be asked. `as`: what asks, for the record. */
export async function askToEnd(dir: string, id: string, as: string): Promise<void> {
  try {
    const connection = await openConnection(sessionPaths(dir, id).socket)
    try {
      await connection.callAs(as)
      await connection.kill()
      // Frames are taken in order, so this answer says that the kill was.
      await connection.status()
      if (connection.refusal !== undefined) throw connection.refusal
    } finally {
      connection.close()
    }
  } catch (error) {
    if (!(error instanceof HeimdallError) || !UNHEARD.has(error.code)) throw error
    // Its supervisor takes SIGTERM for the same wish.
    const holder = readHolder(dir, id)
    if (holder !== undefined && isSupervisorAlive(holder)) sendSignal(holder.supervisorPid, 'SIGTERM')
  }
}

const UNHEARD: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'SESSION_LOST', 'SESSION_SILENT'])
