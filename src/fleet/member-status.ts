// The status of a fleet as one member sees it: its own copy, and what the database answers.
import type { CoordinationOptions } from '../coordination/coordination.ts'
import { heardIn } from '../coordination/membership.ts'
import { sinceMs } from '../coordination/moment.ts'
import { lastPlaces, placeIn } from '../coordination/sqlite/places.ts'
import { storePath } from '../coordination/store-path.ts'
import { HeimdallError } from '../errors.ts'
import { type FleetFile, readFleetFile, refuseForeign } from './fleet-file.ts'
import { durabilityOf, engineFacts, engineName, lostAmong, memberFacts } from './fleet-status.ts'
import { requireMember } from './member-here.ts'
import { onEngine } from './membership.ts'

export async function memberStatus(options: CoordinationOptions) {
  const { heard, ...mark } = requireMember(options, (room, membership) => {
    const last = heardIn(room.store)
    return { ...membership, heard: last === undefined ? null : Math.round(sinceMs(last, room.now())) }
  })
  const path = storePath(options.project)
  const { at, pending } = placeIn(path)
  const file = readFleetFile(options)
  refuseForeign(file, mark)
  return {
    project: mark.project,
    machine: mark.machine,
    engine: engineName(file.url),
    seq: at.seq,
    heard_ms_ago: heard,
    pending: pending ?? null,
    ...(await engineAnswer(file, path)),
  }
}

async function engineAnswer(file: FleetFile, path: string) {
  try {
    return await onEngine(file, async (ask) => {
      const facts = await ask((sql) => engineFacts(sql, file.project))
      return {
        reachable: true,
        name: facts.name,
        error: null,
        durability: durabilityOf(facts).words,
        head: facts.seq,
        lost: await ask((sql) => lostAmong(sql, file.project, lastPlaces(path))),
        members: await ask((sql) => memberFacts(sql, file.project)),
      }
    })
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return { reachable: false, name: null, error: error.message, durability: null, head: null, lost: [], members: [] }
  }
}
