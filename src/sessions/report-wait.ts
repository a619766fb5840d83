// Telling the session that a program runs in whether a person is waited for.
import { openConnection } from '../client/connection.ts'
import { HeimdallError } from '../errors.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { listSessions } from './session-files.ts'

export type WaitReport = { readonly needs_input: true; readonly evidence: string } | { readonly needs_input: false }

/** `key` is that of the session, which everybody in it has. False where no such session answers. */
export async function reportWait(dir: string, key: string, report: WaitReport): Promise<boolean> {
  const session = listSessions(dir).find(({ holder }) => holder?.key === key)
  if (session === undefined) return false
  try {
    const connection = await openConnection(sessionPaths(dir, session.id).socket)
    try {
      await connection.report({ source: 'hook', ...report })
      // Frames are taken in order, so this answer says that the report was.
      await connection.status()
    } finally {
      connection.close()
    }
    return true
  } catch (error) {
    if (error instanceof HeimdallError) return false
    throw error
  }
}
