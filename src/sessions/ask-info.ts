// Asks a session for its INFO where the caller can go on without an answer.
import { openConnection, type SessionConnection } from '../client/connection.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import type { Info } from '../wire/payloads.ts'
import { sessionPaths } from '../wire/session-paths.ts'

/** Undefined for a session that is stopped, overloaded or has just ended: its files say the rest. */
export async function askInfo(dir: string, id: string, answerMs: number): Promise<Info | undefined> {
  try {
    const connection = await openConnection(sessionPaths(dir, id).socket, { answerMs })
    try {
      return await connection.info()
    } finally {
      connection.close()
    }
  } catch (error) {
    const isGone = error instanceof HeimdallError && SILENT.includes(error.code)
    if (isGone || isErrno(error, 'EACCES')) return undefined
    throw error
  }
}

const SILENT: readonly string[] = ['SESSION_NOT_FOUND', 'SESSION_SILENT', 'SESSION_LOST']

/** Undefined from a supervisor that implements only seed 001, which does not answer INFO. */
export async function infoIfKnown(connection: SessionConnection): Promise<Info | undefined> {
  try {
    return await connection.info()
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'SESSION_SILENT') return undefined
    throw error
  }
}

/** How many viewers it has; refused by a session that does not report them, because it would ignore frames about viewers. */
export async function requireViewers(connection: SessionConnection, id: string): Promise<number> {
  const viewers = (await infoIfKnown(connection))?.viewers
  if (viewers !== undefined) return viewers
  throw new HeimdallError('SESSION_REFUSED', `session ${id} was started by a version that cannot do this`)
}
