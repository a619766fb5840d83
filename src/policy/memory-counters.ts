// Counters of a shim that has its run to itself.
import { HeimdallError } from '../errors.ts'
import { POLICY_BUDGETS_MAX, POLICY_WINDOWS_MAX } from '../limits.ts'
import { isLasting } from './keys.ts'
import type { Cell, CellWrite, Counters } from './types.ts'
import { Windows } from './windows.ts'

/** Budgets and buckets are never forgotten while they matter; windows are, past a number that no run should reach. */
export class MemoryCounters implements Counters {
  readonly #lasting = new Map<string, CellWrite>()
  #young = new Map<string, CellWrite>()
  #old = new Map<string, CellWrite>()
  readonly #windows = new Windows()

  get(key: string, args: string): Cell | undefined {
    if (args !== '') return this.#windows.get(key, args)
    const found = isLasting(key) ? this.#lasting.get(key) : (this.#young.get(key) ?? this.#old.get(key))
    return found?.cell ?? undefined
  }

  apply(writes: readonly CellWrite[], nowMs: number): void {
    for (const write of writes) {
      if (write.args !== '') this.#windows.set(write.key, write.args, write.cell)
      else if (isLasting(write.key)) this.#setLasting(write, nowMs)
      else this.#setWindow(write)
    }
  }

  #setLasting(write: CellWrite, nowMs: number): void {
    if (this.#lasting.size >= POLICY_BUDGETS_MAX && !this.#lasting.has(write.key)) {
      for (const [key, { expiresMs }] of this.#lasting) if (expiresMs <= nowMs) this.#lasting.delete(key)
      if (this.#lasting.size >= POLICY_BUDGETS_MAX)
        throw new HeimdallError(
          'POLICY_COUNTERS_FULL',
          `this run has ${POLICY_BUDGETS_MAX} budgets and rate limits already`,
        )
    }
    this.#lasting.set(write.key, write)
  }

  #setWindow(write: CellWrite): void {
    if (write.cell === null) {
      this.#young.delete(write.key)
      this.#old.delete(write.key)
      return
    }
    if (this.#young.size >= POLICY_WINDOWS_MAX && !this.#young.has(write.key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(write.key, write)
  }
}
