// What a command that reads a session has before it: the session itself, or what it said before it ended.
import { openConnection, type SessionConnection } from '../../../client/connection.ts'
import { HeimdallError } from '../../../errors.ts'
import type { KeptOutput } from '../../../wire/kept-output.ts'
import type { Context } from '../../command.ts'
import { ended, endpointOf, exitOf, keptOf, type Located } from './locate.ts'

type Reached =
  | { readonly connection: SessionConnection }
  | { readonly connection: undefined; readonly kept: KeptOutput; readonly located: Located }

/** Says on stderr when it is the past that answers; throws when there is neither. */
export async function reach(context: Context, located: Located): Promise<Reached> {
  const connection = located.isRunning ? await connectIfThere(located) : undefined
  if (connection !== undefined) return { connection }
  const { id } = located
  const last: Located = { ...located, isRunning: false, exit: exitOf(located) }
  const kept = keptOf(located)
  if (kept === undefined) throw ended(last)
  const what =
    last.orphans.length > 0
      ? `session ${id} has lost its supervisor: this is what it had said until then`
      : `session ${id} has ended${last.exit === undefined ? '' : ` with exit code ${last.exit.exit_code} at ${last.exit.ended_at}`}: this is what it said last`
  context.note(what)
  return { connection: undefined, kept, located: last }
}

/** Nothing for a session that stopped answering since its files were looked at. */
async function connectIfThere(located: Located): Promise<SessionConnection | undefined> {
  try {
    return await openConnection(endpointOf(located))
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND') return undefined
    throw error
  }
}
