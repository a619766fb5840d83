// All entries of a store put into an empty one, by nothing but SQL, and what the two have to have in common.
import { join } from 'node:path'
import type { Entry, Row } from '../../src/coordination/log-entry.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { type Database, openDatabase } from '../../src/storage/sqlite.ts'
import { temporaryFolder } from '../support/project.ts'

/** Written out here: a table that the product forgets to share must be missed. */
const SHARED = [
  'settings',
  'agents',
  'claims',
  'notes',
  'incursions',
  'tickets',
  'tasks',
  'contracts',
  'workers',
  'attempts',
  'token_reservations',
  'assignments',
] as const
const KEYS: Readonly<Record<string, string>> = { tickets: 'ticket' }

export function replay(entries: readonly Entry[]): Record<string, Row[]> {
  const db = openDatabase(join(temporaryFolder(), 'replica.db'), { migrations: MIGRATIONS })
  try {
    db.exec('PRAGMA foreign_keys = ON')
    db.transaction(() => {
      for (const { puts, events } of entries) {
        for (const put of puts)
          if ('removed' in put) db.prepare(`DELETE FROM ${put.table} WHERE ${KEYS[put.table]} = ?`).run(put.removed)
          else upsert(db, put.table, put.row)
        for (const { seq, id, type } of events)
          db.prepare(
            `INSERT INTO events (seq, id, type, actor_kind, wall_ms, payload, origin) VALUES (?, ?, ?, 'system', 0, '{}', '')`,
          ).run(seq, id, type)
      }
    })
    return sharedTables(db)
  } finally {
    db.close()
  }
}

function upsert(db: Database, table: string, row: Row): void {
  const columns = Object.keys(row)
  const [key = ''] = (
    db.prepare(`SELECT name FROM pragma_table_info(?) WHERE pk = 1`).all(table) as { name: string }[]
  ).map(({ name }) => name)
  db.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ON CONFLICT (${key}) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
  ).run(...Object.values(row))
}

/** Every row of every shared table, and which events there are. */
export function sharedTables(db: Database): Record<string, Row[]> {
  const rows = (sql: string): Row[] => db.prepare(sql).all() as Row[]
  return {
    ...Object.fromEntries(SHARED.map((table) => [table, rows(`SELECT * FROM ${table} ORDER BY 1`)])),
    events: rows('SELECT seq, id, type FROM events ORDER BY seq'),
  }
}
