// heimdall fleet doctor: whether the fleet is fit to be relied on.
import { roomOptions } from '../../../coordination/room-options.ts'
import { placeIn } from '../../../coordination/sqlite/places.ts'
import { storePath } from '../../../coordination/store-path.ts'
import { HeimdallError } from '../../../errors.ts'
import { type FleetCheck, fleetChecks } from '../../../fleet/fleet-checks.ts'
import { readFleetFile, refuseForeign } from '../../../fleet/fleet-file.ts'
import type { Context, Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { checkLine } from '../../render/check-line.ts'
import type { fleetDoctor } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'

export const run: Run<typeof fleetDoctor> = async (context) => {
  const options = await roomOptions(context)
  const mark = requireMember(options)
  const file = readFleetFile(options)
  refuseForeign(file, mark)
  const broken = await brokenLog(context)
  const { at } = placeIn(storePath(options.project))
  const checks = [...(await fleetChecks(file, at, () => context.clock.wallMs())), ...broken]
  const failed = checks.some(({ state }) => state === 'fail')
  return {
    data: { checks },
    text: checks.map((check) => checkLine(context.style, check)).join('\n'),
    exit: failed ? 1 : 0,
  }
}

/** An entry that is none stops every copy: whoever asks what is wrong is told of it first. What else fails, the checks say. */
async function brokenLog(context: Context): Promise<FleetCheck[]> {
  try {
    await withRoom(context, (room) => room.store.catchUp())
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (error.code === 'STORE_CORRUPT')
      return [{ check: 'log', state: 'fail', found: error.message, fix: error.hint ?? null }]
  }
  return []
}
