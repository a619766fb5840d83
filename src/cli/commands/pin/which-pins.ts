// Which pins a command speaks of: those of a server in the project that the command is called in, or that it is told.
import { statSync } from 'node:fs'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import type { Env } from '../../../paths.ts'
import { didYouMean } from '../../../suggest.ts'
import { allPins, type PinsPlace, pinsPlace, readPins, type ServerPins } from '../../../pins/pins-file.ts'
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

export function knownPins(place: PinsPlace, env: Env): ServerPins {
  return readPins(place) ?? notFound(place, env)
}

export function notFound({ serverName, project }: PinsPlace, env: Env): never {
  const here = allPins(env).filter((one) => one.project === project)
  throw pinsNotFound(
    serverName,
    project,
    here.map((one) => one.server_name),
  )
}

/** `project`: nothing for all of them. */
export function pinsNotFound(server: string, project: string | undefined, known: readonly string[]): HeimdallError {
  const where = project === undefined ? '' : ` in ${project}`
  return new HeimdallError('PIN_NOT_FOUND', `nothing is known of a server ${printable(server)}${where}`, {
    hint: didYouMean(
      server,
      known,
      'heimdall pin list --all shows all that is known; --project says which project is meant',
    ),
  })
}
