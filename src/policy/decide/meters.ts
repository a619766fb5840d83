// Accumulators of a plan as one call meets them: whether they are over their limit, and what they write if the call counts.
import { addTime, countWithin, isBudgetExceeded, isWithin, refill, spendBudget, waitMs } from './cells.ts'
import { withWait } from './decisions.ts'
import { isDedupe, isRepeats } from './counter-keys.ts'
import type { Step } from './plan.ts'
import type { Readings } from './readings.ts'
import type { Breaker, CallEnd, CellWrite, Counted, Counters, Decision, RateLimit } from '../types.ts'

/**
 * Asks one accumulator about one call. Within its limit, what it writes for an allowed call goes into `writes`; over it,
 * it writes nothing. `hash` is empty when the arguments could not be inspected and the rule goes on without them.
 *
 * Nearly every call is within every limit and allowed, so that is all that is made here; see `writesOf` for the others.
 */
export function isOverLimit(
  step: Step,
  hash: string,
  counters: Counters,
  nowMs: number,
  writes: CellWrite[],
  readings: Readings,
): boolean {
  const { rule, key } = step
  switch (rule.kind) {
    case 'budget': {
      const { budget } = rule.effect
      const cell = counters.get(key, '')
      const isOver = isBudgetExceeded(budget, cell)
      const spent = isOver ? cell : spendBudget(budget, cell)
      const [calls, cost] = step.counted
      if (calls !== null) readings.put(raised(calls, cell?.[2]), cell?.[0] ?? 0, spent?.[0] ?? 0)
      if (cost !== null) readings.put(raised(cost, cell?.[3]), cell?.[1] ?? 0, spent?.[1] ?? 0)
      if (spent === undefined || isOver) return true
      writes.push({ key, args: '', cell: spent, expiresMs: Infinity })
      return false
    }
    case 'rate_limit':
      return isOutOfTokens(rule.effect.rate_limit, step, counters, nowMs, writes, readings)
    case 'breaker':
      return isTripped(rule.effect.breaker, step, hash, counters, nowMs, writes, readings)
    case 'dedupe': {
      const { window_ms } = rule.effect.dedupe
      const acceptedMs = counters.get(key, hash)?.[0]
      const isRepeated = acceptedMs !== undefined && isWithin(acceptedMs, window_ms, nowMs)
      const [duplicates] = step.counted
      if (duplicates !== null) readings.put(duplicates, isRepeated ? 1 : 0, 1)
      if (isRepeated) return true
      writes.push({ key, args: hash, cell: [nowMs], expiresMs: nowMs + window_ms })
      return false
    }
    case 'allow':
    case 'deny':
    case 'tag':
      return false
  }
}

function raised(counted: Counted, by: number | undefined): Counted {
  return by === undefined || by === 0 ? counted : { ...counted, limit: counted.limit + by }
}

function isOutOfTokens(
  limit: RateLimit,
  { key, counted: [tokens] }: Step,
  counters: Counters,
  nowMs: number,
  writes: CellWrite[],
  readings: Readings,
): boolean {
  const bucket = refill(limit, counters.get(key, ''), nowMs)
  const isOut = bucket[0] < limit.cost_tokens_per_call
  const after = isOut ? bucket[0] : bucket[0] - limit.cost_tokens_per_call
  if (tokens !== null) readings.put(tokens, bucket[0], after)
  if (isOut) return true
  const left = [bucket[0] - limit.cost_tokens_per_call, bucket[1]]
  writes.push({ key, args: '', cell: left, expiresMs: nowMs + waitMs(limit, left, limit.capacity, nowMs) })
  return false
}

function isTripped(
  { error_threshold, window_ms, repeat_threshold, repeat_window_ms }: Breaker,
  { key, repeatsKey, counted: [errorCount, repeatCount] }: Step,
  hash: string,
  counters: Counters,
  nowMs: number,
  writes: CellWrite[],
  readings: Readings,
): boolean {
  if (error_threshold !== null) {
    const errors = countWithin(counters.get(key, ''), window_ms ?? 0, nowMs)
    if (errorCount !== null) readings.put(errorCount, errors, errors)
    if (errors >= error_threshold) return true
  }
  if (repeat_threshold === null || repeat_window_ms === null || hash === '') return false
  const repeats = counters.get(repeatsKey, hash)
  const before = countWithin(repeats, repeat_window_ms, nowMs)
  const isLast = before + 1 >= repeat_threshold
  if (repeatCount !== null) readings.put(repeatCount, before, isLast ? before : before + 1)
  if (isLast) return true
  const times = addTime(repeats, repeat_window_ms, nowMs, repeat_threshold - 1)
  writes.push({ key: repeatsKey, args: hash, cell: times, expiresMs: nowMs + repeat_window_ms })
  return false
}

/** What a tripped accumulator says; a rate limit that lets the agent come back says when it will have what the call takes. */
export function trippedDecision({ rule, decision, key }: Step, counters: Counters, nowMs: number): Decision {
  if (rule.kind !== 'rate_limit' || (decision.hint === undefined && decision.action !== 'THROTTLE')) return decision
  const limit = rule.effect.rate_limit
  const bucket = refill(limit, counters.get(key, ''), nowMs)
  return withWait(decision, waitMs(limit, bucket, limit.cost_tokens_per_call, nowMs))
}

/** What became of the call: every accumulator counts `allowed` ones, dedupe only those; `refused` spends nothing, and of one that is `asked` about nothing is counted at all. */
export type CallFate = 'allowed' | 'denied' | 'refused' | 'asked'

/** Of what an allowed call would write, what this one does. Breakers see every attempt. */
export function writesOf(writes: readonly CellWrite[], outcome: CallFate): readonly CellWrite[] {
  if (outcome === 'allowed') return writes
  if (outcome === 'asked') return []
  return writes.filter(({ key }) => (outcome === 'denied' ? !isDedupe(key) : isRepeats(key)))
}

/** What the end of an allowed call may change. */
export function endOf(steps: readonly Step[], hash: string, nowMs: number): CallEnd {
  const errorWindows: CallEnd['errorWindows'][number][] = []
  const dedupes: CallEnd['dedupes'][number][] = []
  for (const { rule, key } of steps) {
    if (rule.kind === 'dedupe') dedupes.push({ rule_id: rule.rule_id, key, args: hash, acceptedMs: nowMs })
    if (rule.kind !== 'breaker') continue
    const { error_threshold, window_ms } = rule.effect.breaker
    if (error_threshold !== null && window_ms !== null)
      errorWindows.push({ rule_id: rule.rule_id, key, windowMs: window_ms, threshold: error_threshold })
  }
  return { errorWindows, dedupes }
}
