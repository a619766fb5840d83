// Counters in memory: every cell that may still matter, by its key.
import { HeimdallError } from '../../errors.ts'
import { POLICY_BUDGETS_MAX, POLICY_SWEEP_MS, POLICY_WINDOWS_MAX } from '../../limits.ts'
import { latestOf, shifted } from './cells.ts'
import { isLasting, kindOfKey } from './counter-keys.ts'
import type { Cell, CellWrite, Counters } from '../types.ts'

interface StoredCell {
  readonly cell: Cell
  readonly untilMs: number
}

/** A cell as a checkpoint has it: key with the hash of arguments, the numbers, and until when (null: as long as the run). */
export type SavedCell = readonly [id: string, cell: Cell, untilMs: number | null]

/** Budgets and buckets are never forgotten while they matter; of windows the oldest are, past a number that no run should reach. */
export class MemoryCounters implements Counters {
  readonly #lasting = new Map<string, StoredCell>()
  readonly #windows = new Map<string, StoredCell>()
  #sweptMs = -Infinity
  /** Cells as they were, newest change last; null while nothing is to be undone. */
  #undo: { readonly id: string; readonly before: StoredCell | undefined }[] | null = null

  get(key: string, args: string): Cell | undefined {
    return this.#cellsOf(key).get(key + args)?.cell
  }

  apply(writes: readonly CellWrite[], nowMs: number): void {
    for (const { key, args } of writes) this.refuseTooMany(key + args, nowMs)
    for (const { key, args, cell, expiresMs } of writes) this.set(key + args, cell, expiresMs)
  }

  /** Null forgets. `id` is the key with the hash of arguments behind it. */
  set(id: string, cell: Cell | null, untilMs: number): void {
    const cells = this.#cellsOf(id)
    const before = cells.get(id)
    this.#undo?.push({ id, before })
    // Windows stand in the order of their last change.
    if (before !== undefined && cells === this.#windows) cells.delete(id)
    if (cell === null) cells.delete(id)
    else cells.set(id, { cell, untilMs })
    if (this.#windows.size > 2 * POLICY_WINDOWS_MAX) this.#forgetOldest()
  }

  /** Throws when one more budget or bucket would be too many: none of them may be forgotten. */
  refuseTooMany(id: string, nowMs: number): void {
    if (this.#lasting.size < POLICY_BUDGETS_MAX || !isLasting(id) || this.#lasting.has(id)) return
    if (nowMs - this.#sweptMs >= POLICY_SWEEP_MS) {
      this.#sweptMs = nowMs
      dropExpired(this.#lasting, nowMs)
    }
    if (this.#lasting.size >= POLICY_BUDGETS_MAX)
      throw new HeimdallError(
        'POLICY_COUNTERS_FULL',
        `this run has ${POLICY_BUDGETS_MAX} budgets and rate limits already`,
      )
  }

  /** From here on changes can be undone, until the next call of this, of `undo` or of `keep`. */
  mark(): void {
    this.#undo = []
  }

  /** What was changed since the mark stays. */
  keep(): void {
    this.#undo = null
  }

  undo(): void {
    const changes = this.#undo ?? []
    this.#undo = null
    for (const { id, before } of changes.toReversed())
      if (before === undefined) this.#cellsOf(id).delete(id)
      else this.#cellsOf(id).set(id, before)
  }

  /** The latest moment that any cell remembers; -Infinity where none does. */
  get latestMs(): number {
    let latest = -Infinity
    for (const [id, { cell }] of this.#all()) latest = Math.max(latest, latestOf(kindOfKey(id), cell))
    return latest
  }

  /** Moves all that is remembered by so much. */
  shift(byMs: number): void {
    for (const cells of [this.#lasting, this.#windows])
      for (const [id, { cell, untilMs }] of cells)
        cells.set(id, { cell: shifted(kindOfKey(id), cell, byMs), untilMs: untilMs + byMs })
  }

  /** Cells that still have an effect. */
  saved(nowMs: number): SavedCell[] {
    return [...this.#all()].flatMap(([id, { cell, untilMs }]) =>
      untilMs > nowMs ? [[id, cell, Number.isFinite(untilMs) ? untilMs : null] as const] : [],
    )
  }

  restore(saved: readonly SavedCell[]): void {
    for (const [id, cell, untilMs] of saved) this.set(id, cell, untilMs ?? Infinity)
  }

  *#all(): Generator<[string, StoredCell]> {
    yield* this.#lasting
    yield* this.#windows
  }

  #cellsOf(key: string): Map<string, StoredCell> {
    return isLasting(key) ? this.#lasting : this.#windows
  }

  #forgetOldest(): void {
    for (const id of this.#windows.keys()) {
      if (this.#windows.size <= POLICY_WINDOWS_MAX) return
      this.#windows.delete(id)
    }
  }
}

function dropExpired(cells: Map<string, StoredCell>, nowMs: number): void {
  for (const [id, { untilMs }] of cells) if (untilMs <= nowMs) cells.delete(id)
}
