// What a session of another version answers, and what it does not know of.
import type { SessionConnection } from '../../../client/connection.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Info } from '../../../wire/payloads.ts'

/** Nothing of a supervisor that speaks only what seed 001 says: it does not answer INFO. */
export async function infoIfKnown(connection: SessionConnection): Promise<Info | undefined> {
  try {
    return await connection.info()
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'SESSION_SILENT') return undefined
    throw error
  }
}

/** How many watch it; nothing from a session that knows of no viewers, and would skip every frame that is about them. */
export async function viewersOf(connection: SessionConnection): Promise<number | undefined> {
  return (await infoIfKnown(connection))?.viewers
}

/** The same, where there is nothing to do without them. */
export async function requireViewers(connection: SessionConnection, id: string): Promise<number> {
  const viewers = await viewersOf(connection)
  if (viewers !== undefined) return viewers
  throw new HeimdallError('SESSION_REFUSED', `session ${id} was started by a version that cannot do this`)
}
