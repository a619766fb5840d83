// Opening a SQLite database of ours: WAL, bounded waits, migrations in order, and a refusal to touch what a newer version wrote.
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { DatabaseSync } from '@photostructure/sqlite'
import { HeimdallError } from '../errors.ts'
import { SQLITE_BUSY_MS } from '../limits.ts'
import { ensureFolder } from './atomic-file.ts'

export type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>

export interface Database {
  prepare(sql: string): Statement
  exec(sql: string): void
  /** Runs `act` in one IMMEDIATE transaction: the write lock is taken first, so what was read is still true at the commit. */
  transaction<T>(act: () => T): T
  close(): void
}

export interface DatabaseOptions {
  /** Entry n takes the schema from version n to n + 1; entries are never edited once released. */
  readonly migrations: readonly string[]
  readonly readOnly?: boolean
}

export function openDatabase(path: string, options: DatabaseOptions): Database {
  if (options.readOnly !== true) ensureFolder(dirname(path))
  const db = refuseCorrupt(path, () => {
    const opened = new (driver().DatabaseSync)(path, { readOnly: options.readOnly ?? false, timeout: SQLITE_BUSY_MS })
    opened.exec(`PRAGMA busy_timeout = ${SQLITE_BUSY_MS}`)
    if (options.readOnly !== true)
      opened.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    return opened
  })
  const database: Database = {
    prepare: (sql) => db.prepare(sql),
    exec: (sql) => db.exec(sql),
    transaction(act) {
      db.exec('BEGIN IMMEDIATE')
      try {
        const result = act()
        db.exec('COMMIT')
        return result
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
    },
    close: () => db.close(),
  }
  try {
    refuseCorrupt(path, () => migrate(path, database, options))
  } catch (error) {
    db.close()
    throw error
  }
  return database
}

function migrate(path: string, db: Database, { migrations, readOnly }: DatabaseOptions): void {
  const version = (): number => (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  if (version() > migrations.length)
    throw new HeimdallError(
      'STORE_NEWER',
      `${path} has schema version ${version()}, this program knows ${migrations.length}`,
      {
        hint: 'update Heimdall',
      },
    )
  if (version() === migrations.length || readOnly === true) return
  db.transaction(() => {
    // Read again under the write lock: another process may have migrated in between.
    for (let from = version(); from < migrations.length; from += 1) db.exec(migrations[from] ?? '')
    db.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function refuseCorrupt<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/malformed|not a database|corrupt/i.test(message))
      throw new HeimdallError('STORE_CORRUPT', `${path} is not a readable database: ${message}`, {
        hint: 'move it aside and run the command again; exports beside the project are untouched',
        cause: error,
      })
    if (/unable to open|readonly|permission/i.test(message))
      throw new HeimdallError('STORE_UNREADABLE', `cannot open ${path}: ${message}`, {
        hint: 'check its owner and permissions',
        cause: error,
      })
    if (/database is locked|busy/i.test(message))
      throw new HeimdallError('STORE_BUSY', `${path} was locked for ${SQLITE_BUSY_MS} ms`, {
        hint: 'run the command again',
        cause: error,
      })
    if (/full/i.test(message)) throw new HeimdallError('STORE_FULL', `no space left to write ${path}`, { cause: error })
    throw error
  }
}

let loaded: { DatabaseSync: typeof DatabaseSync } | undefined

/** Loaded on first use: most commands need no database. */
function driver(): { DatabaseSync: typeof DatabaseSync } {
  loaded ??= createRequire(import.meta.url)('@photostructure/sqlite') as { DatabaseSync: typeof DatabaseSync }
  return loaded
}
