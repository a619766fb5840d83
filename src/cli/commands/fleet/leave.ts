// heimdall fleet leave: back to one machine, with everything that the fleet knows.
import { roomOptions } from '../../../coordination/room-options.ts'
import { fleetDoor } from '../../../fleet/door.ts'
import { readFleetFile } from '../../../fleet/fleet-file.ts'
import { leaveFleet } from '../../../fleet/membership.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetLeave } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'

export const run: Run<typeof fleetLeave> = async (context, { flags }) => {
  refuseAgent('leaving a fleet')
  const options = await roomOptions(context)
  const isKnown = fleetDoor.isJoined(options)
  // Whose copy is gone is still a member, and may leave.
  if (!isKnown) requireMember(options)
  const { seq, claims } = await leaveFleet(
    options,
    flags.offline === true || !isKnown ? undefined : readFleetFile(options),
  )
  return {
    data: { seq, claims },
    text: [
      `This machine goes on alone, from entry ${seq}.`,
      ...(claims === 0
        ? []
        : [
            `${claims === 1 ? '1 claim' : `${claims} claims`} of its agents ${claims === 1 ? 'stays' : 'stay'} in the fleet, and here: others can take over there once the holder has been silent for long enough.`,
          ]),
    ].join('\n'),
  }
}
