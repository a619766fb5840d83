// Typing a line into a session from a process of one's own.
import { openConnection } from '../client/connection.ts'
import { sendText } from '../client/send.ts'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { sessionPaths } from '../wire/session-paths.ts'

/** False where the session is over. `as`: what types, for the session's records. */
export async function typeInto(
  { dir, id }: { readonly dir: string; readonly id: string },
  text: string,
  clock: Clock,
  as: string,
): Promise<boolean> {
  try {
    const connection = await openConnection(sessionPaths(dir, id).socket, { clock })
    await sendText(connection, text, { keys: ['enter'], clock, as })
    return true
  } catch (error) {
    if (error instanceof HeimdallError && GONE.has(error.code)) return false
    throw error
  }
}

const GONE: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'SESSION_LOST', 'SESSION_SILENT'])
