// Accumulators of a plan as one call meets them: what they have counted, whether that is over the limit, what they write.
import { addTime, countWithin, isBudgetExceeded, isWithin, refill, spendBudget, waitMs } from './cells.ts'
import { withRetryAdvice } from './decisions.ts'
import type { Step } from './plan.ts'
import type { CallEnd, Cell, CellWrite, Counters, Decision, RateLimit } from './types.ts'

export interface Meter {
  readonly step: Step
  /** What it had counted; of a rate limit the bucket as it is now, of a breaker the errors. */
  readonly cell: Cell | undefined
  /** Of a breaker, the repeats of these arguments. */
  readonly repeats: Cell | undefined
  readonly isTripped: boolean
}

/** `hash` is empty when the arguments could not be inspected and the rule goes on without them. */
export function readMeter(step: Step, hash: string, counters: Counters, nowMs: number): Meter {
  const { rule, key, repeatsKey } = step
  switch (rule.kind) {
    case 'budget': {
      const cell = counters.get(key)
      return { step, cell, repeats: undefined, isTripped: isBudgetExceeded(rule.effect.budget, cell) }
    }
    case 'rate_limit': {
      const limit = rule.effect.rate_limit
      const cell = refill(limit, counters.get(key), nowMs)
      return { step, cell, repeats: undefined, isTripped: cell[0] < limit.cost_tokens_per_call }
    }
    case 'breaker': {
      const { error_threshold, window_ms, repeat_threshold, repeat_window_ms } = rule.effect.breaker
      const cell = error_threshold === null ? undefined : counters.get(key)
      const repeats = repeat_threshold === null || hash === '' ? undefined : counters.get(repeatsKey + hash)
      const hasErrors = error_threshold !== null && countWithin(cell, window_ms ?? 0, nowMs) >= error_threshold
      const hasRepeats =
        repeat_threshold !== null &&
        hash !== '' &&
        countWithin(repeats, repeat_window_ms ?? 0, nowMs) + 1 >= repeat_threshold
      return { step, cell, repeats, isTripped: hasErrors || hasRepeats }
    }
    case 'dedupe': {
      const cell = counters.get(key + hash)
      const [acceptedMs] = cell ?? []
      const isTripped = acceptedMs !== undefined && isWithin(acceptedMs, rule.effect.dedupe.window_ms, nowMs)
      return { step, cell, repeats: undefined, isTripped }
    }
    case 'allow':
    case 'deny':
    case 'tag':
      return { step, cell: undefined, repeats: undefined, isTripped: false }
  }
}

export function isMeter({ rule: { kind } }: Step): boolean {
  return kind === 'budget' || kind === 'rate_limit' || kind === 'breaker' || kind === 'dedupe'
}

/** What a tripped meter says; a rate limit with a hint says how long to wait. */
export function trippedDecision({ step, cell }: Meter, nowMs: number): Decision {
  const { rule, decision } = step
  if (rule.kind !== 'rate_limit' || decision.hint === undefined || cell === undefined) return decision
  const limit = rule.effect.rate_limit
  return withRetryAdvice(decision, waitMs(limit, cell, limit.cost_tokens_per_call, nowMs))
}

/** What became of the call: every meter counts `allowed` ones, dedupe only those; `refused` spends nothing. */
export type Outcome = 'allowed' | 'denied' | 'refused'

export function addWrites(
  writes: CellWrite[],
  { step, cell, repeats, isTripped }: Meter,
  outcome: Outcome,
  hash: string,
  nowMs: number,
): void {
  if (isTripped) return
  const { rule, key, repeatsKey } = step
  if (rule.kind === 'breaker') {
    const { repeat_threshold, repeat_window_ms } = rule.effect.breaker
    if (repeat_threshold === null || repeat_window_ms === null || hash === '') return
    const times = addTime(repeats, repeat_window_ms, nowMs, repeat_threshold - 1)
    writes.push({ key: repeatsKey + hash, cell: times, expiresMs: nowMs + repeat_window_ms })
  } else if (outcome === 'refused') return
  else if (rule.kind === 'budget')
    writes.push({ key, cell: spendBudget(rule.effect.budget, cell), expiresMs: Infinity })
  else if (rule.kind === 'rate_limit') writes.push(spendTokens(rule.effect.rate_limit, key, cell, nowMs))
  else if (rule.kind === 'dedupe' && outcome === 'allowed')
    writes.push({ key: key + hash, cell: [nowMs], expiresMs: nowMs + rule.effect.dedupe.window_ms })
}

function spendTokens(limit: RateLimit, key: string, cell: Cell | undefined, nowMs: number): CellWrite {
  const left = [(cell?.[0] ?? 0) - limit.cost_tokens_per_call, cell?.[1] ?? nowMs]
  return { key, cell: left, expiresMs: nowMs + waitMs(limit, left, limit.capacity, nowMs) }
}

/** What the end of an allowed call may change; null when nothing. */
export function endOf(meters: readonly Meter[], hash: string, nowMs: number): CallEnd | null {
  const errorWindows: CallEnd['errorWindows'][number][] = []
  const dedupes: CallEnd['dedupes'][number][] = []
  for (const { step } of meters) {
    if (step.rule.kind === 'dedupe') dedupes.push({ key: step.key + hash, acceptedMs: nowMs })
    if (step.rule.kind !== 'breaker') continue
    const { error_threshold, window_ms } = step.rule.effect.breaker
    if (error_threshold !== null && window_ms !== null)
      errorWindows.push({ key: step.key, windowMs: window_ms, threshold: error_threshold })
  }
  return errorWindows.length + dedupes.length === 0 ? null : { errorWindows, dedupes }
}
