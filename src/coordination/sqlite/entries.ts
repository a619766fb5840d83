// The log of entries in SQLite: appended with the change itself, read in order, and kept for a bounded time and size.
import { HeimdallError } from '../../errors.ts'
import {
  ENTRIES_KEPT_BYTES_MAX,
  ENTRIES_KEPT_MIN,
  ENTRIES_KEPT_MS,
  ENTRIES_TRIM_EVERY,
  ENTRIES_TRIMMED_AT_ONCE,
  FOLLOW_BATCH,
} from '../../limits.ts'
import type { Author, Entry, Put, Row } from '../log-entry.ts'
import type { EntryDraft } from './entry-draft.ts'
import { headOf } from './reading.ts'
import { eventFrom } from './rows.ts'
import type { Statements } from './statements.ts'

export interface EntryStamp {
  readonly id: string
  readonly wallMs: number
  readonly by: Omit<Author, 'haid'>
}

export type NewEntry = Pick<EntryDraft, 'haid' | 'firstEvent' | 'lastEvent' | 'puts'>

/** Returns the number that the entry got, or has already where it comes from a fleet's log. */
export function appendEntry(
  sql: Statements,
  draft: NewEntry,
  { id, wallMs, by }: EntryStamp,
  at: number | null = null,
): number {
  const { puts } = draft
  const text = JSON.stringify(puts)
  const tables = [...new Set(puts.map(({ table }) => table))].join(' ')
  const row = sql.one(
    `INSERT INTO entries (seq, id, wall_ms, haid, session_id, run_id, first_event, last_event, bytes_total, tables, puts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ? + coalesce((SELECT bytes_total FROM entries ORDER BY seq DESC LIMIT 1), 0), ?, ?)
     RETURNING seq`,
    at,
    id,
    wallMs,
    draft.haid,
    by.sessionId,
    by.runId,
    draft.firstEvent,
    draft.lastEvent,
    text.length,
    tables,
    text,
  )
  const seq = Number(row?.['seq'])
  if (seq % ENTRIES_TRIM_EVERY === 0) trim(sql, seq, wallMs)
  return seq
}

/** At most `limit` entries after this one. */
export function entriesAfter(sql: Statements, afterSeq: number, limit: number): Entry[] {
  const rows = sql.all('SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT ?', afterSeq, limit)
  const first = rows[0]?.['seq']
  if (first === undefined ? afterSeq > headOf(sql) : first !== afterSeq + 1) throw outOfReach(sql, afterSeq)
  return rows.map((row) => entryFrom(sql, row))
}

/** Tables that entries after this one have put rows into; nothing when that is not known of all of them. */
export function tablesSince(sql: Statements, afterSeq: number): ReadonlySet<string> | undefined {
  const rows = sql.all('SELECT seq, tables FROM entries WHERE seq > ? ORDER BY seq LIMIT ?', afterSeq, FOLLOW_BATCH)
  const first = rows[0]?.['seq']
  const isWhole = first === undefined ? afterSeq === headOf(sql) : first === afterSeq + 1 && rows.length < FOLLOW_BATCH
  return isWhole ? new Set(rows.flatMap((row) => String(row['tables']).split(' '))) : undefined
}

function outOfReach(sql: Statements, afterSeq: number): HeimdallError {
  const head = headOf(sql)
  return afterSeq > head
    ? new HeimdallError('FOLLOW_AHEAD', `entry ${afterSeq} was not made yet, the last one is ${head}`, {
        hint: 'the store was replaced since, or another one was followed: read its state and follow from there',
        details: { seq: head },
      })
    : new HeimdallError('FOLLOW_TOO_OLD', `entries after ${afterSeq} are no longer kept`, {
        hint: `read the state as it is and follow from its number, now ${head}`,
        details: { seq: head },
      })
}

function entryFrom(sql: Statements, row: Row): Entry {
  const text = (column: string): string | null => (row[column] === null ? null : String(row[column]))
  const { first_event: first = null, last_event: last = null } = row
  return {
    seq: Number(row['seq']),
    id: String(row['id']),
    wallMs: Number(row['wall_ms']),
    author: { haid: text('haid'), sessionId: text('session_id'), runId: text('run_id') },
    puts: JSON.parse(String(row['puts'])) as Put[],
    events:
      first === null
        ? []
        : sql.all('SELECT * FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq', first, last).map(eventFrom),
  }
}

/** Oldest first, a bounded number at a time: whoever makes the change that comes to it must not wait for long. */
function trim(sql: Statements, head: number, nowMs: number): void {
  const first = Number(sql.one('SELECT min(seq) AS seq FROM entries')?.['seq'])
  const at = (seq: number): Row => sql.one('SELECT wall_ms, bytes_total FROM entries WHERE seq = ?', seq) ?? {}
  const total = Number(at(head)['bytes_total'])
  const isKept = (seq: number): boolean => {
    const { wall_ms: wallMs = 0, bytes_total: bytes = 0 } = at(seq)
    return Number(wallMs) > nowMs - ENTRIES_KEPT_MS && total - Number(bytes) < ENTRIES_KEPT_BYTES_MAX
  }
  // Both grow with the number, so the first one to keep is found by halving.
  let [low, high] = [first, Math.max(first, Math.min(head - ENTRIES_KEPT_MIN + 1, first + ENTRIES_TRIMMED_AT_ONCE))]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isKept(middle)) high = middle
    else low = middle + 1
  }
  sql.run('DELETE FROM entries WHERE seq < ?', low)
}
