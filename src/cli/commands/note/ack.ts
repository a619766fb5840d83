// heimdall note ack, bb agent ack: acknowledge a note.
import { acknowledge } from '../../../coordination/notes.ts'
import { noteRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import type { noteAck } from '../../table/coordination.ts'
import { actorFor, personIn, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof noteAck> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const actor =
      flags.human === true
        ? ({ kind: 'human', name: (await personIn(context, room, '--human', null)).name } as const)
        : await actorFor(context, room, flags.agent)
    const note = await acknowledge(room, actor, flags.message)
    return { data: noteRecord(note), text: `✓ Accepted: ${note.messageId}` }
  })
