// The whole shared state of a store as lines of text, and a store made from them: for joining, for moving, for going back to one machine.
import { HeimdallError } from '../../errors.ts'
import { FLEET_NAMES_KEPT, FLEET_PLACES_COMPARED } from '../../limits.ts'
import { type Database, openDatabase } from '../../storage/sqlite.ts'
import { type Row, SHARED_TABLES, type SharedTable } from '../log-entry.ts'
import type { CarriedText } from '../annex.ts'
import { FLEET_SETTING, FORMER_NAMES_SETTING, type Membership } from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { EntryPlace } from '../shared-log.ts'
import { indexClaim, placeOf, putRow, sightRow } from './apply.ts'
import { layLocally } from './local-annex.ts'
import { pendingIn } from './pending.ts'
import { fitsTable } from './row-fits.ts'
import { MIGRATIONS } from './schema.ts'
import { noteHeard } from './signs.ts'
import { Statements } from './statements.ts'

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
  return inDatabase(path, (db) => db.rehearse(() => stateOf(new Statements(db), beside)))
}

function stateOf(sql: Statements, beside: readonly CarriedText[]): WholeState {
  const at = placeOf(sql)
  const numbers = Object.fromEntries(
    sql
      .all('SELECT name, seq FROM sqlite_sequence')
      .filter(({ name }) => NUMBERED.some((table) => table === name))
      .map(({ name, seq }) => [String(name), Number(seq)]),
  )
  const last = sql.one('SELECT wall_ms FROM entries ORDER BY seq DESC LIMIT 1')
  const head: Head = { kind: KIND, at, wall_ms: Number(last?.['wall_ms'] ?? 0), numbers }
  const rows = [...Object.keys(SHARED_TABLES), 'events'].flatMap((table) =>
    sql.all(`SELECT * FROM ${table}`).map((row) => JSON.stringify([table, row])),
  )
  for (const { name, text } of beside) rows.push(JSON.stringify([ANNEX, { name, text }]))
  const text = [JSON.stringify(head), ...rows, ''].join('\n')
  return { at, text: `${text}${JSON.stringify({ rows: rows.length, sha256: hashOf(text) })}\n` }
}

export interface NewStore {
  readonly state: string | undefined
  /** Of what others have made. */
  readonly now: Moment
  readonly membership: Membership | undefined
  /** The entry that the state has to stand at, where that is known. */
  readonly at?: EntryPlace | undefined
}

/** A copy of what is there, for whoever wants it back. */
export function copyAside(path: string, as: string): void {
  inDatabase(path, (db) => db.prepare('VACUUM INTO ?').run(as))
}

/** What is wrong with the file that is there, as a database; nothing where it is a sound one. */
export function brokenness(path: string): string | undefined {
  try {
    return inDatabase(path, (db) => db.problems()[0])
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'STORE_CORRUPT') return error.message
    throw error
  }
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
      putLocally(new Statements(db), FORMER_NAMES_SETTING, JSON.stringify(names))
      try {
        return fill(db, made)
      } catch (error) {
        if (error instanceof HeimdallError) throw error
        throw unfit('rows that do not fit each other', error)
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
  try {
    const { sha256 } = JSON.parse(state.slice(end)) as { readonly sha256: unknown }
    if (state.endsWith('\n') && sha256 === hashOf(state.slice(0, end))) return
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new HeimdallError(
    'STORE_CORRUPT',
    'the state of a project was cut off or changed: its last line does not fit',
    {
      hint: 'copy the file again, or write it anew with heimdall fleet export',
    },
  )
}

function fillRow(sql: Statements, line: string, now: Moment): void {
  const [table, row] = JSON.parse(line) as [string, Row]
  const isShared = Object.hasOwn(SHARED_TABLES, table)
  if ((isShared || table === 'events') && !fitsTable(table as SharedTable | 'events', row))
    throw unfit(`a row of ${table}`)
  if (table === 'events') {
    putRow(sql, 'events', 'seq', row)
    return
  }
  if (table === ANNEX) {
    layLocally(sql, { name: String(row['name']), text: String(row['text']) }, now.wallMs)
    return
  }
  if (!isShared) throw unfit(`a table ${table}`)
  putRow(sql, table, SHARED_TABLES[table as SharedTable], row)
  if (table === 'claims') indexClaim(sql, row)
  sightRow(sql, table, row, now)
}

function headOf(line: string): Head {
  try {
    const head = JSON.parse(line) as Omit<Head, 'kind'> & { readonly kind: unknown }
    if (head.kind === KIND && typeof head.at === 'object') return { ...head, kind: KIND }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw unfit('another beginning')
}

function unfit(what: string, cause?: unknown): HeimdallError {
  return new HeimdallError('STORE_CORRUPT', `the state of a project has ${what}, which is not known here`, {
    hint: 'heimdall fleet export writes such a file; a newer version may have written this one',
    cause,
  })
}

/** Refuses while an entry is in doubt. `host`: what a machine that becomes a member was called alone. */
export function setMembership(path: string, membership: Membership | undefined, host?: string): EntryPlace {
  return inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      const name = membership === undefined ? marked(sql)?.machine : host
      putLocally(sql, FORMER_NAMES_SETTING, JSON.stringify(namesIn(sql, name)))
      if (membership !== undefined) mark(sql, membership)
      else {
        const [pending] = pendingIn(sql)
        if (pending !== undefined)
          throw new HeimdallError('OUTCOME_UNKNOWN', `what became of entry ${pending.id} is not known yet`, {
            hint: 'run any command when the engine is back: that settles it',
            details: { entry: pending.id },
          })
        sql.run(`DELETE FROM local_settings WHERE key = ? OR key GLOB ?`, FLEET_SETTING, `${FLEET_SETTING}:*`)
      }
      return placeOf(sql)
    }),
  )
}

/** Not one of the fleet's own settings: it outlives the mark of a create that has failed. */
const UNFINISHED_SETTING = 'unfinished-fleet'

/** The project that a create has begun on an engine, until it is finished there or gone. */
export function unfinishedFleet(path: string): string | undefined {
  const row = inDatabase(path, (db) =>
    new Statements(db).one('SELECT value FROM local_settings WHERE key = ?', UNFINISHED_SETTING),
  )
  return row === undefined ? undefined : String(row['value'])
}

export function setUnfinishedFleet(path: string, project: string | undefined): void {
  inDatabase(path, (db) => {
    const sql = new Statements(db)
    if (project === undefined) sql.run('DELETE FROM local_settings WHERE key = ?', UNFINISHED_SETTING)
    else sql.run('INSERT OR REPLACE INTO local_settings (key, value) VALUES (?, ?)', UNFINISHED_SETTING, project)
  })
}

/** The engine has all of it: texts beside the log too, and it was heard. */
export function finishFleet(path: string, now: Moment): void {
  inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      sql.run('DELETE FROM local_settings WHERE key = ?', UNFINISHED_SETTING)
      sql.run('DELETE FROM local_annex')
      noteHeard(sql, now)
    }),
  )
}

/** Texts beside the log of a machine alone, all of them at once; whoever is in a fleet has none here. */
export function setLocalAnnex(path: string, texts: readonly CarriedText[], wallMs: number): void {
  inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      sql.run('DELETE FROM local_annex')
      for (const text of texts) layLocally(sql, text, wallMs)
    }),
  )
}

function mark(sql: Statements, membership: Membership): void {
  putLocally(sql, FLEET_SETTING, JSON.stringify(membership))
}

function putLocally(sql: Statements, key: string, value: string): void {
  sql.run(
    'INSERT INTO local_settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2',
    key,
    value,
  )
}

function localIn(sql: Statements, key: string): unknown {
  const row = sql.one('SELECT value FROM local_settings WHERE key = ?', key)
  return row === undefined ? undefined : JSON.parse(String(row['value']))
}

const marked = (sql: Statements): Membership | undefined => localIn(sql, FLEET_SETTING) as Membership | undefined

/** A copy that was brought here from another member: what is local in it is none of this machine's. */
export function isForeign(sql: Statements, own: Membership | undefined): boolean {
  const member = marked(sql)?.member
  return member !== undefined && member !== own?.member
}

/** What this machine has been called until now, the name that it gives up first. */
function namesIn(sql: Statements, givenUp: string | undefined): string[] {
  const names = [givenUp ?? [], (localIn(sql, FORMER_NAMES_SETTING) as string[] | undefined) ?? []].flat()
  return [...new Set(names)].slice(0, FLEET_NAMES_KEPT)
}

/** For people: where this copy stands, and what of it is on its way. */
export function placeIn(path: string): { readonly at: EntryPlace; readonly pending: string | undefined } {
  return inDatabase(path, (db) => {
    const sql = new Statements(db)
    return { at: placeOf(sql), pending: pendingIn(sql)[0]?.id }
  })
}

/** The newest of this machine's entries, oldest first: to find out which of them an engine has lost. */
export function lastPlaces(path: string): (EntryPlace & { readonly by: string | null })[] {
  return inDatabase(path, (db) =>
    new Statements(db)
      .all('SELECT seq, id, haid FROM entries ORDER BY seq DESC LIMIT ?', FLEET_PLACES_COMPARED)
      .map(({ seq, id, haid }) => ({ seq: Number(seq), id: String(id), by: haid === null ? null : String(haid) }))
      .toReversed(),
  )
}

export function inDatabase<T>(path: string, act: (db: Database) => T): T {
  const db = openDatabase(path, { migrations: MIGRATIONS })
  try {
    return act(db)
  } finally {
    db.close()
  }
}
