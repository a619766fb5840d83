// The coordination store on SQLite: one database per repository, each change one IMMEDIATE transaction.
import { statSync } from 'node:fs'
import { baseQuery } from '../scopes/base.ts'
import type { Scope } from '../scopes/scope.ts'
import { onDisk } from '../storage/faults.ts'
import { type Database, openDatabase, type Statement } from '../storage/sqlite.ts'
import { PARSED_CLAIMS_KEPT } from '../limits.ts'
import { KeptReads } from './kept-reads.ts'
import {
  agentFrom,
  agentRow,
  claimFrom,
  claimRow,
  eventFrom,
  eventRow,
  noteFrom,
  noteRow,
  type Row,
  taskFrom,
} from './rows.ts'
import { MIGRATIONS } from './schema.ts'
import type { Claim, Reader, Store, Writer } from './store.ts'

type Value = string | number | null

/** Opens or makes the store. With `readOnly` the answer is nothing when there is no store yet: then nobody holds anything. */
export function openSqliteStore(path: string): Store
export function openSqliteStore(path: string, options: { readonly readOnly: true }): Store | undefined
export function openSqliteStore(path: string, options: { readonly readOnly?: true } = {}): Store | undefined {
  if (options.readOnly === true && !isStoreThere(path)) return undefined
  const db = openCurrent(path, options)
  const rows = createRows(db)
  // Prepared once: the driver parses the text of `exec` on every call, which is a fifth of a short read.
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  const dataVersion = db.prepare('PRAGMA data_version')
  const version = (): number => (dataVersion.get() as { data_version: number }).data_version
  const kept = new KeptReads({
    rows,
    // Deferred: all reads of the transaction see the state of the first one.
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    version,
  })
  return {
    write(act) {
      try {
        return db.transaction(() => act(rows))
      } finally {
        kept.forget()
      }
    },
    read: (act) => kept.read(act),
    version,
    close: () => db.close(),
  }
}

/** A store that may not be looked for is not the same as none: whoever cannot see it must not be told that nobody holds anything. */
export function isStoreThere(path: string): boolean {
  return onDisk(path, () => statSync(path, { throwIfNoEntry: false }) !== undefined)
}

/** A store that an older version left behind, or a crash right after its making, has to be migrated before it can be read. */
function openCurrent(path: string, options: { readonly readOnly?: true }): Database {
  const db = openDatabase(path, { migrations: MIGRATIONS, ...options })
  if (options.readOnly !== true) return db
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
  if (version === MIGRATIONS.length) return db
  db.close()
  return openDatabase(path, { migrations: MIGRATIONS })
}

function createRows(db: Database): Writer {
  const prepared = new Map<string, Statement>()
  const statement = (sql: string): Statement => {
    const known = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, known)
    return known
  }
  const one = (sql: string, ...values: Value[]): Row | undefined => statement(sql).get(...values) as Row | undefined
  const all = (sql: string, ...values: Value[]): Row[] => statement(sql).all(...values) as Row[]
  const run = (sql: string, ...values: Value[]): number => statement(sql).run(...values).changes
  /** Inserts, or replaces what has the same key (the first column). */
  const put = (table: string, row: Row): void => {
    const columns = Object.keys(row)
    const [key] = columns
    const updates = columns.slice(1).map((column) => `${column} = excluded.${column}`)
    run(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT (${key}) DO UPDATE SET ${updates.join(', ')}`,
      ...Object.values(row),
    )
  }
  const scopesOf = createScopeCache()
  const claimOf = (row: Row): Claim => claimFrom(row, scopesOf(row))

  const reader: Reader = {
    agent: (haid) => map(one('SELECT * FROM agents WHERE haid = ?', haid), agentFrom),
    agentById: (agentId) => map(one('SELECT * FROM agents WHERE agent_id = ?', agentId), agentFrom),
    agents: () => all('SELECT * FROM agents ORDER BY agent_id').map(agentFrom),
    agentsOfOtherBoots: (boot) =>
      all('SELECT * FROM agents WHERE beat_boot < ? OR beat_boot > ?', boot, boot).map(agentFrom),
    agentsOfTree: (tree) => all('SELECT * FROM agents WHERE session_tree = ? ORDER BY agent_id', tree).map(agentFrom),
    claim: (claimId) => map(one('SELECT * FROM claims WHERE claim_id = ?', claimId), claimOf),
    claims({ holder, state, task }) {
      const where = conditions({ holder, state, task })
      return all(`SELECT * FROM claims ${where.sql} ORDER BY epoch`, ...where.values).map(claimOf)
    },
    candidates(bases) {
      const queries = bases.map(baseQuery)
      // One statement however many bases: a commit asks for a thousand.
      return all(
        `SELECT * FROM claims WHERE epoch IN (
           SELECT epoch FROM bases WHERE base IN (SELECT value FROM json_each(?))
           UNION
           SELECT epoch FROM json_each(?) AS below CROSS JOIN bases
           WHERE base >= below.value ->> 0 AND base < below.value ->> 1
         ) ORDER BY epoch`,
        JSON.stringify([...new Set(queries.flatMap(({ atOrAbove }) => atOrAbove))]),
        JSON.stringify(queries.map(({ from, to }) => [from, to])),
      ).map(claimOf)
    },
    events({ afterSeq, types, claimId, agent, task, last }) {
      const where = conditions({ claim_id: claimId, task })
      const extra: string[] = []
      const values = [...where.values]
      if (afterSeq !== undefined) {
        extra.push('seq > ?')
        values.push(afterSeq)
      }
      if (types !== undefined) {
        extra.push('type IN (SELECT value FROM json_each(?))')
        values.push(JSON.stringify(types))
      }
      if (agent !== undefined) {
        extra.push('(actor = ? OR to_agent = ?)')
        values.push(agent, agent)
      }
      const sql = [where.sql, ...extra].filter((part) => part !== '').join(' AND ')
      const whereSql = sql === '' || sql.startsWith('WHERE') ? sql : `WHERE ${sql}`
      if (last === undefined) return all(`SELECT * FROM events ${whereSql} ORDER BY seq`, ...values).map(eventFrom)
      return all(`SELECT * FROM events ${whereSql} ORDER BY seq DESC LIMIT ?`, ...values, last)
        .map(eventFrom)
        .toReversed()
    },
    knownEvents: (ids) =>
      new Set(
        all('SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids)).map((row) =>
          String(row['id']),
        ),
      ),
    lastSeq: () => Number(one('SELECT coalesce(max(seq), 0) AS seq FROM events')?.['seq']),
    note: (messageId) => map(one('SELECT * FROM notes WHERE message_id = ?', messageId), noteFrom),
    notes({ to, state, task, unackedOnly, limit }) {
      const where = conditions({ to_agent: to, state, task })
      const unacked =
        unackedOnly === true ? `${where.sql === '' ? 'WHERE' : 'AND'} requires_ack = 1 AND state <> 'acked'` : ''
      return all(
        `SELECT * FROM notes ${where.sql} ${unacked} ORDER BY rowid DESC LIMIT ?`,
        ...where.values,
        limit ?? -1,
      ).map(noteFrom)
    },
    incursion: (pair) =>
      map(one('SELECT * FROM incursions WHERE pair = ?', pair), (row) => ({
        pair,
        since: {
          boot: String(row['since_boot']),
          monoMs: Number(row['since_mono_ms']),
          wallMs: Number(row['since_wall_ms']),
        },
        count: Number(row['count']),
        eventId: String(row['event_id']),
      })),
    incursionCounts: (eventIds) =>
      new Map(
        all(
          'SELECT event_id, count FROM incursions WHERE event_id IN (SELECT value FROM json_each(?))',
          JSON.stringify(eventIds),
        ).map((row) => [String(row['event_id']), Number(row['count'])]),
      ),
    tickets: () =>
      all('SELECT * FROM tickets ORDER BY ticket').map((row) => ({
        ticket: Number(row['ticket']),
        holder: String(row['holder']),
        scopes: JSON.parse(String(row['scopes'])) as Scope[],
        refreshed: {
          boot: String(row['refreshed_boot']),
          monoMs: Number(row['refreshed_mono_ms']),
          wallMs: Number(row['refreshed_wall_ms']),
        },
      })),
    task: (taskId) => map(one('SELECT * FROM tasks WHERE task_id = ?', taskId), taskFrom),
    tasks({ owner, state }) {
      const where = conditions({ owner, state })
      return all(`SELECT * FROM tasks ${where.sql} ORDER BY started_ms, task_id`, ...where.values).map(taskFrom)
    },
    setting: (key) => map(one('SELECT value FROM settings WHERE key = ?', key), (row) => String(row['value'])),
  }

  return {
    ...reader,
    putAgent: (agent) => put('agents', agentRow(agent)),
    beat: (haid, at) =>
      void run(
        'UPDATE agents SET beat_count = beat_count + 1, beat_boot = ?, beat_mono_ms = ?, beat_wall_ms = ? WHERE haid = ?',
        at.boot,
        at.monoMs,
        at.wallMs,
        haid,
      ),
    addClaim(claim) {
      const row = claimRow(claim)
      const columns = Object.keys(row)
      const { lastInsertRowid } = statement(
        `INSERT INTO claims (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      ).run(...Object.values(row))
      const epoch = Number(lastInsertRowid)
      for (const base of new Set(claim.scopes.map((scope) => scope.base)))
        run('INSERT INTO bases (base, epoch) VALUES (?, ?)', base, epoch)
      return { ...claim, epoch }
    },
    putClaim(claim) {
      const { scopes: _, ...row } = claimRow(claim)
      const columns = Object.keys(row)
      run(
        `UPDATE claims SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE epoch = ?`,
        ...Object.values(row),
        claim.epoch,
      )
      if (claim.state !== 'active') run('DELETE FROM bases WHERE epoch = ?', claim.epoch)
    },
    addEvent(event) {
      const row = eventRow(event)
      const columns = Object.keys(row)
      const { changes, lastInsertRowid } = statement(
        `INSERT INTO events (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`,
      ).run(...Object.values(row))
      return changes === 0 ? undefined : Number(lastInsertRowid)
    },
    putNote: (note) => put('notes', noteRow(note)),
    putIncursion: ({ pair, since, count, eventId }) =>
      put('incursions', {
        pair,
        since_boot: since.boot,
        since_mono_ms: since.monoMs,
        since_wall_ms: since.wallMs,
        count,
        event_id: eventId,
      }),
    addTicket({ holder, scopes, refreshed }) {
      const { lastInsertRowid } = statement(
        'INSERT INTO tickets (holder, scopes, refreshed_boot, refreshed_mono_ms, refreshed_wall_ms) VALUES (?, ?, ?, ?, ?)',
      ).run(holder, JSON.stringify(scopes), refreshed.boot, refreshed.monoMs, refreshed.wallMs)
      return Number(lastInsertRowid)
    },
    refreshTicket: (ticket, at) =>
      void run(
        'UPDATE tickets SET refreshed_boot = ?, refreshed_mono_ms = ?, refreshed_wall_ms = ? WHERE ticket = ?',
        at.boot,
        at.monoMs,
        at.wallMs,
        ticket,
      ),
    removeTicket: (ticket) => void run('DELETE FROM tickets WHERE ticket = ?', ticket),
    putTask: ({ taskId, owner, state, title, startedMs, endedMs, summary }) =>
      put('tasks', { task_id: taskId, owner, state, title, started_ms: startedMs, ended_ms: endedMs, summary }),
    putSetting: (key, value) => put('settings', { key, value }),
  }
}

function map<T>(row: Row | undefined, make: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : make(row)
}

/** `WHERE a = ? AND b = ?` of the values that are given. */
function conditions(wanted: Readonly<Record<string, string | undefined>>): { sql: string; values: Value[] } {
  const given = Object.entries(wanted).flatMap(([column, value]) =>
    value === undefined ? [] : [[column, value] as const],
  )
  return {
    sql: given.length === 0 ? '' : `WHERE ${given.map(([column]) => `${column} = ?`).join(' AND ')}`,
    values: given.map(([, value]) => value),
  }
}

/** Scopes of a claim never change, and comparing them compiles them: a long-lived process keeps the parsed ones, oldest out first. */
function createScopeCache(): (row: Row) => readonly Scope[] {
  const known = new Map<string, readonly Scope[]>()
  return (row) => {
    // By id and not by epoch: an epoch that was rolled back is given out again.
    const claimId = String(row['claim_id'])
    const cached = known.get(claimId)
    if (cached !== undefined) return cached
    const scopes = JSON.parse(String(row['scopes'])) as Scope[]
    if (known.size >= PARSED_CLAIMS_KEPT) known.delete(known.keys().next().value ?? claimId)
    known.set(claimId, scopes)
    return scopes
  }
}
