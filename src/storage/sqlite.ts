// Opening a SQLite database of ours: WAL, bounded waits, migrations in order, and a refusal to touch what a newer version wrote.
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { DatabaseSync } from '@photostructure/sqlite'
import { HeimdallError } from '../errors.ts'
import { SQLITE_BUSY_MS, SQLITE_WAL_BYTES_KEPT } from '../limits.ts'
import { ensureFolder, syncFolder } from './atomic-file.ts'
import { onDisk } from './faults.ts'
import { O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'
import { isBusy, onDatabase } from './sqlite-errors.ts'
import { stillPlace } from './still-database.ts'

type Connection = InstanceType<typeof DatabaseSync>

export type Statement = ReturnType<Connection['prepare']>

export interface Database {
  /** Takes 10 µs: a caller on a hot path keeps the statement. */
  prepare(sql: string): Statement
  exec(sql: string): void
  /**
   * Runs `act` in one IMMEDIATE transaction: the write lock is taken first, so what was read is still true at the
   * commit. When this returns, the transaction survives a power cut. `act` must be synchronous and must not nest.
   */
  transaction<T>(act: () => T): T
  /** Throws STORE_NEWER once a newer version has migrated the database. Every transaction asks by itself; whoever goes on reading has to. */
  refuseNewer(): void
  /** A full disk or an I/O error ends a transaction by itself; a second ROLLBACK would hide the first error. */
  readonly isInTransaction: boolean
  /** What `PRAGMA quick_check` finds wrong; nothing when the database is sound. Reads all of it: for doctor, not for every start. */
  problems(): string[]
  close(): void
}

export interface DatabaseOptions {
  /** Entry n takes the schema from version n to n + 1; entries are never edited once released. */
  readonly migrations: readonly string[]
  readonly readOnly?: boolean
  /** How long to wait for somebody else's transaction. */
  readonly busyMs?: number
}

export function openDatabase(path: string, options: DatabaseOptions): Database {
  if (options.readOnly !== true) {
    createPrivately(path)
    return open(path, path, options)
  }
  try {
    return open(path, path, options)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'STORE_UNREADABLE') throw error
    return openStill(path, options)
  }
}

/** What cannot be read at all fails here a second time, with the same words. */
function openStill(path: string, options: DatabaseOptions): Database {
  const place = stillPlace(path)
  try {
    return open(path, place.url, options, () => place.close())
  } catch (error) {
    place.close()
    throw error
  }
}

function open(path: string, place: string | URL, options: DatabaseOptions, onClose?: () => void): Database {
  const readOnly = options.readOnly === true
  const db = onDatabase(
    path,
    () => new (driver().DatabaseSync)(place, { readOnly, timeout: options.busyMs ?? SQLITE_BUSY_MS }),
  )
  const database = wrap(path, db, options.migrations.length, onClose)
  try {
    if (!readOnly) configure(database)
    migrate(database, options)
  } catch (error) {
    db.close()
    throw error
  }
  return database
}

function wrap(path: string, db: Connection, known: number, onClose: (() => void) | undefined): Database {
  const exec = (sql: string): void => onDatabase(path, () => db.exec(sql))
  const prepare = (sql: string): Statement =>
    guardStatement(
      path,
      onDatabase(path, () => db.prepare(sql)),
    )
  let userVersion: Statement | undefined
  const refuseNewer = (): void => {
    userVersion ??= prepare('PRAGMA user_version')
    const { user_version: seen } = userVersion.get() as { user_version: number }
    if (seen > known) throw newer(path, seen, known)
  }
  return {
    prepare,
    exec,
    refuseNewer,
    transaction(act) {
      exec('BEGIN IMMEDIATE')
      try {
        // Under the write lock: another process, perhaps of a newer version, may have migrated since it was opened.
        refuseNewer()
        const result = act()
        if (result instanceof Promise) throw new HeimdallError('INTERNAL', 'a transaction was given an async function')
        exec('COMMIT')
        return result
      } catch (error) {
        if (db.isTransaction) exec('ROLLBACK')
        throw error
      }
    },
    get isInTransaction() {
      return db.isTransaction
    },
    problems: () => quickCheck(path, db),
    close() {
      onDatabase(path, () => db.close())
      onClose?.()
    },
  }
}

/** A statement fails with the disk's errors too, long after it was prepared. */
function guardStatement(path: string, statement: Statement): Statement {
  for (const name of ['run', 'get', 'all'] as const) {
    const method = statement[name].bind(statement) as (...values: unknown[]) => unknown
    Object.defineProperty(statement, name, {
      value: (...values: unknown[]) => onDatabase(path, () => method(...values)),
    })
  }
  return statement
}

/** SQLite would make it readable for everybody, and follow a link planted at its path. */
function createPrivately(path: string): void {
  ensureFolder(dirname(path))
  onDisk(path, () => {
    const isNew = realFs.lstat(path) === undefined
    realFs.close(openPlainFile(realFs, path, O.O_RDWR | O.O_CREAT, 0o600))
    if (isNew) syncFolder(realFs, dirname(path))
  })
}

/** FULL: the log is flushed at each commit, so an acknowledged transaction survives a power cut; NORMAL would only promise it after the next checkpoint. */
function configure(db: Database): void {
  whileBusy(() => db.exec('PRAGMA journal_mode = WAL'))
  db.exec(`PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = ${SQLITE_WAL_BYTES_KEPT}`)
}

/** Changing the journal mode does not wait for the lock as all else does, so processes that make the database together would fail. */
function whileBusy(act: () => void): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let leftMs = SQLITE_BUSY_MS; ; leftMs -= 5)
    try {
      act()
      return
    } catch (error) {
      const cause = error instanceof HeimdallError ? error.cause : error
      if (!isBusy(cause) || leftMs <= 0) throw error
      Atomics.wait(cell, 0, 0, 5)
    }
}

function migrate(db: Database, { migrations, readOnly }: DatabaseOptions): void {
  const version = (): number => (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  db.refuseNewer()
  if (version() === migrations.length || readOnly === true) return
  db.transaction(() => {
    // Read again under the write lock: another process may have migrated in between.
    for (const step of migrations.slice(version())) db.exec(step)
    db.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function newer(path: string, seen: number, known: number): HeimdallError {
  return new HeimdallError('STORE_NEWER', `${path} has schema version ${seen}, this program knows ${known}`, {
    hint: 'update Heimdall',
  })
}

function quickCheck(path: string, db: Connection): string[] {
  const rows = onDatabase(path, () => db.prepare('PRAGMA quick_check').all()) as { quick_check: string }[]
  return rows.map(({ quick_check: finding }) => finding).filter((finding) => finding !== 'ok')
}

let loaded: { DatabaseSync: typeof DatabaseSync } | undefined

/** Loaded on first use: most commands need no database. */
function driver(): { DatabaseSync: typeof DatabaseSync } {
  loaded ??= createRequire(import.meta.url)('@photostructure/sqlite') as { DatabaseSync: typeof DatabaseSync }
  return loaded
}
