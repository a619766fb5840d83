// heimdall note inbox, bb agent inbox: notes for an agent, newest first.
import type { Coordination } from '../../../coordination/coordination.ts'
import { unknownAgent } from '../../../coordination/change.ts'
import { inbox as readInbox } from '../../../coordination/notes.ts'
import { noteRecord } from '../../../coordination/records.ts'
import type { Note } from '../../../coordination/store.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Context, Run } from '../../command.ts'
import type { noteInbox } from '../../table/coordination.ts'
import { callerOf, withRoomToRead } from '../../coordination-door.ts'

export const run: Run<typeof noteInbox> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const notes = readInbox(room, {
        agent: flags.agent ?? ownName(context, room),
        state: flags.state,
        task: flags.bead,
        limit: flags.limit,
      })
      return { data: notes.map(noteRecord), text: notes.length === 0 ? 'no notes' : notes.map(line).join('\n') }
    },
    () => {
      throw flags.agent === undefined ? nobodyNamed() : unknownAgent(flags.agent)
    },
  )

function ownName(context: Context, room: Coordination): string {
  const { as, haid } = callerOf(context, room)
  if (as === 'everybody') throw nobodyNamed()
  return haid
}

const nobodyNamed = (): HeimdallError =>
  new HeimdallError('USAGE', '--agent is required', { hint: 'pass --agent ID, or set BB_AGENT' })

/** A note is somebody else's text: shown with its sender, controls escaped, so that it cannot pass for our own output. */
function line(note: Note): string {
  const body = note.body.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const wantsAck = note.requiresAck && note.state !== 'acked' ? ', wants an answer' : ''
  return [
    `${note.messageId}  ${note.category} from ${note.from} (${note.state}${wantsAck}), ${note.task}`,
    `  ${JSON.stringify(note.subject).slice(1, -1)}`,
    ...body.split('\n').map((text) => `  | ${text}`),
  ].join('\n')
}
