// Refuses a command of a revoked agent before it changes anything, for commands that do not act as an agent of the ledger.
import {
  type CoordinationOptions,
  isUnwritable,
  openCoordination,
  openCoordinationToRead,
} from '../coordination/coordination.ts'
import { roomOptions } from '../coordination/room-options.ts'
import { askingHere, type Caller, caller, recordRefusal } from '../coordination/who/caller.ts'
import { HeimdallError } from '../errors.ts'
import { fleetDoor } from '../fleet/door.ts'
import { whoActs } from '../person.ts'
import type { Context } from './command.ts'

export async function refuseRevoked(context: Context): Promise<void> {
  const options = await optionsOf(context)
  const refused = options === undefined ? undefined : readable(() => refusalIn(options, context))
  if (options === undefined || refused === undefined) return
  const writable = openCoordination(options)
  try {
    await recordRefusal(writable, refused.error, refused)
  } catch (error) {
    if (!isUnwritable(error)) throw error
    context.note(`warning: this refusal is not recorded: ${error.message}`)
  } finally {
    writable.store.close()
  }
  throw refused.error
}

function refusalIn(options: CoordinationOptions, { env }: Context): Caller['refused'] {
  const db = openCoordinationToRead(options)
  if (db === undefined) return undefined
  try {
    // Processes are inspected only where an agent is revoked.
    if (db.store.read((rows) => rows.revokedAgents()).length === 0) return undefined
    const { refused } = caller(db, askingHere(env))
    // A human who uses a command is not an agent, whatever name scripts of theirs have.
    return refused?.error.code === 'AGENT_REVOKED' && !whoActs().person ? refused : undefined
  } finally {
    db.store.close()
  }
}

/** Nothing where the command is used without a folder. */
async function optionsOf(context: Context): Promise<CoordinationOptions | undefined> {
  try {
    // The getter of `cwd` throws where the folder is gone.
    const { cwd, env, clock, configFile } = context
    return await roomOptions({ cwd, env, clock, configFile, fleet: fleetDoor })
  } catch (error) {
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}

/** A store that cannot be read stops no work that does without it. */
function readable<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch (error) {
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}
