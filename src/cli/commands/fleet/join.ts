// heimdall fleet join: this machine becomes a member, or builds its copy anew.
import { roomOptions } from '../../../coordination/room-options.ts'
import { fleetDoor } from '../../../fleet/door.ts'
import { readFleetFile } from '../../../fleet/fleet-file.ts'
import { joinFleet } from '../../../fleet/membership.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetJoin } from '../../table/fleet.ts'
import { VERSION } from '../../version.ts'
import { engineUrl } from './engine-url.ts'
import { refuseUnrelated } from './first-commits.ts'

export const run: Run<typeof fleetJoin> = async (context, { flags }) => {
  refuseAgent('joining a fleet')
  const options = await roomOptions(context)
  const rebuilds = flags.rebuild === true
  const before = fleetDoor.isJoined(options) || rebuilds ? readFleetFile(options) : undefined
  const isPooled = flags.pooler ?? before?.isPooled ?? false
  // A copy is made again by the line that is known, unless there is another.
  const address =
    rebuilds && before !== undefined && flags['url-file'] === undefined
      ? { ...before, isPooled }
      : { url: await engineUrl(context, flags['url-file']), isPooled }
  const { project, machine, seq, asideAs, refusedSnapshots, renamedFrom } = await joinFleet(
    {
      ...address,
      options,
      machine: flags.machine ?? ('machine' in address ? address.machine : undefined),
      version: VERSION,
    },
    {
      setsAside: flags['set-aside'] === true,
      rebuilds,
      ...(flags.unrelated === true
        ? {}
        : { checkRepository: (roots) => refuseUnrelated({ cwd: options.project.root, env: context.env }, roots) }),
    },
  )
  if (renamedFrom !== undefined)
    context.note(`${renamedFrom} is a machine whose keys are not here: this one is called ${machine}`)
  for (const at of refusedSnapshots)
    context.note(`warning: the snapshot at entry ${at} is none that Heimdall has written; the copy was made without it`)
  return {
    data: { project, machine, seq, set_aside: asideAs ?? null },
    text: [
      `This machine is ${machine} in project ${project}, at entry ${seq}.`,
      ...(asideAs === undefined ? [] : [`What was here before is in ${asideAs}`]),
    ].join('\n'),
  }
}
