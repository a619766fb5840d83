// Refuses a command of a revoked agent before it changes anything, for commands that do not act as an agent of the ledger.
import { openCoordination, openCoordinationToRead, isUnwritable } from '../coordination/coordination.ts'
import { roomOptions } from '../coordination/room-options.ts'
import { askingHere, caller, recordRefusal } from '../coordination/who/caller.ts'
import { HeimdallError } from '../errors.ts'
import { fleetDoor } from '../fleet/door.ts'
import { whoActs } from '../person.ts'
import type { Context } from './command.ts'

export async function refuseRevoked(context: Context): Promise<void> {
  const options = await optionsOf(context)
  const room = options === undefined ? undefined : readable(() => openCoordinationToRead(options))
  if (options === undefined || room === undefined) return
  try {
    // Processes are looked at only where there is somebody to find.
    if (room.store.read((rows) => rows.revokedAgents()).length === 0) return
    const { refused } = caller(room, askingHere(context.env))
    // A human who uses a command is not an agent, whatever name scripts of theirs have.
    if (refused?.error.code !== 'AGENT_REVOKED' || whoActs().person) return
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
  } finally {
    room.store.close()
  }
}

/** Nothing where the command is used without a folder. */
async function optionsOf({ env, clock, configFile, ...context }: Context) {
  try {
    return await roomOptions({ cwd: context.cwd, env, clock, configFile, fleet: fleetDoor })
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
