// heimdall fleet expel: a machine that will not come back is no member any more, and what its agents held is free.
import { userInfo } from 'node:os'
import { roomOptions } from '../../../coordination/room-options.ts'
import { endAgentsOn } from '../../../coordination/who/expelled.ts'
import { HeimdallError } from '../../../errors.ts'
import { readFleetFile, refuseForeign } from '../../../fleet/fleet-file.ts'
import { signedElsewhere } from '../../../fleet/fleet-status.ts'
import { expelMember, onEngine } from '../../../fleet/membership.ts'
import { escapeControls, printable } from '../../../ids.ts'
import { refuseAgent, requirePerson } from '../../../person.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { plural } from '../../render/fleet-text.ts'
import type { fleetExpel } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'

export const run: Run<typeof fleetExpel> = async (context, { args, flags }) => {
  const isForced = flags.force === true
  refuseAgent('expelling a machine from a fleet')
  const name = isForced ? requirePerson('taking from active agents').name : userInfo().username
  const options = await roomOptions(context)
  const mark = requireMember(options)
  const file = readFleetFile(options)
  refuseForeign(file, mark)
  const { machine } = args
  if (machine === mark.machine)
    throw new HeimdallError('INVALID_ARGS', `${printable(machine)} is this machine`, {
      hint: 'heimdall fleet leave goes on alone',
    })
  const { heardMs, freed, active } = await withRoom(context, async (room) => {
    // The latest signs of its agents: with the place they go.
    await room.store.catchUp()
    const elsewhere = await onEngine(file, (ask) => ask((sql) => signedElsewhere(sql, file.project, machine)))
    const heardMs = await expelMember(file, machine)
    return { heardMs, ...(await endAgentsOn(room, { machine, elsewhere, by: name, isForced })) }
  })
  return {
    data: { machine, heard_ms_ago: Math.round(heardMs), freed: freed.length, active },
    text: [
      `${escapeControls(machine)} is no member any more, and changes nothing; it was last heard ${Math.round(heardMs / 1_000)} s ago.`,
      freed.length === 0
        ? 'Its agents held nothing that is free now.'
        : `${plural(freed.length, 'claim')} of its agents ${freed.length === 1 ? 'is' : 'are'} free.`,
      ...(active.length === 0
        ? []
        : [
            `Still active a moment ago: ${escapeControls(active.join(', '))}. What they hold can be taken over once they have been silent`,
            'for long enough (heimdall claim takeover); --force would have freed it at once.',
          ]),
      'Nobody is shut out by this: who has the join line can come in until heimdall fleet invite makes another.',
    ].join('\n'),
  }
}
