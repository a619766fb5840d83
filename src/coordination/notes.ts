// Notes between agents: handoffs, blockers, decisions, information; sent, read, acknowledged, each step on record (seed 002 §6).
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { INBOX_LIMIT_MAX, NOTE_BODY_CHARS_MAX, NOTE_SUBJECT_CHARS_MAX } from '../limits.ts'
import { checkLabel } from './claims/claims.ts'
import type { Coordination } from './coordination.ts'
import { type Actor, type AgentActor, type Change, changeAs, changeAsOther, findAgent, unknownAgent } from './change.ts'
import { NO_TASK } from './protocol.ts'
import { actionsOf } from './records.ts'
import type { ActorKind, Agent, Note, NoteState, Reader } from './store.ts'
import { EVERYBODY } from './who/names.ts'

export const CATEGORIES = ['HANDOFF', 'BLOCKED', 'DECISION', 'INFO'] as const
export type Category = (typeof CATEGORIES)[number]
type Human = Extract<Actor, { kind: 'human' }>
export const NOTE_STATES = ['unread', 'read', 'acked'] as const

export interface Draft {
  /** An agent id, `role:<role>` or `broadcast`. */
  readonly to: string
  readonly task: string
  readonly category: string
  readonly subject: string
  readonly body: string
  readonly thread?: string | undefined
  /** HANDOFF: what the recipient should do next. */
  readonly nextAction?: string | undefined
  /** BLOCKED: what is asked for, and how soon. */
  readonly requestedAction?: string | undefined
  readonly urgency?: string | undefined
  readonly scope?: string | undefined
}

/** One note per recipient. */
export async function sendNote(room: Coordination, actor: AgentActor, draft: Draft): Promise<readonly Note[]> {
  const category = parseCategory(draft.category)
  checkDraft(draft)
  return changeAs(room, actor, (change, sender) => {
    const recipients = recipientsOf(change.rows, sender, draft.to)
    return recipients.map((recipient) => deliver(room, change, sender, recipient, category, draft))
  })
}

/** A person sends it in an agent's place, and is on record as a person. */
export async function sendNoteFor(
  room: Coordination,
  actor: Human,
  from: string,
  draft: Draft,
): Promise<readonly Note[]> {
  const category = parseCategory(draft.category)
  checkDraft(draft)
  return changeAsOther(room, actor, (change) => {
    const sender = findAgent(change.rows, from)
    if (sender === undefined) throw unknownAgent(from, change.rows)
    const recipients = recipientsOf(change.rows, sender, draft.to)
    return recipients.map((recipient) => deliver(room, change, sender, recipient, category, draft))
  })
}

function deliver(
  room: Coordination,
  change: Change,
  sender: Agent,
  recipient: Agent,
  category: Category,
  draft: Draft,
): Note {
  const { subject, body } = draft
  const isHandoff = category === 'HANDOFF'
  const isBlocked = category === 'BLOCKED'
  const requiresAck = isHandoff || isBlocked
  const note: Note = {
    messageId: `msg_${room.newId()}`,
    threadId: draft.thread ?? `bead:${draft.task}`,
    task: draft.task,
    from: sender.agentId,
    to: recipient.agentId,
    category,
    subject,
    body,
    state: 'unread',
    requiresAck,
    createdMs: change.now.wallMs,
    readMs: null,
    ackedMs: null,
    ackedBy: null,
    // A handoff without a next step of its own is its summary; a blocker without a request is its subject.
    nextAction: isHandoff ? (draft.nextAction ?? body) : null,
    requestedAction: isBlocked ? (draft.requestedAction ?? subject) : null,
    urgency: isBlocked ? (draft.urgency ?? 'medium') : null,
  }
  change.rows.putNote(note)
  change.record({
    type: category,
    to: recipient.agentId,
    task: draft.task === NO_TASK ? null : draft.task,
    scope: draft.scope ?? null,
    payload: {
      subject,
      [isHandoff ? 'summary' : isBlocked ? 'blocker' : 'body']: body,
      ...actionsOf(note),
      requires_ack: requiresAck,
      message_id: note.messageId,
    },
  })
  return note
}

function recipientsOf(rows: Reader, sender: Agent, to: string): Agent[] {
  const others = (): Agent[] => rows.agents().filter(({ haid, origin }) => haid !== sender.haid && origin === 'local')
  if (to === EVERYBODY) return some(others(), 'nobody else is registered')
  if (to.startsWith('role:')) {
    const role = to.slice('role:'.length)
    return some(
      others().filter((agent) => agent.role === role),
      `nobody else has the role ${printable(role)}`,
    )
  }
  const agent = findAgent(rows, to)
  return some(agent === undefined ? [] : [agent], `no agent ${printable(to)} is registered`)
}

function some(agents: Agent[], otherwise: string): Agent[] {
  if (agents.length > 0) return agents
  throw new HeimdallError('UNKNOWN_RECIPIENT', otherwise, {
    hint: '--to takes an agent id, role:<role> or broadcast; heimdall agent list shows who is there',
  })
}

export interface InboxQuery {
  readonly agent: string
  readonly state?: string | undefined
  readonly task?: string | undefined
  readonly limit?: number | undefined
}

/** Newest first. */
export function inbox(room: Coordination, query: InboxQuery): Note[] {
  const { state, limit = 50 } = query
  if (state !== undefined && !isState(state))
    throw new HeimdallError('INVALID_STATE', `state ${printable(state)}, allowed: ${NOTE_STATES.join(', ')}`)
  if (!Number.isInteger(limit) || limit < 1 || limit > INBOX_LIMIT_MAX)
    throw new HeimdallError('INVALID_LIMIT', `limit ${limit}, 1 to ${INBOX_LIMIT_MAX} allowed`)
  return room.store.read((rows) => {
    const agent = findAgent(rows, query.agent)
    if (agent === undefined) throw unknownAgent(query.agent, rows)
    return rows.notes({
      to: agent.agentId,
      limit,
      ...(state === undefined ? {} : { state }),
      ...(query.task === undefined ? {} : { task: query.task }),
    })
  })
}

/** Read notes stay read, acknowledged ones stay acknowledged: repeating it changes nothing. */
export async function markRead(room: Coordination, actor: AgentActor | Human, messageId: string): Promise<Note> {
  return onNote(room, actor, messageId, 'READ_FORBIDDEN', (change, note) =>
    note.state === 'unread' ? store(change, { ...note, state: 'read', readMs: change.now.wallMs }, 'READ') : note,
  )
}

/** The first acknowledgement counts. A person may give it in the recipient's place, and is on record as a person. */
export async function acknowledge(room: Coordination, actor: AgentActor | Human, messageId: string): Promise<Note> {
  return onNote(room, actor, messageId, 'ACK_FORBIDDEN', (change, note, by) => {
    if (note.state === 'acked') return note
    const at = change.now.wallMs
    return store(change, { ...note, state: 'acked', readMs: note.readMs ?? at, ackedMs: at, ackedBy: by }, 'ACK')
  })
}

async function onNote(
  room: Coordination,
  actor: AgentActor | Human,
  messageId: string,
  forbidden: 'READ_FORBIDDEN' | 'ACK_FORBIDDEN',
  act: (change: Change, note: Note, by: ActorKind) => Note,
): Promise<Note> {
  if (!/^[A-Za-z0-9_:-]{1,128}$/.test(messageId))
    throw new HeimdallError('INVALID_MESSAGE_ID', `${printable(messageId)} is not a message id`)
  if (actor.kind === 'human')
    return changeAsOther(room, actor, (change) => act(change, find(change.rows, messageId), 'human'))
  return changeAs(room, actor, (change, agent) => {
    const note = find(change.rows, messageId)
    if (note.to === agent.agentId) return act(change, note, 'agent')
    throw new HeimdallError(forbidden, `note ${messageId} is for ${note.to}, not for ${agent.agentId}`)
  })
}

function find(rows: Reader, messageId: string): Note {
  const note = rows.note(messageId)
  if (note !== undefined) return note
  throw new HeimdallError('MESSAGE_NOT_FOUND', `no note ${printable(messageId)}`, {
    hint: 'heimdall note list shows them',
  })
}

function store(change: Change, note: Note, type: 'READ' | 'ACK'): Note {
  change.rows.putNote(note)
  change.record({
    type,
    to: note.from,
    task: note.task === NO_TASK ? null : note.task,
    payload: { message_id: note.messageId, category: note.category },
  })
  return note
}

function parseCategory(text: string): Category {
  const category = CATEGORIES.find((known) => known === text)
  if (category !== undefined) return category
  throw new HeimdallError('INVALID_CATEGORY', `category ${printable(text)}, allowed: ${CATEGORIES.join(', ')}`)
}

function checkDraft({ task, subject, body, thread }: Draft): void {
  if (task.trim() === '')
    throw new HeimdallError('MISSING_BEAD_ID', 'the note names no task', { hint: `say ${NO_TASK} when there is none` })
  checkLabel('task', task)
  checkLabel('thread', thread ?? null)
  const problem =
    subject.trim() === ''
      ? 'the subject is empty'
      : subject.length > NOTE_SUBJECT_CHARS_MAX
        ? `a subject of ${subject.length} characters, limit ${NOTE_SUBJECT_CHARS_MAX}`
        : body.trim() === ''
          ? 'the body is empty'
          : body.length > NOTE_BODY_CHARS_MAX
            ? `a body of ${body.length} characters, limit ${NOTE_BODY_CHARS_MAX}`
            : undefined
  if (problem !== undefined) throw new HeimdallError('INVALID_MESSAGE', problem)
}

function isState(text: string): text is NoteState {
  return (NOTE_STATES as readonly string[]).includes(text)
}
