// What a decision or the end of a call counted, as the record says it, and how cells are made of that again: no rule is evaluated.
import { BREAKER_THRESHOLD_MAX } from '../../limits.ts'
import { countWithin, isWithin } from './cells.ts'
import type { MemoryCounters } from './memory-counters.ts'
import { settle } from './decide.ts'
import type { CallEnd, CallResult, Cell, Counted, Counters, Verdict } from '../types.ts'

/** `counters` of an event. */
export interface RecordedCount extends Counted {
  readonly before: number
  /** The same where the call does not count. */
  readonly after: number
  /** From this monotonic time on the cell has no effect; absent of budgets, and where nothing was counted. */
  readonly until_ms?: number
  /** Of tokens that were taken: since when the bucket's period lasts. */
  readonly since_ms?: number
}

/** In the order of the rules. */
export function countedBy({ counters, writes }: Verdict): RecordedCount[] {
  return Array.from({ length: counters.count }, (_, at) => {
    const counted = counters.counted(at)
    const count = { ...counted, before: counters.before(at), after: counters.after(at) }
    const write = writes.find(({ key }) => key === counted.key)
    if (write === undefined || !Number.isFinite(write.expiresMs) || counted.counter === 'errors') return count
    const since = counted.counter === 'tokens' ? { since_ms: write.cell?.[1] ?? 0 } : {}
    return { ...count, until_ms: Math.ceil(write.expiresMs), ...since }
  })
}

/** What the end of a call counts: an error in the windows of breakers; a call that failed is no duplicate any more. */
export function countedAtEnd(end: CallEnd, result: CallResult, counters: Counters, nowMs: number): RecordedCount[] {
  const writes = settle(end, result, counters, nowMs)
  if (writes.length === 0) return []
  const errors = end.errorWindows.map(({ rule_id, key, windowMs, threshold }): RecordedCount => {
    const before = countWithin(counters.get(key, ''), windowMs, nowMs)
    return { rule_id, counter: 'errors', limit: threshold, key, before, after: before + 1, until_ms: nowMs + windowMs }
  })
  const forgotten = end.dedupes
    .filter(({ key, args }) => writes.some((write) => write.key === key && write.args === args && write.cell === null))
    .map(({ rule_id, key }): RecordedCount => ({ rule_id, counter: 'duplicates', limit: 1, key, before: 1, after: 0 }))
  return [...errors, ...forgotten]
}

/** Enters what a line says was counted at `atMs`. Lines add up in any order: of buckets the later line says what is left. */
export function enterCounts(
  cells: MemoryCounters,
  counts: readonly RecordedCount[],
  argsHash: string,
  atMs: number,
): void {
  for (const count of counts) {
    const { counter, key, before, after, until_ms: untilMs = Infinity } = count
    if (before === after) continue
    const isOfArgs = counter === 'repeats' || counter === 'duplicates'
    const id = isOfArgs ? key + argsHash : key
    const cell = cells.get(key, isOfArgs ? argsHash : '')
    switch (counter) {
      case 'calls':
      case 'cost_units':
        cells.set(
          id,
          spent(cell, counter, after - before, counts.filter((other) => other.key === key).length),
          Infinity,
        )
        break
      case 'tokens':
        cells.set(id, taken(cell, count, atMs), untilMs)
        break
      case 'errors':
      case 'repeats':
        cells.set(id, withTime(cell, untilMs - atMs, atMs), untilMs)
        break
      case 'duplicates':
        if (after > before) cells.set(id, [Math.max(atMs, cell?.[0] ?? atMs)], untilMs)
        else cells.set(id, null, 0)
    }
  }
}

/** A budget that has one limit is told of by one reading; the other number goes along, in case its author limits that later. */
function spent(cell: Cell | undefined, counter: 'calls' | 'cost_units', by: number, readings: number): Cell {
  const [calls = 0, units = 0, ...raised] = cell ?? []
  const isAlone = readings === 1
  return [
    calls + (counter === 'calls' ? by : isAlone ? 1 : 0),
    units + (counter === 'cost_units' || isAlone ? by : 0),
    ...raised,
  ]
}

/** `[tokens, sinceMs, atMs]`. A line that comes behind a later one takes what it took from what that one left. */
function taken(cell: Cell | undefined, { before, after, since_ms: sinceMs = 0 }: RecordedCount, atMs: number): Cell {
  const [tokens = 0, since = 0, latest = -Infinity] = cell ?? []
  if (atMs >= latest) return [after, sinceMs, atMs]
  return [Math.max(0, tokens - (before - after)), since, latest]
}

function withTime(cell: Cell | undefined, windowMs: number, atMs: number): Cell {
  const times = [...(cell ?? []), atMs].toSorted((a, b) => a - b)
  const latest = times.at(-1) ?? atMs
  return times.filter((time) => isWithin(time, windowMs, latest)).slice(-BREAKER_THRESHOLD_MAX)
}
