// Counters of a shim that has its run to itself.
import { HeimdallError } from '../../errors.ts'
import { POLICY_BUDGETS_MAX, POLICY_SWEEP_MS } from '../../limits.ts'
import { isLasting } from './counter-keys.ts'
import type { Cell, CellWrite, Counters } from '../types.ts'
import { Windows } from './windows.ts'

/** Budgets and buckets are never forgotten while they matter; windows are, past a number that no run should reach. */
export class MemoryCounters implements Counters {
  readonly #lasting = new Map<string, CellWrite>()
  readonly #windows = new Windows()
  #sweptMs = -Infinity

  get(key: string, args: string): Cell | undefined {
    if (!isLasting(key)) return this.#windows.get(key, args)
    return this.#lasting.get(key)?.cell ?? undefined
  }

  apply(writes: readonly CellWrite[], nowMs: number): void {
    for (const write of writes) {
      if (isLasting(write.key)) this.#setLasting(write, nowMs)
      else this.#windows.set(write.key, write.args, write.cell)
    }
  }

  #setLasting(write: CellWrite, nowMs: number): void {
    if (this.#lasting.size >= POLICY_BUDGETS_MAX && !this.#lasting.has(write.key)) {
      this.#sweep(nowMs)
      if (this.#lasting.size >= POLICY_BUDGETS_MAX)
        throw new HeimdallError(
          'POLICY_COUNTERS_FULL',
          `this run has ${POLICY_BUDGETS_MAX} budgets and rate limits already`,
        )
    }
    this.#lasting.set(write.key, write)
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < POLICY_SWEEP_MS) return
    this.#sweptMs = nowMs
    for (const [key, { expiresMs }] of this.#lasting) if (expiresMs <= nowMs) this.#lasting.delete(key)
  }
}
