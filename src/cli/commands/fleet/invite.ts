// heimdall fleet invite: a new join line for members; the one before it is worth nothing from then on.
import { roomOptions } from '../../../coordination/room-options.ts'
import { writeFleetFile } from '../../../fleet/fleet-file.ts'
import { asOwner } from '../../../fleet/owner.ts'
import { giveNewRole, memberUrl, projectsIn } from '../../../fleet/project.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetInvite } from '../../table/fleet.ts'
import { engineUrl } from './engine-url.ts'
import { joinLine } from './join-line.ts'
import { meantProject, memberFile } from './owned-project.ts'

export const run: Run<typeof fleetInvite> = async (context, { flags }) => {
  refuseAgent('inviting machines to a fleet')
  const options = await roomOptions(context)
  const own = memberFile(options)
  const url = await engineUrl(context, flags['url-file'])
  const { project, name, role } = await asOwner(url, async (ask) => {
    const meant = meantProject(await projectsIn(ask), flags.project, own)
    return { ...meant, role: await giveNewRole(ask, meant.project) }
  })
  const isOwn = own?.project === project
  // By the way that this machine goes already: an owner may have come by another.
  if (isOwn) writeFleetFile(options, { ...own, url: memberUrl(own.url, role) })
  const join = memberUrl(url, role)
  return {
    data: { project, name, join },
    text: [
      'The line from before is worth nothing now. This one, which has a password in it, is for new machines and, once',
      `each, for members${isOwn ? ' but this one' : ''}, who keep their name and their copy:`,
      '',
      joinLine(join, flags.pooler === true),
    ].join('\n'),
  }
}
