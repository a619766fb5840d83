// Conversations as the screens have them: events of coordination in the words of seed 002 §6.3, notes with what became of them.
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import type { EventQuery, Note, Reader, StoredEvent } from '../../coordination/store.ts'
import { HUB_ROWS_MAX } from '../../limits.ts'
import type { ConversationRow } from '../contract.ts'

type Words = Pick<ConversationRow, 'kind' | 'label'>

/** By type of event. What is not listed is shown under its own name: nothing that happened is left out. */
const WORDS: Readonly<Record<string, Words>> = {
  HANDOFF: { kind: 'note', label: 'Passed to' },
  BLOCKED: { kind: 'note', label: 'Needs input' },
  DECISION: { kind: 'note', label: 'Deciding' },
  INFO: { kind: 'note', label: 'Update' },
  READ: { kind: 'note', label: 'Seen' },
  ACK: { kind: 'note', label: 'Accepted' },
  INCURSION: { kind: 'incursion', label: 'Incursion' },
  RESUME: { kind: 'resume', label: 'Resume' },
  CLAIM: { kind: 'claim', label: 'Claimed' },
  RENEW: { kind: 'claim', label: 'Renewed' },
  RELEASE: { kind: 'claim', label: 'Released' },
  TAKEOVER: { kind: 'claim', label: 'Taken over' },
  REMOTE_CLAIM: { kind: 'claim', label: 'Claimed elsewhere' },
  REMOTE_RELEASE: { kind: 'claim', label: 'Released elsewhere' },
  TASK_START: { kind: 'task', label: 'Task begun' },
  TASK_END: { kind: 'task', label: 'Task ended' },
  DECISION_RECORDED: { kind: 'other', label: 'Decided' },
  CONFLICT_RAISED: { kind: 'incursion', label: 'Conflict' },
  REGISTER: { kind: 'run', label: 'Registered' },
  SESSION: { kind: 'run', label: 'Session begun' },
  SESSION_END: { kind: 'run', label: 'Session ended' },
  REFUSED: { kind: 'other', label: 'Refused' },
}

/** Signs of life are no part of a conversation. */
const SILENT: ReadonlySet<string> = new Set(['HEARTBEAT'])

export interface Rows {
  readonly rows: ConversationRow[]
  /** There are older ones. */
  readonly more: boolean
}

/** In order; the newest ones where there are too many. */
export function conversation(room: Coordination, query: EventQuery, before?: number): Rows {
  return room.store.read((rows) => {
    const all = rows
      .events(before === undefined ? { ...query, last: HUB_ROWS_MAX * 2 } : query)
      .filter(({ type, seq }) => !SILENT.has(type) && (before === undefined || seq < before))
    const shown = all.slice(-HUB_ROWS_MAX)
    return { rows: rowsOf(rows, shown), more: shown.length < all.length }
  })
}

/** With notes as they stand now, and incursions with their count. */
export function rowsOf(rows: Reader, events: readonly StoredEvent[]): ConversationRow[] {
  const counts = rows.incursionCounts(events.filter(({ type }) => type === 'INCURSION').map(({ id }) => id))
  return events
    .filter(({ type }) => !SILENT.has(type))
    .map((event) => rowOf(event, noteOf(rows, event), counts.get(event.id)))
}

export const rowIdOf = ({ seq }: Pick<StoredEvent, 'seq'>): string => `e${seq}`

/** Of a row's id, the number of its event. */
export function seqOfRow(rowId: string | undefined): number | undefined {
  const digits = /^e(\d{1,15})$/.exec(rowId ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

function noteOf(rows: Reader, { payload }: StoredEvent): Note | undefined {
  const id = payload['message_id']
  return typeof id === 'string' ? rows.note(id) : undefined
}

function rowOf(event: StoredEvent, note: Note | undefined, attempts: number | undefined): ConversationRow {
  const { payload, type } = event
  const text = (name: string): string | null => (typeof payload[name] === 'string' ? payload[name] : null)
  const words = WORDS[type] ?? { kind: 'other', label: type.toLowerCase().replaceAll('_', ' ') }
  const isNoteItself = type === 'HANDOFF' || type === 'BLOCKED' || type === 'DECISION' || type === 'INFO'
  return {
    row_id: rowIdOf(event),
    at: iso(event.wallMs),
    ...words,
    actor: event.actor ?? text('by'),
    actor_kind: event.actorKind,
    to: event.to,
    task: event.task,
    scope: event.scope,
    ...wordsOf(event, note, attempts, text),
    note:
      note === undefined || !isNoteItself
        ? null
        : {
            note_id: note.messageId,
            category: note.category,
            state: note.state,
            requires_ack: note.requiresAck,
            from: note.from,
            next_action: note.nextAction,
            requested_action: note.requestedAction,
            urgency: note.urgency,
            seen_at: note.readMs === null ? null : iso(note.readMs),
            accepted_at: note.ackedMs === null ? null : iso(note.ackedMs),
            accepted_by: note.ackedBy,
          },
    liveness: livenessIn(text('owner_liveness')),
    event_type: type,
    event_id: event.id,
  }
}

function livenessIn(word: string | null): ConversationRow['liveness'] {
  return word === 'active' || word === 'stale' || word === 'evicted' ? word : null
}

function wordsOf(
  { type, scope, payload }: StoredEvent,
  note: Note | undefined,
  attempts: number | undefined,
  text: (name: string) => string | null,
): Pick<ConversationRow, 'text' | 'detail'> {
  switch (type) {
    case 'INCURSION': {
      const times = attempts === undefined || attempts === 1 ? '' : `, ${attempts} times`
      return {
        text: `${text('incoming_agent') ?? ''} wanted ${scope ?? ''}, which ${text('owner_agent') ?? ''} holds${times}`,
        detail: `overlap ${text('incursion_kind') ?? ''}, owner ${text('owner_liveness') ?? ''}. ${text('resolution_hint') ?? ''}`,
      }
    }
    case 'RESUME':
      return {
        text: `${text('adopted_agent') ?? ''} goes on with the work of ${text('prior_session_agent') ?? ''}`,
        detail: text('evidence'),
      }
    case 'READ':
    case 'ACK':
      return { text: note?.subject ?? text('category') ?? '', detail: null }
    case 'HANDOFF':
    case 'BLOCKED':
    case 'DECISION':
    case 'INFO':
      return { text: text('subject') ?? '', detail: note?.body ?? text('summary') ?? text('blocker') ?? text('body') }
    case 'CLAIM':
    case 'RENEW':
    case 'RELEASE':
    case 'TAKEOVER':
      return { text: scope ?? '', detail: detailOf(payload, ['ttl_minutes']) }
    case 'SESSION_END': {
      const { exit_code: code, signal } = payload
      const how = typeof signal === 'string' ? `by ${signal}` : typeof code === 'number' ? `exit code ${code}` : ''
      return { text: how === '' ? (text('status') ?? '').toLowerCase() : how, detail: null }
    }
    case 'REGISTER':
      return { text: `as ${text('role') ?? 'agent'}`, detail: null }
    default: {
      const said = scope ?? text('title') ?? text('summary') ?? text('code') ?? ''
      return { text: said, detail: detailOf(payload, SAID) }
    }
  }
}

/** What stands in the text of a row already. */
const SAID: readonly string[] = ['title', 'summary', 'code']

/** What else is on record, for an eye that wants to know. */
function detailOf(payload: Readonly<Record<string, unknown>>, left: readonly string[]): string | null {
  const parts = Object.entries(payload)
    .filter(([name, value]) => !left.includes(name) && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
  return parts.length === 0 ? null : parts.join(', ')
}
