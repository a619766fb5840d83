// heimdall fleet create: this repository's coordination goes to an engine, and others can join.
import { basename } from 'node:path'
import { roomOptions } from '../../../coordination/room-options.ts'
import { createFleet } from '../../../fleet/creation.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetCreate } from '../../table/fleet.ts'
import { VERSION } from '../../version.ts'
import { engineUrl } from './engine-url.ts'
import { firstCommits } from './first-commits.ts'
import { joinLine } from './join-line.ts'

export const run: Run<typeof fleetCreate> = async (context, { flags }) => {
  refuseAgent('making a fleet')
  const options = await roomOptions(context)
  const { project, machine, seq, joinUrl } = await createFleet({
    options,
    url: await engineUrl(context, flags['url-file']),
    isPooled: flags.pooler === true,
    machine: flags.machine,
    roots: await firstCommits({ cwd: options.project.root, env: context.env }),
    name: flags.name ?? basename(options.project.root),
    version: VERSION,
  })
  return {
    data: { project, machine, seq, join: joinUrl },
    text: [
      `Project ${project} is on the engine, with everything up to entry ${seq}; this machine is ${machine}.`,
      'Other machines join with this line, which has a password in it:',
      '',
      joinLine(joinUrl, flags.pooler === true),
    ].join('\n'),
  }
}
