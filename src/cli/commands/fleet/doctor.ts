// heimdall fleet doctor: whether the fleet is fit to be relied on.
import { roomOptions } from '../../../coordination/room-options.ts'
import { placeIn } from '../../../coordination/sqlite/whole-state.ts'
import { storePath } from '../../../coordination/store-path.ts'
import { fleetChecks } from '../../../fleet/fleet-checks.ts'
import { readFleetFile, refuseForeign } from '../../../fleet/fleet-file.ts'
import type { Run } from '../../command.ts'
import { checkLine } from '../../render/check-line.ts'
import type { fleetDoctor } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'

export const run: Run<typeof fleetDoctor> = async (context) => {
  const options = await roomOptions(context)
  const mark = requireMember(options)
  const file = readFleetFile(options)
  refuseForeign(file, mark)
  const { at } = placeIn(storePath(options.project))
  const checks = await fleetChecks(file, at, () => context.clock.wallMs())
  const failed = checks.some(({ state }) => state === 'fail')
  return {
    data: { checks },
    text: checks.map((check) => checkLine(context.style, check)).join('\n'),
    exit: failed ? 1 : 0,
  }
}
