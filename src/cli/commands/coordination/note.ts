// heimdall note …, bb agent send|inbox|read|ack: notes between agents.
import type { Coordination } from '../../../coordination/coordination.ts'
import { unknownAgent } from '../../../coordination/gate.ts'
import { acknowledge, inbox as readInbox, markRead, sendNote } from '../../../coordination/notes.ts'
import { noteRecord } from '../../../coordination/records.ts'
import type { Note } from '../../../coordination/store.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Context, Run } from '../../command.ts'
import type { noteAck, noteInbox, noteRead, noteSend } from '../../table/coordination.ts'
import { actorFor, callerOf, personIn, withRoom, withRoomToRead } from './room.ts'

export const send: Run<typeof noteSend> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const notes = await sendNote(room, await sender(actorFor(context, room, flags.from, '--from')), {
      to: flags.to,
      task: flags.bead,
      category: flags.category,
      subject: flags.subject,
      body: flags.body,
      thread: flags.thread,
      nextAction: flags['next-action'],
      requestedAction: flags['requested-action'],
      urgency: flags.urgency,
      scope: flags.scope,
    })
    const records = notes.map(noteRecord)
    const recipients = notes.map(({ to }) => to)
    return {
      data: { ...records[0], recipients },
      text: `✓ ${flags.category} sent to ${recipients.join(', ')} (${notes.map(({ messageId }) => messageId).join(', ')})`,
    }
  })

/** For a sender, the seed has a code of its own. */
async function sender<T>(found: Promise<T>): Promise<T> {
  try {
    return await found
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'AGENT_NOT_FOUND')
      throw new HeimdallError('UNKNOWN_SENDER', error.message, { cause: error })
    throw error
  }
}

export const inbox: Run<typeof noteInbox> = (context, { flags }) =>
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

export const read: Run<typeof noteRead> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const note = await markRead(room, await actorFor(context, room, flags.agent), flags.message)
    return { data: noteRecord(note), text: `✓ Seen: ${note.messageId}` }
  })

export const ack: Run<typeof noteAck> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const actor =
      flags.human === true
        ? ({ kind: 'human', name: (await personIn(context, room, '--human', null)).name } as const)
        : await actorFor(context, room, flags.agent)
    const note = await acknowledge(room, actor, flags.message)
    return { data: noteRecord(note), text: `✓ Accepted: ${note.messageId}` }
  })
