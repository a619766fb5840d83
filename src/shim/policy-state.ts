// Where a decision takes its counters from: memory for a shim alone, one SQLite transaction where shims share a run.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { POLICY_WINDOWS_MAX } from '../limits.ts'
import { added, latestOf, shifted } from '../policy/cells.ts'
import { decide, settle } from '../policy/decide.ts'
import { MemoryCounters } from '../policy/memory-counters.ts'
import { keysOf, type Plan } from '../policy/plan.ts'
import type { CallEnd, CallFacts, CallResult, Cell, CellWrite, Counters, Verdict } from '../policy/types.ts'
import type { Database, Statement } from '../storage/sqlite.ts'

/**
 * Asked before anything is counted, where an answer of a person may be gone by then: false when it is, and then the call
 * has been stripped of it and is decided once more.
 */
export type Confirm = (verdict: Verdict) => boolean

export interface PolicyState {
  decide(plan: Plan, call: CallFacts, nowMs: number, confirm?: Confirm): Verdict
  settle(end: CallEnd, result: CallResult, nowMs: number): void
  close(): void
}

/** One process, one thread: nothing can come between reading and writing. */
export function memoryState(): PolicyState {
  const counters = new MemoryCounters()
  return {
    decide(plan, call, nowMs, confirm) {
      const verdict = decided(plan, call, counters, nowMs, confirm)
      if (verdict.writes.length > 0) counters.apply(verdict.writes, nowMs)
      return verdict
    },
    settle: (end, result, nowMs) => counters.apply(settle(end, result, counters, nowMs), nowMs),
    close() {},
  }
}

function decided(
  plan: Plan,
  call: CallFacts,
  counters: Counters,
  nowMs: number,
  confirm: Confirm | undefined,
): Verdict {
  const verdict = decide(plan, call, counters, nowMs)
  return confirm === undefined || confirm(verdict) ? verdict : decide(plan, call, counters, nowMs)
}

export const MIGRATIONS = [
  'CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT NOT NULL, expires_ms REAL NOT NULL) WITHOUT ROWID',
] as const

/** Expired cells are swept out after this many decisions. */
const SWEEP_EVERY = 4_096

/** This boot of the machine, whose monotonic clock all processes share, and the time on it. */
export interface BootTime {
  readonly bootId: string
  readonly monoMs: number
}

export interface SharedState extends PolicyState {
  /** Enters what was counted elsewhere, beside what is there. */
  adopt(writes: readonly CellWrite[]): void
}

/** The counters of a run in its folder. `openDatabase` comes in because a shim alone must not load it. */
export function sharedState(
  runDir: string,
  openDatabase: (path: string, options: { readonly migrations: readonly string[] }) => Database,
  now: BootTime,
): SharedState {
  const db = openDatabase(join(runDir, 'counters.db'), { migrations: MIGRATIONS })
  // What must survive is the death of a process, and that the page cache does. A counter is not worth a flush of the disk.
  db.exec('PRAGMA synchronous = OFF')
  const cells = new StoredCells(db)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  let sinceSweep = 0
  db.transaction(() => moveToBoot(db, now))
  const inTransaction = <T>(act: () => T): T => {
    begin.run()
    try {
      const result = act()
      commit.run()
      return result
    } catch (error) {
      if (db.isInTransaction) rollback.run()
      throw error
    }
  }
  return {
    decide(plan, call, nowMs, confirm) {
      if (!plan.isStateful) return decided(plan, call, cells, nowMs, confirm)
      // The hash is made before the lock is taken, and only if a rule wants it.
      if (plan.needsArgsHash) void call.args_hash
      const keys = keysOf(plan, call).map(({ key, args }) => stored(key, args))
      return inTransaction(() => {
        cells.fetch(keys)
        const verdict = decided(plan, call, cells, nowMs, confirm)
        cells.apply(verdict.writes, nowMs)
        sinceSweep += 1
        if (sinceSweep >= SWEEP_EVERY) {
          sinceSweep = 0
          cells.sweep(nowMs)
        }
        return verdict
      })
    },
    settle(end, result, nowMs) {
      // A call that went well changes nothing, so it needs no transaction.
      if (result === 'done') return
      inTransaction(() => {
        cells.fetch([
          ...end.errorWindows.map(({ key }) => stored(key, '')),
          ...end.dedupes.map(({ key, args }) => stored(key, args)),
        ])
        cells.apply(settle(end, result, cells, nowMs), nowMs)
      })
    },
    adopt(writes) {
      if (writes.length === 0) return
      inTransaction(() => {
        cells.fetch(writes.map(({ key, args }) => stored(key, args)))
        const merged = writes.map((write): CellWrite => {
          const kind = write.key.slice(0, write.key.indexOf(' '))
          return {
            ...write,
            cell: write.cell === null ? null : added(kind, cells.get(write.key, write.args), write.cell),
          }
        })
        cells.apply(merged, now.monoMs)
      })
    },
    close: () => db.close(),
  }
}

/** Not a counter: the boot whose clock the times in the table are of. */
const BOOT_KEY = 'boot'

/**
 * A monotonic clock begins anew with each boot. What the table remembers is moved so that its latest moment is now: no
 * window or bucket is freed by a reboot, and none is held for longer than its own length.
 */
function moveToBoot(db: Database, { bootId, monoMs }: BootTime): void {
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
    return { key, kind, cell: JSON.parse(cell) as Cell, expires_ms }
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

class StoredCells implements Counters {
  readonly #drop: Statement
  readonly #sweep: Statement
  readonly #getter: (count: number) => Statement
  readonly #putter: (count: number) => Statement
  readonly #fetched = new Map<string, Cell>()

  constructor(db: Database) {
    this.#getter = prepared(db, selectCells)
    this.#putter = prepared(db, upsertCells)
    this.#drop = db.prepare('DELETE FROM cells WHERE key = ?')
    this.#sweep = db.prepare('DELETE FROM cells WHERE expires_ms < ?')
  }

  /** Reads all cells that a decision can ask for. */
  fetch(keys: readonly string[]): void {
    this.#fetched.clear()
    for (const some of inGroups(keys)) {
      const row = this.#getter(some.length).get(...some) as { cells: string }
      const cells = JSON.parse(row.cells) as (Cell | null)[]
      for (const [i, key] of some.entries()) {
        const cell = cells[i]
        if (cell !== null && cell !== undefined) this.#fetched.set(key, cell)
      }
    }
  }

  get(key: string, args: string): Cell | undefined {
    return this.#fetched.get(stored(key, args))
  }

  apply(writes: readonly CellWrite[], _nowMs: number): void {
    const kept: CellWrite[] = []
    for (const write of writes) {
      if (write.cell === null) this.#drop.run(stored(write.key, write.args))
      else kept.push(write)
    }
    for (const some of inGroups(kept)) {
      const values: (string | number)[] = []
      for (const { key, args, cell, expiresMs } of some)
        values.push(
          stored(key, args),
          JSON.stringify(cell),
          Number.isFinite(expiresMs) ? expiresMs : Number.MAX_SAFE_INTEGER,
        )
      this.#putter(some.length).run(...values)
    }
  }

  sweep(nowMs: number): void {
    this.#sweep.run(nowMs)
  }
}

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
