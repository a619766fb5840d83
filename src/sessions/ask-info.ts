// What a session says of itself, for those who go on without it when it does not answer.
import { openConnection } from '../client/connection.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import type { Info } from '../wire/payloads.ts'
import { sessionPaths } from '../wire/session-paths.ts'

/** Nothing from one that is stopped, overloaded, or ended while we looked: its files say the rest. */
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
