// heimdall note read, bb agent read: mark a note as read.
import { markRead } from '../../../coordination/notes.ts'
import { noteRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import type { noteRead } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof noteRead> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const note = await markRead(room, await actorFor(context, room, flags.agent), flags.message)
    return { data: noteRecord(note), text: `✓ Seen: ${note.messageId}` }
  })
