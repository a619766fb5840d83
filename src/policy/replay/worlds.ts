// Counters of a replay: what surely was counted, and what may have been. Where both decide the same, so does the truth between them.
import { addTime, isBudgetExceeded, spendBudget } from '../decide/cells.ts'
import { decide, settle } from '../decide/decide.ts'
import { MemoryCounters } from '../decide/memory-counters.ts'
import { endOf } from '../decide/meters.ts'
import type { Plan, Step } from '../decide/plan.ts'
import type { CallEnd, CallFacts, CellWrite, Verdict } from '../types.ts'
import type { RecordedResult } from './recorded.ts'

/** What the end of a call changes if it was surely let through, and if it perhaps was. */
export interface Ends {
  readonly least: CallEnd | null
  readonly most: CallEnd | null
}

const NO_END: CallEnd = { errorWindows: [], dedupes: [] }

/** Every accumulator is stricter the more it has counted, but for buckets, whose periods begin with their use. */
export class Worlds {
  readonly #least = new MemoryCounters()
  readonly #most = new MemoryCounters()
  /** Keys of buckets of which nobody can say how full they are. */
  readonly #looseBuckets = new Set<string>()

  decide(plan: Plan, call: CallFacts, nowMs: number): readonly Verdict[] {
    return [decide(plan, call, this.#least, nowMs), decide(plan, call, this.#most, nowMs)]
  }

  /** Whether the call meets a bucket that may or may not hold what it takes. */
  isLoose({ steps }: Plan): boolean {
    return this.#looseBuckets.size > 0 && steps.some(({ key }) => this.#looseBuckets.has(key))
  }

  /** Counts a call that was decided; `perhaps` are steps that may have counted it as well. */
  count(plan: Plan, call: CallFacts, nowMs: number, perhaps: readonly Step[]): Ends {
    const least = decide(plan, call, this.#least, nowMs)
    const most = decide(plan, call, this.#most, nowMs)
    this.#least.apply(least.writes, nowMs)
    this.#most.apply(most.writes, nowMs)
    const more = this.countPerhaps(perhaps, call, nowMs)
    return { least: least.end, most: most.end === null ? more.most : joined(most.end, more.most ?? NO_END) }
  }

  /** What a call of which nothing is sure may have changed. */
  countPerhaps(steps: readonly Step[], call: CallFacts, nowMs: number): Ends {
    const meters = steps.filter(({ isMeter }) => isMeter)
    if (meters.length === 0) return { least: null, most: null }
    const hash = typeof call.args === 'object' ? call.args_hash : ''
    this.#most.apply(
      meters.flatMap((step) => this.#anyway(step, hash, nowMs)),
      nowMs,
    )
    const told = meters.filter(({ isToldEnd }) => isToldEnd)
    return { least: null, most: told.length === 0 ? null : endOf(told, hash, nowMs) }
  }

  /** As if the call had counted, also where the strict world is over the limit: the truth may be below it. */
  #anyway({ rule, key, repeatsKey }: Step, hash: string, nowMs: number): CellWrite[] {
    switch (rule.kind) {
      case 'budget': {
        const cell = this.#most.get(key, '')
        if (isBudgetExceeded(rule.effect.budget, cell)) return []
        return [{ key, args: '', cell: spendBudget(rule.effect.budget, cell), expiresMs: Infinity }]
      }
      case 'rate_limit':
        this.#looseBuckets.add(key)
        return []
      case 'breaker': {
        const { repeat_threshold, repeat_window_ms } = rule.effect.breaker
        if (repeat_threshold === null || repeat_window_ms === null || hash === '') return []
        const cell = addTime(this.#most.get(repeatsKey, hash), repeat_window_ms, nowMs, repeat_threshold - 1)
        return [{ key: repeatsKey, args: hash, cell, expiresMs: nowMs + repeat_window_ms }]
      }
      case 'dedupe':
        if (hash === '') return []
        return [{ key, args: hash, cell: [nowMs], expiresMs: nowMs + rule.effect.dedupe.window_ms }]
      case 'allow':
      case 'deny':
      case 'tag':
        return []
    }
  }

  /** A call that went to the server, surely or perhaps, has ended. */
  settle({ least, most }: Ends, result: RecordedResult, nowMs: number): void {
    const isKnown = result !== 'unseen'
    if (least !== null) {
      // At the least it was no error, and was forgotten.
      const end = isKnown ? least : { ...NO_END, dedupes: least.dedupes }
      this.#least.apply(settle(end, isKnown ? result : 'failed', this.#least, nowMs), nowMs)
    }
    if (most !== null) {
      // At the most it was an error, and may have been done.
      const worst = result === 'done' || (isKnown && least !== null) ? result : 'unknown'
      this.#most.apply(settle(most, worst, this.#most, nowMs), nowMs)
    }
  }
}

function joined(a: CallEnd, b: CallEnd): CallEnd {
  return { errorWindows: [...a.errorWindows, ...b.errorWindows], dedupes: [...a.dedupes, ...b.dedupes] }
}
