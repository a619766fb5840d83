// heimdall fleet delete: a project is gone from its engine, with its role.
import { roomOptions } from '../../../coordination/room-options.ts'
import { HeimdallError } from '../../../errors.ts'
import { leaveFleet } from '../../../fleet/membership.ts'
import { asOwner } from '../../../fleet/owner.ts'
import { type ProjectFacts, projectsIn, removeProject } from '../../../fleet/project.ts'
import { printable } from '../../../ids.ts'
import { refuseAgent } from '../../../person.ts'
import type { Context, Run } from '../../command.ts'
import { readTypedLine } from '../../stdin.ts'
import type { fleetDelete } from '../../table/fleet.ts'
import { engineUrl } from './engine-url.ts'
import { meantProject, memberFile } from './owned-project.ts'

export const run: Run<typeof fleetDelete> = async (context, { flags }) => {
  refuseAgent('deleting a fleet')
  const options = await roomOptions(context)
  const own = memberFile(options)
  const url = await engineUrl(context, flags['url-file'])
  const meant = await asOwner(url, async (ask) => meantProject(await projectsIn(ask), flags.project, own))
  if (flags.yes !== true) await confirm(context, meant)
  const { project, name } = meant
  const isOwn = own?.project === project
  // First of all, while there is something to take along.
  if (isOwn) await leaveFleet(options, own)
  await asOwner(url, (ask) => removeProject(ask, project))
  return {
    data: { project, name, left: isOwn },
    text: [
      `${printable(name)} (${project}) is gone from the engine.`,
      ...(isOwn ? ['This machine goes on alone, with everything.'] : []),
      'On other members heimdall fleet leave --offline goes on alone with what each of them has.',
    ].join('\n'),
  }
}

async function confirm(context: Context, { project, name, seq, members }: ProjectFacts): Promise<void> {
  const { stdin, stderr } = context
  const what = `${printable(name)} (${project}) is at entry ${seq} and has ${members === 1 ? '1 member' : `${members} members`}`
  if (!stdin.isTTY || !stderr.isTTY)
    throw new HeimdallError('USAGE', `${what}: nobody is there to be asked`, {
      hint: `${context.calledAs} --project ${project} --yes deletes it`,
    })
  stderr.write(`${what}. Its name deletes it: `)
  const typed = await readTypedLine(stdin)
  if (typed !== name) throw new HeimdallError('INTERRUPTED', 'nothing was deleted')
}
