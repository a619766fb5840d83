// heimdall fleet link: the copy follows the log for as long as this runs.
import { storePath } from '../../../coordination/store-path.ts'
import { placeIn } from '../../../coordination/sqlite/places.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import type { fleetLink } from '../../table/fleet.ts'
import { requireMember } from './member-here.ts'
import { roomOptions } from '../../../coordination/room-options.ts'

export const run: Run<typeof fleetLink> = async (context) => {
  const options = await roomOptions(context)
  requireMember(options)
  const over = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort())
  let said = ''
  const seq = await withRoom(context, async (room) => {
    const path = storePath(room.project)
    await room.store.catchUp()
    context.note(`following, at entry ${placeIn(path).at.seq}; Ctrl-C ends it`)
    await room.store.link(over.signal, ({ message }) => {
      // Once for each reason: it is tried again every two seconds.
      if (message !== said) context.note(`warning: ${message}`)
      said = message
    })
    return placeIn(path).at.seq
  })
  return { data: { seq }, text: `This machine’s copy is at entry ${seq}.` }
}
