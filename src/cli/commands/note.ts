// heimdall note: send notes and handoffs between agents, read and acknowledge them.
import { findAgent, unknownAgent } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { acknowledge, CATEGORIES, inbox, markRead, NOTE_STATES, sendNote } from '../../coordination/notes.ts'
import { NO_TASK } from '../../coordination/protocol.ts'
import { actionsOf, noteRecord } from '../../coordination/records.ts'
import type { Note } from '../../coordination/store.ts'
import { HeimdallError } from '../../errors.ts'
import { agentFlag } from '../agent-flag.ts'
import { type Answer, type Command, command, type Context, type FlagSpec } from '../command.ts'
import { actorFor, callerOf, noteLoss, personIn, withStore, withStoreToRead } from '../coordination-store.ts'
import { usageError } from '../usage-error.ts'

export const NOTE =
  'message_id, thread_id, bead_id (task, or none), from_agent, to_agent, category, subject, body, state (unread, read or acked), requires_ack, created_at, read_at, acked_at, acked_by (agent, human or null); next_action of a HANDOFF, requested_action and urgency (low, medium or high) of a BLOCKED note'

export const sendFlags = {
  from: { value: 'ID', help: 'sender; default your own agent' },
  to: { value: 'WHO', help: 'agent id, role:<role> or broadcast', required: true },
  category: { value: 'KIND', help: CATEGORIES.join(', '), required: true },
  subject: { value: 'TEXT', help: 'one line', required: true },
  body: {
    value: 'TEXT',
    help: 'the note; the summary of a handoff, the blocker of a blocked task',
    required: true,
  },
  thread: { value: 'ID', help: 'thread; default bead:<task>' },
  'next-action': { value: 'TEXT', help: 'HANDOFF: what to do next; default the body' },
  'requested-action': { value: 'TEXT', help: 'BLOCKED: what you need; default the subject' },
  urgency: { value: 'low|medium|high', help: 'BLOCKED: how soon; default medium' },
  scope: { value: 'SCOPE', help: 'scope that the note is about' },
} as const satisfies Record<string, FlagSpec>

export const inboxFlags = {
  agent: agentFlag,
  state: { value: 'STATE', help: NOTE_STATES.join(', ') },
  limit: { type: 'integer', value: 'N', help: 'at most this many, 1 to 500', default: 50 },
} as const satisfies Record<string, FlagSpec>

export const humanFlag = {
  help: 'accept it as a human, in place of the agent; recorded as such',
} as const satisfies FlagSpec

const noteArg = { name: 'id', help: 'id of the note' } as const

export const commands: readonly Command[] = [
  command({
    names: ['heimdall note send'],
    summary: 'Send a note to an agent, a role or all agents',
    flags: {
      ...sendFlags,
      task: { value: 'TASK', help: 'task that it is about', default: NO_TASK },
      category: { ...sendFlags.category, choices: CATEGORIES },
      urgency: { ...sendFlags.urgency, choices: ['low', 'medium', 'high'] },
    },
    examples: {
      'heimdall note send --to cobalt-harbor --category HANDOFF --subject "Parser done" --body "Lexer and parser pass" --next-action "write the docs"':
        'hands the task over',
      'heimdall note send --to role:backend --category BLOCKED --subject "Need the schema" --body "src/db is held" --urgency high':
        'asks all backend agents',
    },
    output: `${NOTE}, recipients (all of them; the record is that of the first)`,
    run: (context, { flags }) => send(context, flags, flags.task),
  }),
  command({
    names: ['heimdall note list'],
    summary: 'List notes for an agent, newest first',
    flags: {
      ...inboxFlags,
      task: { value: 'TASK', help: 'only about this task' },
      state: { ...inboxFlags.state, choices: NOTE_STATES },
    },
    examples: { 'heimdall note list --agent amber-otter --state unread': 'lists the unread notes of amber-otter' },
    output: `a list of notes: ${NOTE}`,
    run: (context, { flags }) => list(context, flags, flags.task),
  }),
  command({
    names: ['heimdall note read'],
    summary: 'Mark a note as read',
    args: [noteArg],
    flags: { agent: agentFlag },
    examples: { 'heimdall note read msg_01': 'marks the note as read' },
    output: NOTE,
    run: (context, { flags, args }) => read(context, args.id, flags.agent),
  }),
  command({
    names: ['heimdall note ack'],
    summary: 'Acknowledge a note',
    args: [noteArg],
    flags: { agent: agentFlag, human: humanFlag },
    examples: { 'heimdall note ack msg_01': 'accepts the handoff' },
    output: NOTE,
    run: (context, { flags, args }) => acknowledgeNote(context, args.id, flags),
  }),
]

interface SendFlags extends Readonly<Record<'to' | 'category' | 'subject' | 'body', string>> {
  readonly from: string | undefined
  readonly thread: string | undefined
  readonly 'next-action': string | undefined
  readonly 'requested-action': string | undefined
  readonly urgency: string | undefined
  readonly scope: string | undefined
}

export const send = (context: Context, flags: SendFlags, task: string): Promise<Answer> =>
  withStore(context, async (db) => {
    const { 'next-action': nextAction, 'requested-action': requestedAction, ...draft } = flags
    const actor = await senderIn(actorFor(context, db, flags.from, '--from'))
    const notes = await sendNote(db, actor, { ...draft, task, nextAction, requestedAction })
    const recipients = notes.map(({ to }) => to)
    const [first] = notes.map(noteRecord)
    return {
      data: { ...first, recipients },
      text: `✓ ${flags.category} sent to ${recipients.join(', ')} (${notes.map(({ messageId }) => messageId).join(', ')})`,
    }
  })

/** Seed 002 has an error code of its own for an unknown sender. */
async function senderIn<T>(found: Promise<T>): Promise<T> {
  try {
    return await found
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'AGENT_NOT_FOUND')
      throw new HeimdallError('UNKNOWN_SENDER', error.message, { cause: error })
    throw error
  }
}

interface InboxFlags {
  readonly agent: string | undefined
  readonly state: string | undefined
  readonly limit: number
}

export const list = (
  context: Context,
  { agent, state, limit }: InboxFlags,
  task: string | undefined,
): Promise<Answer> =>
  withStoreToRead(
    context,
    (db) => {
      const name = agent ?? ownName(context, db)
      const notes = inbox(db, { agent: name, state, task, limit })
      noteLoss(context, db, db.store.read((rows) => findAgent(rows, name)?.haid) ?? name)
      return { data: notes.map(noteRecord), text: notes.length === 0 ? 'no notes' : notes.map(noteLines).join('\n') }
    },
    () => {
      throw agent === undefined ? agentRequired() : unknownAgent(agent)
    },
  )

function ownName(context: Context, db: Coordination): string {
  const { as, haid } = callerOf(context, db)
  if (as === 'everybody') throw agentRequired()
  return haid
}

const agentRequired = (): HeimdallError => usageError('--agent is required', 'pass --agent ID, or set BB_AGENT')

const escaped = (text: string): string[] =>
  text
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .split('\n')

/** A note is untrusted text: shown with its sender and with escaped control characters, so that it cannot imitate our output. */
function noteLines(note: Note): string {
  const waits = note.requiresAck && note.state !== 'acked' ? ', needs an acknowledgement' : ''
  return [
    `${note.messageId}  ${note.category} from ${note.from} (${note.state}${waits}), ${note.task}`,
    `  ${JSON.stringify(note.subject).slice(1, -1)}`,
    ...escaped(note.body).map((text) => `  | ${text}`),
    ...Object.entries(actionsOf(note)).map(([name, text]) => `  ${name}: ${escaped(text).join(' ')}`),
  ].join('\n')
}

export const read = (context: Context, id: string, agent: string | undefined): Promise<Answer> =>
  withStore(context, async (db) => {
    const note = await markRead(db, await actorFor(context, db, agent), id)
    return { data: noteRecord(note), text: `✓ Seen: ${note.messageId}` }
  })

export const acknowledgeNote = (
  context: Context,
  id: string,
  { agent, human }: { readonly agent: string | undefined; readonly human: boolean | undefined },
): Promise<Answer> =>
  withStore(context, async (db) => {
    const actor =
      human === true
        ? ({ kind: 'human', name: (await personIn(context, db, '--human', null)).name } as const)
        : await actorFor(context, db, agent)
    const note = await acknowledge(db, actor, id)
    return { data: noteRecord(note), text: `✓ Accepted: ${note.messageId}` }
  })
