// heimdall note send, bb agent send: send a note to an agent, a role or everybody.
import { sendNote } from '../../../coordination/notes.ts'
import { noteRecord } from '../../../coordination/records.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { noteSend } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof noteSend> = (context, { flags }) =>
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
