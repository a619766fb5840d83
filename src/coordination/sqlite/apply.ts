// Entries of a fleet put into this machine's copy: rows as they were made elsewhere, never the calls that made them.
import { HeimdallError } from '../../errors.ts'
import { isObject } from '../../plain-object.ts'
import { printable } from '../../ids.ts'
import { isMisfit } from '../../storage/sqlite-errors.ts'
import { FLEET_PUTS_KEPT } from '../../limits.ts'
import type { Scope } from '../../scopes/scope.ts'
import { ORCHESTRATOR_SETTING, orchestratorSign, workerSign } from '../dispatched.ts'
import { type Author, type Put, type Row, SHARED_TABLES } from '../log-entry.ts'
import { sessionSetting } from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { LoggedEntry, EntryPlace } from '../shared-log.ts'
import { appendEntry, type EntryStamp } from './entries.ts'
import type { EntryDraft } from './entry-draft.ts'
import { pendingIn, removePending } from './pending.ts'
import { fitsTable, isCountable, isRow, isValue } from './row-fits.ts'
import type { Statements } from './statements.ts'

/** An entry as it stands in the log of a fleet, besides its number and id. */
interface Body {
  readonly wall_ms: number
  readonly author: Author
  readonly puts: readonly Put[]
  /** Rows of the table of events, with their numbers. */
  readonly events: readonly Row[]
}

/** The text of what a change has put, taken before it is rolled back. */
export function bodyOf(sql: Statements, draft: EntryDraft, { wallMs, by }: Omit<EntryStamp, 'id'>): string {
  const { firstEvent, lastEvent } = draft
  const body: Body = {
    wall_ms: wallMs,
    author: { haid: draft.haid, ...by },
    puts: draft.puts,
    events:
      firstEvent === null
        ? []
        : sql.all('SELECT * FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq', firstEvent, lastEvent),
  }
  return JSON.stringify(body)
}

export function placeOf(sql: Statements): EntryPlace {
  const row = sql.one('SELECT seq, id FROM entries ORDER BY seq DESC LIMIT 1')
  return row === undefined ? { seq: 0, id: '' } : { seq: Number(row['seq']), id: String(row['id']) }
}

/**
 * In a transaction of the caller's. What is there already is passed over, so it does not matter who brings an entry
 * first. One that a process of this machine has sent is settled with it: what this machine alone knows of it was laid down
 * beside it, and is not seen from outside.
 */
export function applyEntries(sql: Statements, entries: readonly LoggedEntry[], now: Moment): void {
  let { seq: at } = placeOf(sql)
  const pending = new Map(pendingIn(sql).map((sent) => [sent.id, sent]))
  for (const entry of entries) {
    const mine = pending.get(entry.id)
    if (mine !== undefined) removePending(sql, entry.id)
    if (entry.seq <= at) {
      const there = sql.one('SELECT id FROM entries WHERE seq = ?', entry.seq)
      if (there !== undefined && there['id'] !== entry.id) throw forked(entry.seq)
      continue
    }
    if (entry.seq !== at + 1)
      throw new HeimdallError('INTERNAL', `entry ${entry.seq} came after entry ${at}`, {
        hint: 'run the command again',
      })
    try {
      applyNext(sql, entry, now, mine !== undefined)
    } catch (error) {
      // Rows that do not fit each other: what keeps them apart is the database, with words of its own.
      throw isMisfit(error) ? noEntry(entry.seq, error) : error
    }
    for (const write of mine?.local ?? []) sql.run(...write)
    at = entry.seq
  }
}

function applyNext(sql: Statements, entry: LoggedEntry, now: Moment, isMine: boolean): void {
  const body = bodyIn(entry)
  for (const put of body.puts) {
    // Its own were decided here.
    if (!isMine && !('removed' in put) && !fitsTable(put.table, put.row)) throw noEntry(entry.seq)
    applyPut(sql, put, now, isMine)
  }
  if (!isMine && !body.events.every((row) => fitsTable('events', row))) throw noEntry(entry.seq)
  for (const row of body.events) sql.run(putsOf(sql, 'events', undefined, Object.keys(row)), ...Object.values(row))
  const number = (row: Row | undefined): number | null => (row === undefined ? null : Number(row['seq']))
  appendEntry(
    sql,
    {
      haid: body.author.haid,
      puts: body.puts,
      firstEvent: number(body.events[0]),
      lastEvent: number(body.events.at(-1)),
    },
    { id: entry.id, wallMs: body.wall_ms, by: body.author },
    entry.seq,
  )
  if (!isMine) sightSession(sql, body.author)
}

/** A member can write any text: what is no entry stops the copy here, with words, and is never skipped. */
function bodyIn({ seq, body: text }: LoggedEntry): Body {
  try {
    const body: unknown = JSON.parse(text)
    if (isBody(body)) return body
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw noEntry(seq)
}

function isBody(body: unknown): body is Body {
  if (!isObject(body)) return false
  const { wall_ms: wallMs, author, puts, events } = body
  return (
    typeof wallMs === 'number' &&
    isCountable(wallMs) &&
    isObject(author) &&
    [author['haid'], author['sessionId'], author['runId']].every((name) => name === null || typeof name === 'string') &&
    Array.isArray(puts) &&
    puts.every(isPut) &&
    Array.isArray(events) &&
    events.every((row) => isRow('events', row))
  )
}

function isPut(put: unknown): boolean {
  if (!isObject(put) || typeof put['table'] !== 'string') return false
  const { table, row, removed } = put
  // Of a table that a later version has, nothing is known but that.
  if (!Object.hasOwn(SHARED_TABLES, table)) return true
  return 'removed' in put ? isValue(removed) : isRow(table, row)
}

function noEntry(seq: number, cause?: unknown): HeimdallError {
  return new HeimdallError(
    'STORE_CORRUPT',
    `entry ${seq} of the fleet's log is none that a version of Heimdall has written`,
    {
      hint: 'somebody with the join line has put it there; heimdall fleet leave --offline goes on alone with what stands before it',
      details: { seq },
      cause,
    },
  )
}

function applyPut(sql: Statements, put: Put, now: Moment, isMine: boolean): void {
  const { table } = put
  if (!Object.hasOwn(SHARED_TABLES, table)) throw unknown(`a table ${printable(table)}`)
  const key = SHARED_TABLES[table]
  if ('removed' in put) {
    sql.run(`DELETE FROM ${table} WHERE ${key} = ?`, put.removed)
    if (table === 'tickets') sql.run('DELETE FROM local_tickets WHERE ticket = ?', put.removed)
    return
  }
  const { row } = put
  putRow(sql, table, key, row)
  if (table === 'claims') indexClaim(sql, row)
  if (!isMine) sightRow(sql, table, row, now)
}

/** Inserts, or replaces what has the same key; columns that are not known here are no reason to guess. */
export function putRow(sql: Statements, table: string, key: string, row: Row): void {
  sql.run(putsOf(sql, table, key, Object.keys(row)), ...Object.values(row))
}

/** By table and columns: entries have the same few, and a copy applies those of all machines. */
const knownPuts = new Map<string, string>()

function putsOf(sql: Statements, table: string, key: string | undefined, columns: readonly string[]): string {
  const name = `${table} ${key ?? ''} ${columns.join()}`
  const known = knownPuts.get(name)
  if (known !== undefined) return known
  const others = columns.filter((column) => column !== key)
  const onConflict =
    key === undefined
      ? ''
      : ` ON CONFLICT (${key}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`
  const made = insertInto(sql, table, columns) + onConflict
  if (knownPuts.size < FLEET_PUTS_KEPT) knownPuts.set(name, made)
  return made
}

/** Where a claim's scopes lie, for whoever looks for what overlaps. */
export function indexClaim(sql: Statements, row: Row): void {
  const epoch = Number(row['epoch'])
  if (row['state'] !== 'active') {
    sql.run('DELETE FROM bases WHERE epoch = ?', epoch)
    return
  }
  for (const base of new Set((JSON.parse(String(row['scopes'])) as Scope[]).map((scope) => scope.base)))
    sql.run('INSERT OR IGNORE INTO bases (base, epoch) VALUES (?, ?)', base, epoch)
}

/**
 * First sight of what another machine has made: from here on silence and age are counted by this machine's own clock,
 * and by the engine's as soon as that tells of a sign. No wall clock of another machine is believed.
 */
export function sightRow(sql: Statements, table: string, row: Row, now: Moment): void {
  const who = signOf(table, row)
  if (who !== undefined)
    sql.run(
      `INSERT OR IGNORE INTO local_agents
         (haid, beat_count, beat_boot, beat_mono_ms, beat_wall_ms, seen_boot, seen_count, seen_mono_ms, seen_age_ms)
       VALUES (?, 0, '', 0, ?, ?, 0, ?, 0)`,
      who,
      now.wallMs,
      now.boot,
      now.monoMs,
    )
  else if (table === 'claims')
    sql.run(
      `INSERT INTO local_claims (epoch, worktree, read_wall_ms, granted_boot, granted_mono_ms) VALUES (?, '', ?, ?, ?)
       ON CONFLICT (epoch) DO UPDATE SET read_wall_ms = excluded.read_wall_ms, granted_boot = excluded.granted_boot,
         granted_mono_ms = excluded.granted_mono_ms WHERE read_wall_ms <> excluded.read_wall_ms`,
      row['epoch'] ?? null,
      row['granted_wall_ms'] ?? null,
      now.boot,
      now.monoMs,
    )
  else if (table === 'tickets')
    sql.run(
      'INSERT OR IGNORE INTO local_tickets (ticket, refreshed_boot, refreshed_mono_ms, refreshed_wall_ms) VALUES (?, ?, ?, ?)',
      row['ticket'] ?? null,
      now.boot,
      now.monoMs,
      now.wallMs,
    )
}

/** Where an agent elsewhere can be looked at. */
function sightSession(sql: Statements, { haid, sessionId }: Author): void {
  if (haid === null || sessionId === null) return
  sql.run(
    `INSERT INTO local_settings (key, value) VALUES (?1, ?2)
     ON CONFLICT (key) DO UPDATE SET value = ?2 WHERE value <> ?2`,
    sessionSetting(haid),
    sessionId,
  )
}

/** Whose signs of life the row makes interesting. */
function signOf(table: string, row: Row): string | undefined {
  if (table === 'agents') return String(row['haid'])
  if (table === 'workers') return workerSign(String(row['worker_id']))
  const isLease = table === 'settings' && row['key'] === ORCHESTRATOR_SETTING && row['value'] !== ''
  return isLease
    ? orchestratorSign(String((JSON.parse(String(row['value'])) as { holder: unknown }).holder))
    : undefined
}

const columnsOf = new Map<string, ReadonlySet<string>>()

/** Names of columns come from another machine, and go into a statement: only those that the table has. */
function insertInto(sql: Statements, table: string, columns: readonly string[]): string {
  let known = columnsOf.get(table)
  if (known === undefined) {
    known = new Set(sql.all('SELECT name FROM pragma_table_info(?)', table).map((column) => String(column['name'])))
    columnsOf.set(table, known)
  }
  const stranger = columns.find((column) => !known.has(column))
  if (stranger !== undefined) throw unknown(`a column ${printable(stranger)} of ${table}`)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

function unknown(what: string): HeimdallError {
  return new HeimdallError('FLEET_NEWER', `the fleet's log has ${what}, which is not known here`, {
    hint: 'update Heimdall on this machine',
  })
}

export function forked(seq: number): HeimdallError {
  return new HeimdallError('STORE_FORKED', `entry ${seq} of the fleet's log is not the one that this machine has`, {
    hint: 'heimdall fleet status lists what was lost; heimdall fleet join --rebuild takes the engine’s state',
    details: { seq },
  })
}
