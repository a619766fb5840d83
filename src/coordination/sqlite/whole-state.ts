// The whole shared state of a store as lines of text, and a store made from them: for joining, for moving, for going back to one machine.
import { HeimdallError } from '../../errors.ts'
import { isObject } from '../../plain-object.ts'
import { printable } from '../../ids.ts'
import { type Database, openDatabase } from '../../storage/sqlite.ts'
import { isMisfit } from '../../storage/sqlite-errors.ts'
import { type Row, SHARED_TABLES, type SharedTable } from '../log-entry.ts'
import type { CarriedText } from '../annex.ts'
import { FORMER_NAMES_SETTING, type Membership } from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { EntryPlace } from '../shared-log.ts'
import { indexClaim, placeOf, putRow, sightRow } from './apply.ts'
import { CARRIED_SETTING, type CarriedOver } from './carried-over.ts'
import { isForeign, mark, marked, namesIn, putLocally } from './fleet-mark.ts'
import { layLocally } from './local-annex.ts'
import { fitsTable, isCountable, isRow } from './row-fits.ts'
import { MIGRATIONS } from './schema.ts'
import { Statements } from './statements.ts'
import { inDatabase } from './store-file.ts'

const KIND = 'heimdall-state'
/** Numbers that are never given out twice, not even after the newest row is gone. */
const NUMBERED = ['claims', 'events', 'tickets'] as const

/** The first line; after it one row of a table in each. */
interface Head {
  readonly kind: typeof KIND
  readonly at: EntryPlace
  readonly wall_ms: number
  readonly numbers: Readonly<Record<string, number>>
}

export interface WholeState {
  readonly at: EntryPlace
  readonly text: string
}

/** Rows of this name are texts beside the log. */
const ANNEX = 'annex'

/** One moment of the store. What this machine alone knows is not in it; texts beside the log are, where they are given. */
export function wholeState(path: string, beside: readonly CarriedText[] = []): WholeState {
  return inDatabase(path, (db) =>
    db.rehearse(() => {
      const lines = [...linesOf(db, beside)]
      const text = [...lines, ''].join('\n')
      return { at: placeOf(new Statements(db)), text: `${text}${lastLine(lines.length - 1, hashOf(text))}` }
    }),
  )
}

/**
 * The same moment, a line at a time and without the last, for whoever does other things in between: nobody is kept from
 * writing meanwhile.
 */
export async function inState<T>(
  path: string,
  act: (at: EntryPlace, lines: Iterable<string>) => Promise<T>,
): Promise<T> {
  const db = openDatabase(path, { migrations: MIGRATIONS, readOnly: true })
  try {
    db.exec('BEGIN')
    return await act(placeOf(new Statements(db)), linesOf(db, []))
  } finally {
    db.close()
  }
}

/** What says that nothing is missing. */
export const lastLine = (rows: number, sha256: string): string => `${JSON.stringify({ rows, sha256 })}\n`

function* linesOf(db: Database, beside: readonly CarriedText[]): Generator<string, void> {
  const sql = new Statements(db)
  const at = placeOf(sql)
  const numbers = Object.fromEntries(
    sql
      .all('SELECT name, seq FROM sqlite_sequence')
      .filter(({ name }) => NUMBERED.some((table) => table === name))
      .map(({ name, seq }) => [String(name), Number(seq)]),
  )
  const last = sql.one('SELECT wall_ms FROM entries ORDER BY seq DESC LIMIT 1')
  const head: Head = { kind: KIND, at, wall_ms: Number(last?.['wall_ms'] ?? 0), numbers }
  yield JSON.stringify(head)
  for (const table of [...Object.keys(SHARED_TABLES), 'events'])
    for (const row of rowsOf(sql, table)) yield JSON.stringify([table, row])
  for (const { name, text } of beside) yield JSON.stringify([ANNEX, { name, text }])
}

/** Rows that are read at once. */
const ROWS = 100

/** A few at a time. Not by the driver's iterators: some time after the database was closed, their end took the process with it. */
function* rowsOf(sql: Statements, table: string): Generator<Row, void> {
  // Those are a few settings and the like.
  if (sql.one('SELECT wr FROM pragma_table_list WHERE name = ?', table)?.['wr'] === 1) {
    yield* sql.all(`SELECT * FROM ${table}`)
    return
  }
  const next = `SELECT rowid AS row_number, * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS}`
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const rows = sql.all(next, after)
    for (const { row_number: number, ...row } of rows) {
      yield row
      after = Number(number)
    }
    if (rows.length < ROWS) return
  }
}

export interface NewStore {
  readonly state: string | undefined
  /** Of what others have made. */
  readonly now: Moment
  readonly membership: Membership | undefined
  /** Of the store before it: laid down with it, until it is up to date. */
  readonly carried?: CarriedOver | undefined
  /** The entry that the state has to stand at, where that is known. */
  readonly at?: EntryPlace | undefined
}

/**
 * In the place of what is there, in one transaction: whoever has the store open sees one or the other. A file that is
 * exchanged would leave the others in the old one, and its log beside the new one.
 */
export function makeStore(path: string, made: NewStore): EntryPlace {
  if (made.state !== undefined) checkWhole(made.state, made.at)
  return inDatabase(path, (db) =>
    db.transaction(() => {
      const before = new Statements(db)
      const names = isForeign(before, made.membership) ? [] : namesIn(before, marked(before)?.machine)
      empty(db)
      const sql = new Statements(db)
      putLocally(sql, FORMER_NAMES_SETTING, JSON.stringify(names))
      if (made.carried !== undefined) putLocally(sql, CARRIED_SETTING, JSON.stringify(made.carried))
      try {
        return fill(db, made)
      } catch (error) {
        throw isMisfit(error) ? unfit('rows that do not fit each other', error) : error
      }
    }),
  )
}

/** Events are append-only for everybody else. */
function empty(db: Database): void {
  const named = (type: string): { name: string; sql: string }[] =>
    db.prepare('SELECT name, sql FROM sqlite_schema WHERE type = ?').all(type) as { name: string; sql: string }[]
  const triggers = named('trigger')
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  const first = ['bases', 'claims']
  const others = named('table').flatMap(({ name }) => (first.includes(name) ? [] : [name]))
  for (const name of [...first, ...others]) db.exec(`DELETE FROM ${name}`)
  for (const { sql } of triggers) db.exec(sql)
}

function fill(db: Database, { state, now, membership }: NewStore): EntryPlace {
  const sql = new Statements(db)
  if (membership !== undefined) mark(sql, membership)
  if (state === undefined) return { seq: 0, id: '' }
  const lines = state.split('\n')
  const head = headOf(lines[0] ?? '')
  // The last line says that it is the last.
  for (const line of lines.slice(1, -2)) fillRow(sql, line, now)
  for (const [table, seq] of Object.entries(head.numbers)) {
    sql.run('DELETE FROM sqlite_sequence WHERE name = ?', table)
    sql.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, seq)
  }
  // What was there before is in no entry of this store: its place is all that is known of the last one.
  if (head.at.seq > 0)
    sql.run(
      `INSERT INTO entries (seq, id, wall_ms, bytes_total, tables, puts) VALUES (?, ?, ?, 0, '', '[]')`,
      head.at.seq,
      head.at.id,
      head.wall_ms,
    )
  return head.at
}

// Loaded here: this file is packed together with what every look at a store loads, and few of those hash anything.
const hashOf = (text: string): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex')

/** A copy that was cut off would free every claim that is missing from it. */
function checkWhole(state: string, at: EntryPlace | undefined): void {
  const end = state.lastIndexOf('\n', state.length - 2) + 1
  const head = headOf(state.slice(0, state.indexOf('\n')))
  if (at !== undefined && (head.at.seq !== at.seq || head.at.id !== at.id)) throw unfit('another place in the log')
  const lines = state.slice(0, end)
  if (state.slice(end) === lastLine(lines.split('\n').length - 2, hashOf(lines))) return
  throw new HeimdallError(
    'STORE_CORRUPT',
    'the state of a project was cut off or changed: its last line does not fit',
    {
      hint: 'copy the file again, or write it anew with heimdall fleet export',
    },
  )
}

function fillRow(sql: Statements, line: string, now: Moment): void {
  const [table, row] = rowIn(line)
  if (table === ANNEX) {
    const { name, text } = row
    if (typeof name !== 'string' || typeof text !== 'string') throw unfit('a text beside the log')
    layLocally(sql, { name, text }, now.wallMs)
    return
  }
  const isShared = Object.hasOwn(SHARED_TABLES, table)
  if (!isShared && table !== 'events') throw unfit(`a table ${printable(table)}`)
  if (!isRow(table, row) || !fitsTable(table as SharedTable | 'events', row)) throw unfit(`a row of ${table}`)
  if (table === 'events') {
    putRow(sql, 'events', 'seq', row)
    return
  }
  putRow(sql, table, SHARED_TABLES[table as SharedTable], row)
  if (table === 'claims') indexClaim(sql, row)
  sightRow(sql, table, row, now)
}

function rowIn(line: string): [string, Readonly<Record<string, unknown>>] {
  const parsed = parsedLine(line)
  if (!Array.isArray(parsed)) throw unfit('a line')
  const [table, row] = parsed as unknown[]
  if (typeof table !== 'string' || !isObject(row)) throw unfit('a line')
  return [table, row]
}

function headOf(line: string): Head {
  const head = parsedLine(line)
  if (isHead(head)) return head
  throw unfit('another beginning')
}

function isHead(head: unknown): head is Head {
  if (!isObject(head) || head['kind'] !== KIND || !isObject(head['at']) || !isObject(head['numbers'])) return false
  const { at, numbers, wall_ms: wallMs } = head
  return (
    isNumber(at['seq']) &&
    typeof at['id'] === 'string' &&
    typeof wallMs === 'number' &&
    isCountable(wallMs) &&
    Object.entries(numbers).every(([table, seq]) => NUMBERED.some((one) => one === table) && isNumber(seq))
  )
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && isCountable(value)

/** Nothing where it is no JSON. */
function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

function unfit(what: string, cause?: unknown): HeimdallError {
  return new HeimdallError('STORE_CORRUPT', `the state of a project has ${what}, which is not known here`, {
    hint: 'heimdall fleet export writes such a file; a newer version may have written this one',
    cause,
  })
}
