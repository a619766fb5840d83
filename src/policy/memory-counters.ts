// Counters of a shim that has its run to itself.
import { HeimdallError } from '../errors.ts'
import { POLICY_BUDGETS_MAX, POLICY_WINDOWS_MAX } from '../limits.ts'
import { isLasting } from './keys.ts'
import type { Cell, CellWrite, Counters } from './types.ts'

/**
 * Budgets and buckets are never forgotten while they matter. Windows are one entry for each set of arguments seen, so
 * they are kept in two generations: when the younger is full the older is dropped whole, which costs nothing per entry.
 */
export class MemoryCounters implements Counters {
  readonly #lasting = new Map<string, CellWrite>()
  #young = new Map<string, CellWrite>()
  #old = new Map<string, CellWrite>()

  get(key: string): Cell | undefined {
    const found = isLasting(key) ? this.#lasting.get(key) : (this.#young.get(key) ?? this.#old.get(key))
    return found?.cell ?? undefined
  }

  apply(writes: readonly CellWrite[], nowMs: number): void {
    for (const write of writes) {
      if (isLasting(write.key)) this.#setLasting(write, nowMs)
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
