// heimdall fleet join: this machine becomes a member, or builds its copy anew.
import { roomOptions } from '../../../coordination/room-options.ts'
import { readFleetFile } from '../../../fleet/fleet-file.ts'
import { joinFleet } from '../../../fleet/membership.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetJoin } from '../../table/fleet.ts'
import { VERSION } from '../../version.ts'
import { engineUrl } from './engine-url.ts'

export const run: Run<typeof fleetJoin> = async (context, { flags }) => {
  refuseAgent('joining a fleet')
  const options = await roomOptions(context)
  const rebuilds = flags.rebuild === true
  const before = rebuilds ? readFleetFile(options) : undefined
  const address =
    before !== undefined
      ? { ...before, isPooled: flags.pooler ?? before.isPooled }
      : { url: await engineUrl(context, flags['url-file']), isPooled: flags.pooler === true }
  const { project, machine, seq, asideAs } = await joinFleet(
    {
      ...address,
      options,
      machine: flags.machine ?? ('machine' in address ? address.machine : undefined),
      version: VERSION,
    },
    { setsAside: flags['set-aside'] === true, rebuilds },
  )
  return {
    data: { project, machine, seq, set_aside: asideAs ?? null },
    text: [
      `This machine is ${machine} in project ${project}, at entry ${seq}.`,
      ...(asideAs === undefined ? [] : [`What was here before is in ${asideAs}`]),
    ].join('\n'),
  }
}
