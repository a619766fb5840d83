// The arithmetic of counters: cell and time in, whether it is over the limit and what it becomes. No keys, no storage.
import type { Budget, Cell, RateLimit } from '../types.ts'

/** `[calls, units]`, and where a human has raised it `[calls, units, more calls, more units]`. */
export function isBudgetExceeded(budget: Budget, cell: Cell | undefined): boolean {
  const calls = cell?.[0] ?? 0
  const units = cell?.[1] ?? 0
  return (
    (budget.limit_calls !== null && calls + 1 > budget.limit_calls + (cell?.[2] ?? 0)) ||
    (budget.limit_cost_units !== null &&
      units + budget.cost_units_per_call > budget.limit_cost_units + (cell?.[3] ?? 0))
  )
}

export function spendBudget(budget: Budget, cell: Cell | undefined): Cell {
  return [(cell?.[0] ?? 0) + 1, (cell?.[1] ?? 0) + budget.cost_units_per_call, ...(cell?.slice(2) ?? [])]
}

/**
 * `[tokens, sinceMs]`: a bucket starts full and is refilled after each whole period. A full one is as good as new, and
 * its periods begin with its next use. Another process may have written a moment that is not here yet.
 */
export function refill(limit: RateLimit, cell: Cell | undefined, nowMs: number): Bucket {
  if (cell === undefined) return [limit.capacity, nowMs]
  const sinceMs = Math.min(cell[1] ?? nowMs, nowMs)
  const periods = Math.floor((nowMs - sinceMs) / limit.refill_period_ms)
  const tokens = Math.min(limit.capacity, (cell[0] ?? 0) + periods * limit.refill_tokens)
  return tokens >= limit.capacity ? [tokens, nowMs] : [tokens, sinceMs + periods * limit.refill_period_ms]
}

type Bucket = readonly [tokens: number, sinceMs: number]

/** How long until a bucket has `wanted` tokens; Infinity when it never will. */
export function waitMs(limit: RateLimit, cell: Cell, wanted: number, nowMs: number): number {
  const tokens = cell[0] ?? 0
  const sinceMs = cell[1] ?? 0
  if (tokens >= wanted) return 0
  if (limit.refill_tokens === 0 || wanted > limit.capacity) return Infinity
  return sinceMs + Math.ceil((wanted - tokens) / limit.refill_tokens) * limit.refill_period_ms - nowMs
}

/** Of times in a window, oldest first. */
export function isWithin(atMs: number, windowMs: number, nowMs: number): boolean {
  return nowMs - atMs < windowMs
}

export function countWithin(cell: Cell | undefined, windowMs: number, nowMs: number): number {
  if (cell === undefined) return 0
  let count = 0
  for (const atMs of cell) if (isWithin(atMs, windowMs, nowMs)) count += 1
  return count
}

/** Adds this moment and keeps the newest `most` times that still count. */
export function addTime(cell: Cell | undefined, windowMs: number, nowMs: number, most: number): Cell {
  if (most === 0) return []
  if (cell === undefined) return [nowMs]
  const kept = cell.filter((atMs) => isWithin(atMs, windowMs, nowMs))
  kept.push(nowMs)
  return kept.length > most ? kept.slice(-most) : kept
}

/** The latest time that a cell remembers; -Infinity for one that knows no time. The kind is the first word of its key. */
export function latestOf(kind: string, cell: Cell): number {
  return Math.max(...timesOf(kind, cell))
}

/** The same cell when all that it remembers was so much later. */
export function shifted(kind: string, cell: Cell, byMs: number): Cell {
  const times = timesOf(kind, cell).map((atMs) => atMs + byMs)
  return [...cell.slice(0, cell.length - times.length), ...times]
}

function timesOf(kind: string, cell: Cell): readonly number[] {
  return kind === 'budget' ? [] : kind === 'rate' ? cell.slice(1) : cell
}
