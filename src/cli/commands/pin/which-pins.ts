// Which pins a command speaks of: those of a server in the project that the command is called in, or that it is told.
import { statSync } from 'node:fs'
import { HeimdallError } from '../../../errors.ts'
import { type PinsPlace, pinsPlace, readPins, type ServerPins } from '../../../pins/pins-file.ts'
import type { Context } from '../../command.ts'

export function placeOf(context: Context, serverName: string, project: string | undefined): PinsPlace {
  if (project === undefined) return pinsPlace(context.env, context.cwd, serverName)
  const folder = context.resolve(project)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new HeimdallError('USAGE', `--project takes the folder of a project; ${folder} is none`, {
      hint: 'heimdall pin list --all shows the projects of all pins',
    })
  return pinsPlace(context.env, folder, serverName)
}

export function knownPins(place: PinsPlace): ServerPins {
  return readPins(place) ?? notFound(place)
}

export function notFound({ serverName, project }: PinsPlace): never {
  throw new HeimdallError('PIN_NOT_FOUND', `nothing is known of a server ${serverName} in ${project}`, {
    hint: 'heimdall pin list --all shows all that is known; --project says which project is meant',
  })
}
