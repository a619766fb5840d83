// The inbox over MCP: notes by reference, one in full on request, and its acknowledgement.
import { acknowledge, inbox as notesFor, markRead } from '../../coordination/notes.ts'
import { actionsOf } from '../../coordination/records.ts'
import type { Note } from '../../coordination/store.ts'
import { isoSeconds } from '../../clock.ts'
import { MCP_BODY_CHARS_MAX } from '../../limits.ts'
import { fence, label } from '../../fence.ts'
import { page } from '../page.ts'
import { tool } from '../tool.ts'

export const inbox = tool({
  name: 'inbox',
  about: 'Notes other agents sent you, newest first; with note, its body. ack accepts a HANDOFF or BLOCKED note.',
  args: { note: 'text', ack: 'flag', cursor: 'text', max_tokens: 'count' },
  async run(caller, { note, ack, cursor, max_tokens }) {
    const { desk, haid, agentId } = caller
    const room = await desk.room()
    if (note !== undefined) {
      const read = await markRead(room, caller.actor, note)
      const seen = ack === true ? await acknowledge(room, caller.actor, note) : read
      const body = fence(seen.body, {
        from: seen.from,
        charsMax: MCP_BODY_CHARS_MAX,
        more: 'heimdall note list shows all of it',
        randomBytes: desk.randomBytes,
      })
      desk.planning.log('mcp', 'inbox', `${haid} ${note}`)
      return { data: { haid, ...reference(seen), body } }
    }
    const notes = notesFor(room, { agent: agentId, limit: 500 })
    const { items, next } = page(notes.map(reference), { cursor, maxTokens: max_tokens, keyOf: ({ note }) => note })
    if (items.length > 0) desk.planning.log('mcp', 'inbox', `${haid} ${items.length} notes`)
    const unread = notes.filter(({ state }) => state === 'unread').length
    return { data: { haid, count: notes.length, unread, ...next, notes: items } }
  },
})

interface Reference {
  readonly note: string
  readonly from: string
  readonly category: string
  readonly subject: string
  readonly task: string
  readonly state: string
  readonly requires_ack: boolean
  readonly at: string
  readonly next_action?: string
  readonly requested_action?: string
  readonly urgency?: string
}

function reference(note: Note): Reference {
  const { messageId, from, category, subject, task, state, requiresAck, createdMs } = note
  const actions = Object.entries(actionsOf(note)).map(([name, text]) => [name, label(text)])
  return {
    note: messageId,
    from,
    category,
    subject: label(subject),
    task: label(task),
    state,
    requires_ack: requiresAck && state !== 'acked',
    at: isoSeconds(createdMs),
    ...Object.fromEntries(actions),
  }
}
