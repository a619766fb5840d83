// What commands that show the fleet look at: the project that they are called in.
import { roomOptions } from '../coordination/room-options.ts'
import type { FleetOptions } from '../spine/fleet/look.ts'
import type { Context } from './command.ts'
import { type DirFlag, socketDirOf } from './session-flags.ts'

export async function fleetOptions(context: Context, flags: DirFlag, asksSessions = false): Promise<FleetOptions> {
  const [options, socketDir] = await Promise.all([roomOptions(context), socketDirOf(context, flags)])
  return {
    ...options,
    socketDir,
    asksSessions,
    note: (line) => context.note(`warning: ${line}`),
  }
}
