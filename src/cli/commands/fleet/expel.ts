// heimdall fleet expel: a machine that will not come back is no member any more.
import { roomOptions } from '../../../coordination/room-options.ts'
import { HeimdallError } from '../../../errors.ts'
import { readFleetFile, refuseForeign } from '../../../fleet/fleet-file.ts'
import { expelMember } from '../../../fleet/membership.ts'
import { printable } from '../../../ids.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetExpel } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'

export const run: Run<typeof fleetExpel> = async (context, { args }) => {
  refuseAgent('expelling a machine from a fleet')
  const options = await roomOptions(context)
  const mark = requireMember(options)
  const file = readFleetFile(options)
  refuseForeign(file, mark)
  if (args.machine === mark.machine)
    throw new HeimdallError('INVALID_ARGS', `${printable(args.machine)} is this machine`, {
      hint: 'heimdall fleet leave goes on alone',
    })
  const heardMs = await expelMember(file, args.machine)
  const heard = `${Math.round(heardMs / 1_000)} s ago`
  return {
    data: { machine: args.machine, heard_ms_ago: Math.round(heardMs) },
    text: [
      `${args.machine} is no member any more; it was last heard ${heard}. What its agents hold can be taken over once they`,
      'have been silent for long enough (heimdall claim takeover).',
      'Nobody is shut out by this: who has the join line can come in until heimdall fleet invite makes another.',
    ].join('\n'),
  }
}
