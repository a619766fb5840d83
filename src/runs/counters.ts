// The counters of a run, shared by its shims: a table of small cells in its folder, changed in one transaction for the decisions of a turn. What the numbers mean is the business of policy.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { COUNTERS_SWEEP_EVERY, POLICY_WINDOWS_MAX } from '../limits.ts'
import { type Database, openDatabase, type Statement } from '../storage/sqlite.ts'

export const COUNTER_MIGRATIONS = [
  'CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT NOT NULL, expires_ms REAL NOT NULL) WITHOUT ROWID',
] as const

const COUNTERS_FILE = 'counters.db'
/** The least that a few cells fit on: a commit takes a twelfth less time than with pages of the usual size. */
const PAGE_BYTES = 1_024

export const countersPath = (runDir: string): string => join(runDir, COUNTERS_FILE)

/** The first word of a key is the kind of its cell. */
export interface CellKey {
  readonly key: string
  /** Hash of the arguments where each set of them has a cell of its own; else empty. */
  readonly args: string
}

interface CellChange extends CellKey {
  /** Null forgets the key. */
  readonly cell: readonly number[] | null
  readonly expiresMs: number
}

/** What cells of a kind remember of time, as whoever counts knows it. */
export interface CellTimes {
  readonly latestOf: (kind: string, cell: readonly number[]) => number
  readonly shifted: (kind: string, cell: readonly number[], byMs: number) => readonly number[]
}

/** This boot of the machine, whose monotonic clock all processes share, and the time on it. */
export interface BootTime {
  readonly bootId: string
  readonly monoMs: number
}

export class RunCounters {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #drop: Statement
  readonly #sweep: Statement
  readonly #getter: (count: number) => Statement
  readonly #putter: (count: number) => Statement
  /** What this turn has looked at, as it is by now; null where there is no cell. */
  readonly #cells = new Map<string, readonly number[] | null>()
  /** What of it is to be written when the turn ends. */
  readonly #changed = new Map<string, CellChange>()
  #isOpen = false
  /** Why nothing that the turn has changed may stand. */
  #failure: unknown
  #sinceSweep = 0

  constructor(runDir: string, times: CellTimes, now: BootTime) {
    const db = openDatabase(countersPath(runDir), { migrations: COUNTER_MIGRATIONS, pageBytes: PAGE_BYTES })
    // What must survive is the death of a process, and that the page cache does. A counter is not worth a flush of the disk.
    db.exec('PRAGMA synchronous = OFF')
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#rollback = db.prepare('ROLLBACK')
    this.#getter = prepared(db, selectCells)
    this.#putter = prepared(db, upsertCells)
    this.#drop = db.prepare('DELETE FROM cells WHERE key = ?')
    this.#sweep = db.prepare('DELETE FROM cells WHERE expires_ms < ?')
    db.transaction(() => moveToBoot(db, times, now))
  }

  /** Between its first change and its end no other shim changes anything. */
  get isTurnOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Runs `act` with the cells of these keys at hand, in the transaction of this turn, which is begun with the first of
   * them: IMMEDIATE, and nothing of it is split, or two shims would both take the last token.
   */
  change<T>(keys: readonly CellKey[], act: () => T): T {
    // Made before the lock is taken.
    const wanted = keys.map(({ key, args }) => stored(key, args))
    if (!this.#isOpen) {
      this.#begin.run()
      this.#isOpen = true
      // A turn is over before anything else runs. One whose caller has failed counts nothing, and keeps the lock from nobody.
      queueMicrotask(() => this.#abandon())
    }
    try {
      this.#fetch(wanted.filter((key) => !this.#cells.has(key)))
    } catch (error) {
      this.#failure ??= error
      throw error
    }
    return act()
  }

  get(key: string, args: string): readonly number[] | undefined {
    return this.#cells.get(stored(key, args)) ?? undefined
  }

  apply(changes: readonly CellChange[]): void {
    for (const change of changes) {
      const key = stored(change.key, change.args)
      this.#cells.set(key, change.cell)
      this.#changed.set(key, change)
    }
  }

  /** What this turn has changed stands when this returns; when it throws, nothing of it does. */
  endTurn(nowMs: number): void {
    if (!this.#isOpen) return
    try {
      if (this.#failure !== undefined) throw this.#failure
      this.#write()
      this.#sweepNowAndThen(nowMs)
      this.#commit.run()
    } finally {
      // After a commit there is nothing left to take back.
      this.#abandon()
    }
  }

  #abandon(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#failure = undefined
    this.#cells.clear()
    this.#changed.clear()
    if (this.#db.isInTransaction) this.#rollback.run()
  }

  close(): void {
    this.#db.close()
  }

  #fetch(keys: readonly string[]): void {
    for (const some of inGroups(keys)) {
      const row = this.#getter(some.length).get(...some) as { cells: string }
      const cells = JSON.parse(row.cells) as (readonly number[] | null)[]
      for (const [i, key] of some.entries()) this.#cells.set(key, cells[i] ?? null)
    }
  }

  #write(): void {
    const kept: [string, CellChange][] = []
    for (const entry of this.#changed) {
      const [key, { cell }] = entry
      if (cell === null) this.#drop.run(key)
      else kept.push(entry)
    }
    for (const some of inGroups(kept)) {
      const values: (string | number)[] = []
      for (const [key, { cell, expiresMs }] of some)
        values.push(key, JSON.stringify(cell), Number.isFinite(expiresMs) ? expiresMs : Number.MAX_SAFE_INTEGER)
      this.#putter(some.length).run(...values)
    }
  }

  #sweepNowAndThen(nowMs: number): void {
    this.#sinceSweep += 1
    if (this.#sinceSweep < COUNTERS_SWEEP_EVERY) return
    this.#sinceSweep = 0
    this.#sweep.run(nowMs)
  }
}

/** Not a counter: the boot whose clock the times in the table are of. */
const BOOT_KEY = 'boot'

/**
 * A monotonic clock begins anew with each boot. What the table remembers is moved so that its latest moment is now: no
 * window or bucket is freed by a reboot, and none is held for longer than its own length.
 */
function moveToBoot(db: Database, { latestOf, shifted }: CellTimes, { bootId, monoMs }: BootTime): void {
  const found = db.prepare('SELECT cell FROM cells WHERE key = ?').get(BOOT_KEY) as { cell: string } | undefined
  const boot = JSON.stringify(bootId)
  if (found?.cell === boot) return
  const rows = db.prepare('SELECT key, cell, expires_ms FROM cells WHERE key <> ?').all(BOOT_KEY) as {
    key: string
    cell: string
    expires_ms: number
  }[]
  const cells = rows.map(({ key, cell, expires_ms }) => {
    const kind = key.slice(0, key.indexOf(' '))
    return { key, kind, cell: JSON.parse(cell) as readonly number[], expires_ms }
  })
  const latestMs = cells.reduce((latest, { kind, cell }) => Math.max(latest, latestOf(kind, cell)), -Infinity)
  const put = db.prepare('INSERT OR REPLACE INTO cells VALUES (?, ?, ?)')
  if (latestMs > -Infinity)
    for (const { key, kind, cell, expires_ms } of cells) {
      const expiresMs = expires_ms === Number.MAX_SAFE_INTEGER ? expires_ms : expires_ms + monoMs - latestMs
      put.run(key, JSON.stringify(shifted(kind, cell, monoMs - latestMs)), expiresMs)
    }
  put.run(BOOT_KEY, boot, Number.MAX_SAFE_INTEGER)
}

const shortened = new Map<string, string>()

/** A key as it stands in the table. Short, because every commit writes the pages that it changes, and rows of full names fill three times as many. */
function stored(key: string, args: string): string {
  let short = shortened.get(key)
  if (short === undefined) {
    // What it counts stays readable.
    short = `${key.slice(0, key.indexOf(' '))} ${hash('sha256', key, 'hex').slice(0, 20)}`
    // A key holds the name of a tool, and an agent can make up many.
    if (shortened.size >= POLICY_WINDOWS_MAX) shortened.clear()
    shortened.set(key, short)
  }
  return args === '' ? short : `${short}${args.slice(0, 32)}`
}

/** Cells in one statement: SQLite bounds the depth of an expression, and each number of cells keeps a statement of its own. */
const CELLS_PER_STATEMENT = 32

/** The cells as one JSON array in the order of the keys: each row and column that crosses into JavaScript costs as much as finding it. */
function selectCells(count: number): string {
  const cells = Array.from({ length: count }, () => `coalesce((SELECT cell FROM cells WHERE key = ?), 'null')`)
  return `SELECT '[' || ${cells.join(` || ',' || `)} || ']' AS cells`
}

function upsertCells(count: number): string {
  const rows = Array.from({ length: count }, () => '(?, ?, ?)')
  return `INSERT INTO cells VALUES ${rows.join()} ON CONFLICT (key) DO UPDATE SET cell = excluded.cell, expires_ms = excluded.expires_ms`
}

function prepared(db: Database, sqlFor: (count: number) => string): (count: number) => Statement {
  const statements = new Map<number, Statement>()
  return (count) => {
    let statement = statements.get(count)
    if (statement === undefined) {
      statement = db.prepare(sqlFor(count))
      statements.set(count, statement)
    }
    return statement
  }
}

function inGroups<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length === 0) return []
  if (all.length <= CELLS_PER_STATEMENT) return [all]
  const groups: (readonly T[])[] = []
  for (let from = 0; from < all.length; from += CELLS_PER_STATEMENT)
    groups.push(all.slice(from, from + CELLS_PER_STATEMENT))
  return groups
}
