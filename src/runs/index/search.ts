// Questions to the index: which calls, or other events, by any of what is known of them.
import { SEARCH_WALK_FIRST, SEARCH_WALK_MAX } from '../../limits.ts'
import type { RunOrigin } from '../run-project.ts'
import type { EventFields } from './event-fields.ts'
import { leadOf, type Named, type Terms, termsOf } from './lead.ts'
import type { RunIndex } from './run-index.ts'
import { CALL_TYPE } from './index-schema.ts'
import { type IdRange, Texts } from './texts.ts'

/** All that is given must hold. Names may be patterns with `*`, `?` and `[…]`. */
export interface Search {
  readonly run?: string | undefined
  /** Of runs that it says yes to, unless `run` names one. */
  readonly ofOrigin?: ((origin: RunOrigin) => boolean) | undefined
  readonly agent?: string | undefined
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly decision?: string | undefined
  readonly rule?: string | undefined
  readonly reason?: string | undefined
  readonly status?: string | undefined
  readonly callId?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  /** Words, each of which must be in the arguments, the result, a message or a hint; their beginnings are enough. */
  readonly text?: string | undefined
  /** Calls unless told otherwise: `all`, or a type of events. */
  readonly type?: string | undefined
  readonly order: 'newest' | 'oldest'
  /** Nothing for all. */
  readonly limit?: number | undefined
  /** Behind this one, in the order asked for. */
  readonly after?: Pick<IndexEntry, 'id' | 'atMs'> | undefined
}

export interface RecordPlace {
  readonly at: number
  readonly bytes: number
}

/** A call, or an event that belongs to none: what was taken from its events. */
export interface IndexEntry extends Omit<EventFields, 'runId' | 'text' | 'isNewer'> {
  readonly id: number
  readonly runId: string
  readonly origin: RunOrigin
  /** Where its record is: the name of the run's folder. */
  readonly record: string
  /** Where its events stand; of another event than a call only the first. */
  readonly first: RecordPlace | null
  readonly decided: RecordPlace | null
  readonly ended: RecordPlace | null
}

type Row = Readonly<Record<string, number | null>> & {
  readonly run_id: string
  readonly haid: string | null
  readonly repo_path: string | null
  readonly name: string
  readonly call_id: string | null
}

const NAMES = ['agent', 'server', 'tool', 'decision', 'rule', 'reason', 'status'] as const

export function search(index: RunIndex, wanted: Search): IndexEntry[] {
  const query = queryOf(index, wanted)
  if (query === undefined) return []
  const texts = wanted.text === undefined ? undefined : new Texts(index, wanted.text)
  if (texts === undefined) return ask(index, query, wanted, wanted.limit ?? ALL)
  const few = texts.few(query.span)
  return few === undefined
    ? walk(index, query, wanted, texts)
    : ask(index, queryAmong(query, few), wanted, wanted.limit ?? ALL)
}

/** In the order asked for, until there are enough that have the words. They are in many entries, so that is soon. */
function walk(index: RunIndex, query: Query, wanted: Search, texts: Texts): IndexEntry[] {
  const limit = wanted.limit ?? Infinity
  const found: IndexEntry[] = []
  let { after } = wanted
  for (let size = SEARCH_WALK_FIRST; found.length < limit; size = Math.min(2 * size, SEARCH_WALK_MAX)) {
    const some = ask(index, query, { ...wanted, after }, size)
    const having = texts.among(some.map(({ id }) => id))
    found.push(...some.filter(({ id }) => having.has(id)))
    if (some.length < size) break
    after = some.at(-1)
  }
  return found.slice(0, limit)
}

/** Calls with a higher number than this one, in the order in which they came into the index. */
export function callsAfter(index: RunIndex, id: number, limit: number): IndexEntry[] {
  return byNumber(index, 'e.id > ?', id, limit)
}

/** Those of the numbers that are calls. */
export function callsOf(index: RunIndex, ids: readonly number[]): IndexEntry[] {
  return byNumber(index, 'e.id IN (SELECT value FROM json_each(?))', JSON.stringify(ids), ids.length)
}

/** Number of the last entry; 0 in an empty index. */
export function lastEntry(index: RunIndex): number {
  return (index.db.prepare('SELECT max(id) AS id FROM entries').get() as { id: number | null }).id ?? 0
}

function byNumber(index: RunIndex, term: string, value: string | number, limit: number): IndexEntry[] {
  const sql = `SELECT e.*, r.run_id, r.haid, r.repo_path, c.name FROM entries e CROSS JOIN runs r ON r.id = e.run CROSS JOIN records c ON c.id = r.record
    WHERE ${term} AND e.type = ${CALL_TYPE.id} ORDER BY e.id LIMIT ?`
  return (index.db.prepare(sql).all(value, limit) as Row[]).map((row) => entryOf(index, row))
}

/** For a look at what SQLite makes of it. */
export function planOf(index: RunIndex, wanted: Search): string[] {
  const query = queryOf(index, wanted)
  if (query === undefined) return []
  const { sql, values } = sqlOf(query, wanted, wanted.limit ?? ALL)
  const rows = index.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
  return rows.map(({ detail }) => detail)
}

/** Of SQLite: no limit. */
const ALL = -1

interface Query extends Terms {
  /** Which index to read, in the words of SQLite; nothing where that is its own choice. */
  readonly lead: string
  /** Where the entries of the wanted runs are. */
  readonly span: IdRange | undefined
}

/** Nothing when a name was never seen: then nothing has it. */
function queryOf(index: RunIndex, wanted: Search): Query | undefined {
  const named = new Map<Named, readonly number[]>()
  const runs = wanted.run === undefined ? runsOf(index, wanted.ofOrigin) : runsNamed(index, wanted.run)
  if (runs !== undefined) named.set('run', runs.ids)
  for (const name of NAMES) {
    const text = wanted[name]
    if (text !== undefined) named.set(name, wordsNamed(index, text))
  }
  const type = wanted.type ?? CALL_TYPE.text
  if (type !== 'all') named.set('type', type === CALL_TYPE.text ? [CALL_TYPE.id] : wordsNamed(index, type))
  if ([...named.values()].some((ids) => ids.length === 0)) return undefined
  const { terms, values } = termsOf(named)
  const time = timeOf(wanted)
  const call =
    wanted.callId === undefined ? { terms: [], values: [] } : { terms: ['e.call_id = ?'], values: [wanted.callId] }
  const lead = wanted.callId === undefined ? leadOf(index, named, time) : 'entries_by_call'
  return {
    terms: [...terms, ...time.terms, ...call.terms],
    values: [...values, ...time.values, ...call.values],
    lead: lead === undefined ? '' : `INDEXED BY ${lead}`,
    span: runs?.span,
  }
}

function timeOf({ sinceMs, untilMs }: Search): Terms {
  const since = sinceMs === undefined ? [] : [sinceMs]
  const until = untilMs === undefined ? [] : [untilMs]
  return {
    terms: [...since.map(() => 'e.at_ms >= ?'), ...until.map(() => 'e.at_ms < ?')],
    values: [...since, ...until],
  }
}

/** Among entries whose numbers are known. */
function queryAmong({ terms, values, span }: Query, ids: readonly number[]): Query {
  return {
    terms: [...terms, 'e.id IN (SELECT value FROM json_each(?))'],
    values: [...values, JSON.stringify(ids)],
    lead: 'NOT INDEXED',
    span,
  }
}

function ask(index: RunIndex, query: Query, wanted: Search, limit: number): IndexEntry[] {
  const { sql, values } = sqlOf(query, wanted, limit)
  return (index.db.prepare(sql).all(...values) as Row[]).map((row) => entryOf(index, row))
}

function sqlOf(
  query: Query,
  { order, after }: Search,
  limit: number,
): { readonly sql: string; readonly values: (string | number)[] } {
  const isNewest = order === 'newest'
  const direction = isNewest ? 'DESC' : 'ASC'
  const terms = [...query.terms, ...(after === undefined ? [] : [`(e.at_ms, e.id) ${isNewest ? '<' : '>'} (?, ?)`])]
  // CROSS JOIN: entries come first, in the order of one of their indexes, and the rest is looked up for the few that are shown.
  const sql = `SELECT e.*, r.run_id, r.haid, r.repo_path, c.name FROM entries e ${query.lead}
    CROSS JOIN runs r ON r.id = e.run CROSS JOIN records c ON c.id = r.record
    ${terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`} ORDER BY e.at_ms ${direction}, e.id ${direction} LIMIT ?`
  return { sql, values: [...query.values, ...(after === undefined ? [] : [after.atMs, after.id]), limit] }
}

const isPattern = (text: string): boolean => /[*?[]/.test(text)

function wordsNamed(index: RunIndex, text: string): readonly number[] {
  if (isPattern(text)) return index.words.matching(text)
  const id = index.words.find(text)
  return id === undefined ? [] : [id]
}

function runsNamed(index: RunIndex, text: string): { readonly ids: readonly number[]; readonly span: IdRange } {
  const sql = `SELECT id, first_entry AS first, last_entry AS last FROM runs WHERE run_id = ?${isPattern(text) ? ' OR run_id GLOB ?' : ''}`
  return spanOf(index.db.prepare(sql).all(...(isPattern(text) ? [text, text] : [text])) as RunRow[])
}

type RunRow = { readonly id: number } & Partial<IdRange>

/** Undefined where all runs are wanted, so that the question is answered by another index. */
function runsOf(
  index: RunIndex,
  ofOrigin: Search['ofOrigin'],
): { readonly ids: readonly number[]; readonly span: IdRange } | undefined {
  if (ofOrigin === undefined) return undefined
  const sql = 'SELECT id, first_entry AS first, last_entry AS last, haid, repo_path AS repoPath FROM runs'
  const rows = index.db.prepare(sql).all() as (RunRow & RunOrigin)[]
  const wanted = rows.filter(ofOrigin)
  return wanted.length === rows.length ? undefined : spanOf(wanted)
}

function spanOf(rows: readonly RunRow[]): { readonly ids: readonly number[]; readonly span: IdRange } {
  const span = rows.reduce(
    ({ first, last }, row) => ({ first: Math.min(first, row.first ?? first), last: Math.max(last, row.last ?? last) }),
    { first: Infinity, last: 0 },
  )
  return { ids: rows.map(({ id }) => id), span }
}

function entryOf(index: RunIndex, row: Row): IndexEntry {
  const text = (column: string): string | null => index.words.textOf(row[column] ?? null)
  return {
    id: row['id'] as number,
    runId: row.run_id,
    origin: { haid: row.haid, repoPath: row.repo_path },
    record: row.name,
    atMs: row['at_ms'] as number,
    type: text('type') ?? '',
    callId: row.call_id,
    agent: text('agent'),
    server: text('server'),
    tool: text('tool'),
    decision: text('decision'),
    rule: text('rule'),
    reason: text('reason'),
    status: text('status'),
    latencyMs: row['latency_ms'] ?? null,
    first: placeOf(row['first_at'], row['first_bytes']),
    decided: placeOf(row['decision_at'], row['decision_bytes']),
    ended: placeOf(row['end_at'], row['end_bytes']),
  }
}

function placeOf(at: number | null | undefined, bytes: number | null | undefined): RecordPlace | null {
  return typeof at === 'number' && typeof bytes === 'number' ? { at, bytes } : null
}
