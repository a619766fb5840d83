// Events of a record become rows: the three of a call one, any other its own.
import type { Database, Statement } from '../../storage/sqlite.ts'
import type { RecordLine } from '../record-reader.ts'
import { originOf } from '../run-project.ts'
import { type EventFields, fieldsOf } from './event-fields.ts'
import { CALL_TYPE, TEXT_PARTS } from './index-schema.ts'
import type { Words } from './name-numbers.ts'

const COLUMNS = [
  'id',
  'run',
  'at_ms',
  'type',
  'call_id',
  'agent',
  'server',
  'tool',
  'decision',
  'rule',
  'reason',
  'status',
  'latency_ms',
  'first_at',
  'first_bytes',
  'decision_at',
  'decision_bytes',
  'end_at',
  'end_bytes',
] as const

type Row = Record<(typeof COLUMNS)[number], number | string | null>

interface Call {
  readonly row: Row
  readonly isStored: boolean
  textPart: number
  text: string
}

/** Which event of a call it is, and the part of its text. */
const PARTS: ReadonlyMap<string, 'first' | 'decision' | 'end'> = new Map([
  ['tool_call_start', 'first'],
  ['tool_call_decision', 'decision'],
  ['tool_call_end', 'end'],
])
const TEXT_PART = { first: 0, decision: 1, end: 2 } as const

/** Writes the events of one record in one transaction; then it is of no use any more. */
export class EntryWriter {
  readonly #words: Words
  readonly #record: number
  readonly #insert: Statement
  readonly #replace: Statement
  readonly #text: Statement
  readonly #openCall: Statement
  readonly #findRun: Statement
  readonly #addRun: Statement
  readonly #saveRun: Statement
  readonly #runs = new Map<string, number>()
  /** The new entries of each run, first and last. */
  readonly #added = new Map<number, { readonly first: number; last: number }>()
  /** Calls of this transaction, by run and id; written at its end. */
  readonly #calls = new Map<string, Call>()
  /** A second start under the same id begins another call; the first stays as it was. */
  readonly #superseded: Call[] = []
  readonly #ownRunId: string
  /** There are calls whose beginning has not been seen; only then may a beginning belong to one that is stored. */
  readonly #hasHeadless: boolean
  #nextId: number
  #atMs: number
  events = 0
  newerEvents = 0

  constructor(
    db: Database,
    words: Words,
    record: { readonly id: number; readonly name: string; readonly atMs: number },
  ) {
    this.#words = words
    this.#record = record.id
    this.#ownRunId = record.name
    this.#atMs = record.atMs
    const names = COLUMNS.join(', ')
    const marks = COLUMNS.map(() => '?').join(', ')
    this.#insert = db.prepare(`INSERT INTO entries (${names}) VALUES (${marks})`)
    this.#replace = db.prepare(`REPLACE INTO entries (${names}) VALUES (${marks})`)
    this.#text = db.prepare('INSERT INTO texts (rowid, text) VALUES (?, ?)')
    this.#openCall = db.prepare(
      `SELECT ${names} FROM entries WHERE call_id = ? AND run = ? AND type = ${CALL_TYPE.id} ORDER BY id DESC LIMIT 1`,
    )
    this.#findRun = db.prepare('SELECT id FROM runs WHERE record = ? AND run_id = ?')
    this.#addRun = db.prepare('INSERT INTO runs (record, run_id, haid, repo_path) VALUES (?, ?, ?, ?)')
    this.#saveRun = db.prepare('UPDATE runs SET first_entry = coalesce(first_entry, ?), last_entry = ? WHERE id = ?')
    const { last } = db.prepare('SELECT max(id) AS last FROM entries').get() as { last: number | null }
    this.#nextId = (last ?? 0) + 1
    this.#hasHeadless = db.prepare('SELECT 1 FROM entries WHERE first_at IS NULL LIMIT 1').get() !== undefined
  }

  take({ event, end, bytes }: RecordLine): void {
    const fields = fieldsOf(event)
    this.events += 1
    if (fields.isNewer) this.newerEvents += 1
    // One without a time happened when the one before it did.
    if (Number.isFinite(fields.atMs)) this.#atMs = fields.atMs
    const run = this.#runOf(fields.runId ?? this.#ownRunId, event)
    const part = fields.callId === null ? undefined : PARTS.get(fields.type)
    const place = { at: end - bytes, bytes: bytes - 1 }
    if (part === undefined) this.#other(run, fields, place)
    else this.#ofCall(run, fields, part, place)
  }

  /** Writes the calls, and where the entries of each run are. */
  finish(): void {
    for (const { row, isStored, textPart, text } of [...this.#superseded, ...this.#calls.values()]) {
      ;(isStored ? this.#replace : this.#insert).run(...COLUMNS.map((name) => row[name]))
      this.#putText(row.id as number, textPart, text)
    }
    for (const [run, { first, last }] of this.#added) this.#saveRun.run(first, last, run)
  }

  #ofCall(run: number, fields: EventFields, part: 'first' | 'decision' | 'end', place: Place): void {
    const key = `${run} ${fields.callId}`
    let call = this.#calls.get(key)
    if (call === undefined && (part !== 'first' || this.#hasHeadless)) call = this.#stored(run, fields.callId)
    if (call === undefined || (part === 'first' && call.row.first_at !== null)) {
      if (call !== undefined) this.#superseded.push(call)
      call = { row: this.#newRow(run, fields, CALL_TYPE.id), isStored: false, textPart: 0, text: '' }
    }
    this.#calls.set(key, call)
    const { row } = call
    // What was said first stands: a second decision or end of one call was copied, or made up.
    if (row[`${part}_at`] !== null) return
    row[`${part}_at`] = place.at
    row[`${part}_bytes`] = place.bytes
    if (part === 'decision') {
      row.decision = this.#word(fields.decision)
      row.rule = this.#word(fields.rule)
      row.reason = this.#word(fields.reason)
    } else if (part === 'end') {
      row.status = this.#word(fields.status)
      row.latency_ms = fields.latencyMs
    }
    if (fields.text === '') return
    // Events of one transaction share a row: that takes half the time, and no later one has the same part.
    if (call.text === '') call.textPart = TEXT_PART[part]
    call.text += call.text === '' ? fields.text : `\n${fields.text}`
  }

  #other(run: number, fields: EventFields, place: Place): void {
    const row = this.#newRow(run, fields, this.#words.numberOf(fields.type))
    row.rule = this.#word(fields.rule)
    row.status = this.#word(fields.status)
    row.first_at = place.at
    row.first_bytes = place.bytes
    this.#insert.run(...COLUMNS.map((name) => row[name]))
    this.#putText(row.id as number, 0, fields.text)
  }

  #newRow(run: number, fields: EventFields, type: number): Row {
    const id = this.#nextId
    this.#nextId += 1
    const added = this.#added.get(run)
    if (added === undefined) this.#added.set(run, { first: id, last: id })
    else added.last = id
    return {
      id,
      run,
      at_ms: this.#atMs,
      type,
      call_id: fields.callId,
      agent: this.#word(fields.agent),
      server: this.#word(fields.server),
      tool: this.#word(fields.tool),
      decision: null,
      rule: null,
      reason: null,
      status: null,
      latency_ms: null,
      first_at: null,
      first_bytes: null,
      decision_at: null,
      decision_bytes: null,
      end_at: null,
      end_bytes: null,
    }
  }

  #stored(run: number, callId: string | null): Call | undefined {
    const row = this.#openCall.get(callId, run) as Row | undefined
    return row === undefined ? undefined : { row, isStored: true, textPart: 0, text: '' }
  }

  #putText(id: number, part: number, text: string): void {
    if (text !== '') this.#text.run(id * TEXT_PARTS + part, text)
  }

  #word(text: string | null): number | null {
    return text === null ? null : this.#words.numberOf(text)
  }

  #runOf(runId: string, event: object): number {
    const known = this.#runs.get(runId)
    if (known !== undefined) return known
    const row = this.#findRun.get(this.#record, runId) as { id: number } | undefined
    const id = row?.id ?? this.#newRun(runId, event)
    this.#runs.set(runId, id)
    return id
  }

  #newRun(runId: string, event: object): number {
    const { haid, repoPath } = originOf(event)
    return Number(this.#addRun.run(this.#record, runId, haid, repoPath).lastInsertRowid)
  }
}

interface Place {
  readonly at: number
  readonly bytes: number
}
