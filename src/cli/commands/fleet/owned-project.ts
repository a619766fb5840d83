// Which project an owner means: the one that is named, this repository's, or the only one of the database.
import type { CoordinationOptions } from '../../../coordination/coordination.ts'
import { HeimdallError } from '../../../errors.ts'
import { fleetDoor } from '../../../fleet/door.ts'
import { type FleetFile, readFleetFile } from '../../../fleet/fleet-file.ts'
import type { ProjectFacts } from '../../../fleet/project.ts'
import { printable } from '../../../ids.ts'

/** What this place knows of a fleet, if it is a member's. */
export const memberFile = (options: CoordinationOptions): FleetFile | undefined =>
  fleetDoor.isJoined(options) ? readFleetFile(options) : undefined

export function meantProject(
  projects: readonly ProjectFacts[],
  named: string | undefined,
  own: FleetFile | undefined,
): ProjectFacts {
  const asked = named ?? own?.project
  const meant = projects.filter(({ project, name }) => asked === undefined || [project, name].includes(asked))
  const [one] = meant
  if (one !== undefined && meant.length === 1) return one
  throw new HeimdallError('FLEET_UNKNOWN', wrongWith(asked, meant.length), {
    hint:
      projects.length === 0
        ? 'heimdall fleet create makes one; a URL names a database, and each has its own'
        : `--project ID says which: ${projects.map(({ project, name }) => `${project} (${printable(name)})`).join(', ')}`,
    details: { projects },
  })
}

function wrongWith(asked: string | undefined, found: number): string {
  if (found > 1) return `${found} projects of this database can be meant`
  return asked === undefined ? 'this database has no fleet' : `no fleet of this database is ${printable(asked)}`
}
