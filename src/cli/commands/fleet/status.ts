// heimdall fleet status: where this machine stands, and what the engine's answers are worth.
import { roomOptions } from '../../../coordination/room-options.ts'
import { heardIn } from '../../../coordination/membership.ts'
import { sinceMs } from '../../../coordination/moment.ts'
import { lastPlaces, placeIn } from '../../../coordination/sqlite/places.ts'
import { storePath } from '../../../coordination/store-path.ts'
import { HeimdallError } from '../../../errors.ts'
import { type FleetFile, readFleetFile, refuseForeign } from '../../../fleet/fleet-file.ts'
import { onEngine } from '../../../fleet/membership.ts'
import { durabilityOf, engineFacts, engineName, lostAmong, memberFacts } from '../../../fleet/fleet-status.ts'
import { escapeControls, printable } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { fleetStatus } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'

export const run: Run<typeof fleetStatus> = async (context) => {
  const options = await roomOptions(context)
  const { project, member, machine, heard } = requireMember(options, (room, membership) => {
    const last = heardIn(room.store)
    return { ...membership, heard: last === undefined ? null : Math.round(sinceMs(last, room.now())) }
  })
  const path = storePath(options.project)
  const { at, pending } = placeIn(path)
  const file = readFleetFile(options)
  refuseForeign(file, { project, member, machine })
  const asked = await ask(file, path)
  const data = {
    project,
    machine,
    engine: engineName(file.url),
    seq: at.seq,
    heard_ms_ago: heard,
    pending: pending ?? null,
    ...asked,
  }
  const lag = data.head === null ? 'unknown' : behindText(Math.max(0, data.head - at.seq))
  const lines = [
    `project     ${data.name === null ? project : `${printable(data.name)} (${project})`}, this machine is ${machine}`,
    `engine      ${data.engine}${data.reachable ? '' : `: ${data.error}`}`,
    `durability  ${data.durability ?? 'unknown'}`,
    `copy        at entry ${at.seq}, ${lag}, heard ${heard === null ? 'never' : `${Math.round(heard / 1_000)} s ago`}`,
    ...(pending === undefined ? [] : [`pending     entry ${pending}: the next command settles what became of it`]),
    ...data.lost.map(
      ({ seq, id, by }) => `lost        entry ${seq} (${id}) by ${by ?? 'nobody'}: the engine does not have it`,
    ),
  ].map(escapeControls)
  const table = renderTable(
    context.style,
    ['MACHINE', 'VERSION', 'FORMAT', 'RULES', 'HEARD'],
    data.members.map((one) => [
      one.machine,
      one.version,
      String(one.format),
      String(one.rules),
      one.is_gone ? 'left' : `${Math.round(one.heard_ms_ago / 1_000)} s ago`,
    ]),
  )
  return { data, text: [...lines, table].join('\n'), exit: data.lost.length > 0 ? 8 : 0 }
}

const behindText = (count: number): string => `${count === 1 ? '1 entry' : `${count} entries`} behind`

async function ask(file: FleetFile, path: string) {
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
