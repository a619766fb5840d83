// Opening a SQLite database of ours: WAL, bounded waits, migrations in order, and a refusal to touch what a newer version wrote.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from '@photostructure/sqlite'
import { systemClock } from '../clock.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { SQLITE_BUSY_MS, SQLITE_PAUSE_MS, SQLITE_QUEUE_MS, SQLITE_TRY_MS, SQLITE_WAL_BYTES_KEPT } from '../limits.ts'
import { checkClosedFolder } from '../own-folder.ts'
import { ensureFolder, syncFolder } from './atomic-file.ts'
import { onDisk } from './faults.ts'
import { O, realFs } from './fs.ts'
import { openOwnFile } from './plain-file.ts'
import { databaseError, isBusy, onDatabase } from './sqlite-errors.ts'
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
  /** The same, and then nothing of it has happened: what `act` returns is all that is left. */
  rehearse<T>(act: () => T): T
  /** A rehearsal in the middle of a transaction, which goes on from where it was. */
  rehearseWithin<T>(act: () => T): T
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
  /** How long in all, while one after the other commits; as long as `busyMs` where that is given. */
  readonly queueMs?: number
  /** Of a database that is made now; each commit writes the pages that it changes, whole. */
  readonly pageBytes?: number
}

export function openDatabase(path: string, options: DatabaseOptions): Database {
  if (options.readOnly !== true) {
    checkClosedFolder(dirname(path))
    createPrivately(path)
    return open(path, path, options)
  }
  // A store of somebody else's may be looked at; what is in a run, and whom it may decide about, its folder says.
  try {
    return open(path, path, options)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'STORE_UNREADABLE') throw error
    return openStill(path, options)
  }
}

/** One that nobody else sees and that is gone when it is closed. */
export function openScratchDatabase(options: Pick<DatabaseOptions, 'migrations'>): Database {
  return open(':memory:', ':memory:', options)
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
  const { readOnly = false, busyMs = SQLITE_BUSY_MS, queueMs = options.busyMs ?? SQLITE_QUEUE_MS } = options
  const timeout = Math.min(busyMs, SQLITE_TRY_MS)
  const db = onDatabase(path, () => new (driver().DatabaseSync)(place, { readOnly, timeout }))
  const database = wrap({ path, db, busyMs, queueMs }, options.migrations.length, onClose)
  try {
    if (!readOnly) configure(database, options)
    migrate(database, options)
  } catch (error) {
    db.close()
    throw error
  }
  return database
}

/** A connection, and how long it waits for somebody else's transaction. */
interface Waiting {
  readonly path: string
  readonly db: Connection
  readonly busyMs: number
  readonly queueMs: number
}

function wrap(waiting: Waiting, known: number, onClose: (() => void) | undefined): Database {
  const { path, db } = waiting
  const exec = (sql: string): void => patiently(waiting, () => db.exec(sql))
  let userVersion: Statement | undefined
  const refuseNewer = (): void => {
    userVersion ??= guardStatement(
      waiting,
      patiently(waiting, () => db.prepare('PRAGMA user_version')),
    )
    const { user_version: seen } = userVersion.get() as { user_version: number }
    if (seen > known) throw newer(path, seen, known)
  }
  // What a statement asks for may have gone with a migration that came between a look at the version and the statement.
  const unlessNewer = (error: unknown): unknown => {
    if (!(error instanceof HeimdallError)) refuseNewer()
    return error
  }
  const prepare = (sql: string): Statement => {
    try {
      return guardStatement(
        waiting,
        patiently(waiting, () => db.prepare(sql)),
        unlessNewer,
      )
    } catch (error) {
      throw unlessNewer(error)
    }
  }
  // Prepared once: a transaction begins and ends in a fraction of the time that reading the three words takes.
  const steps = new Map<string, Statement>()
  const step = (
    words: 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK' | `${'SAVEPOINT' | 'ROLLBACK TO' | 'RELEASE'} act`,
  ): void => {
    const known = steps.get(words) ?? prepare(words)
    steps.set(words, known)
    known.run()
  }
  const inTransaction = <T>(act: () => T, end: 'COMMIT' | 'ROLLBACK'): T => {
    step('BEGIN IMMEDIATE')
    try {
      // Under the write lock: another process, perhaps of a newer version, may have migrated since it was opened.
      refuseNewer()
      const result = act()
      if (result instanceof Promise) throw new HeimdallError('INTERNAL', 'a transaction was given an async function')
      step(end)
      return result
    } catch (error) {
      if (db.isTransaction) step('ROLLBACK')
      throw error
    }
  }
  const rehearseWithin = <T>(act: () => T): T => {
    step('SAVEPOINT act')
    try {
      return act()
    } finally {
      if (db.isTransaction) {
        step('ROLLBACK TO act')
        step('RELEASE act')
      }
    }
  }
  return {
    prepare,
    exec,
    refuseNewer,
    rehearseWithin,
    transaction: (act) => inTransaction(act, 'COMMIT'),
    rehearse: (act) => inTransaction(act, 'ROLLBACK'),
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
function guardStatement(
  waiting: Waiting,
  statement: Statement,
  failing: (error: unknown) => unknown = (error) => error,
): Statement {
  for (const name of ['run', 'get', 'all'] as const) {
    const method = statement[name].bind(statement) as (...values: unknown[]) => unknown
    Object.defineProperty(statement, name, {
      value(...values: unknown[]) {
        try {
          return patiently(waiting, () => method(...values))
        } catch (error) {
          throw failing(error)
        }
      },
    })
  }
  return statement
}

/** SQLite would make it readable for everybody, and follow a link planted at its path. */
function createPrivately(path: string): void {
  ensureFolder(dirname(path))
  onDisk(path, () => {
    const isNew = realFs.lstat(path) === undefined
    realFs.close(openOwnFile(path, O.O_RDWR | O.O_CREAT))
    if (isNew) syncFolder(realFs, dirname(path))
  })
}

/** FULL: the log is flushed at each commit, so an acknowledged transaction survives a power cut; NORMAL would only promise it after the next checkpoint. */
function configure(db: Database, { pageBytes }: DatabaseOptions): void {
  if (pageBytes !== undefined) db.exec(`PRAGMA page_size = ${pageBytes}`)
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(`PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = ${SQLITE_WAL_BYTES_KEPT}`)
}

/**
 * SQLite's own wait looks ever more seldom, and whoever came last looks most often. So it is let wait for a moment only,
 * again and again, which is the same for all of them; to change the journal mode it does not wait at all. And a store in
 * which others get on is no locked one: of fifty agents that start at once, on a few cores, the last gets its turn late.
 */
function patiently<T>({ path, db, busyMs, queueMs }: Waiting, act: () => T): T {
  let patience: { seen: unknown; untilMs: number; readonly lastMs: number } | undefined
  for (;;)
    try {
      return act()
    } catch (error) {
      if (!isBusy(error)) throw databaseError(path, error)
      const nowMs = systemClock.monoMs()
      patience ??= { seen: undefined, untilMs: nowMs + busyMs, lastMs: nowMs + queueMs }
      const seen = commitsOfOthers(db)
      if (seen !== patience.seen) patience.untilMs = Math.min(nowMs + busyMs, patience.lastMs)
      patience.seen = seen
      if (nowMs >= patience.untilMs) throw databaseError(path, error)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SQLITE_PAUSE_MS)
    }
}

/** Another value than before when another connection has committed something; nothing while not even that can be seen. */
function commitsOfOthers(db: Connection): unknown {
  try {
    return (db.prepare('PRAGMA data_version').get() as { data_version: number }).data_version
  } catch (error) {
    if (!isBusy(error)) throw error
    return undefined
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

interface Driver {
  readonly DatabaseSync: typeof DatabaseSync
}

/** The folder and all that it lies in, the nearest first. */
const above = (dir: string): string[] => (dirname(dir) === dir ? [dir] : [dir, ...above(dirname(dir))])

let loaded: Driver | undefined

/** Loaded on first use: most commands need no database. */
function driver(): Driver {
  loaded ??= prebuilt() ?? (process.getBuiltinModule('node:module').createRequire(import.meta.url)(PACKAGE) as Driver)
  return loaded
}

const PACKAGE = '@photostructure/sqlite'

/** The package's own loader takes longer to find the file that we can name than SQLite to open a store; it is asked where there is none, or another one is needed. */
function prebuilt(): Driver | undefined {
  const name = `node_modules/${PACKAGE}/prebuilds/${process.platform}-${process.arch}/@photostructure+sqlite.glibc.node`
  const path = above(import.meta.dirname)
    .map((dir) => join(dir, name))
    .find((one) => existsSync(one))
  if (path === undefined) return undefined
  const binding: { exports: unknown } = { exports: {} }
  try {
    process.dlopen(binding, path)
    return binding.exports as Driver
  } catch (error) {
    // A system with another C library.
    if (!isErrno(error, 'ERR_DLOPEN_FAILED')) throw error
    return undefined
  }
}
