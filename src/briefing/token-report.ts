// What the ledger adds up to: totals per role, and the delta against the v1 baselines, in the seed's own lines.
import { escapeColumn } from '../storage/columns.ts'
import type { LedgerRow } from './token-ledger.ts'

export interface Totals {
  readonly tokens: number
  readonly cached: number
  readonly uncached: number
  readonly messages: number
  readonly measured: number
  readonly declared: number
}

/** A number declared for a message that was also measured is superseded: counting both would count the message twice. */
export function countedRows(rows: readonly LedgerRow[], runId?: string): LedgerRow[] {
  const key = (row: LedgerRow): string => JSON.stringify([row.run_id, row.msg_id])
  const measured = new Set(rows.filter((row) => row.source === 'measured' && row.msg_id !== undefined).map(key))
  return rows.filter(
    (row) =>
      (runId === undefined || row.run_id === runId) &&
      !(row.source === 'declared' && row.msg_id !== undefined && measured.has(key(row))),
  )
}

export function totalsOf(rows: readonly LedgerRow[]): Totals {
  const sum = (of: (row: LedgerRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const tokens = sum((row) => row.tokens)
  const cached = sum((row) => row.cached_tokens ?? 0)
  const measured = sum((row) => (row.source === 'measured' ? row.tokens : 0))
  return { tokens, cached, uncached: tokens - cached, messages: rows.length, measured, declared: tokens - measured }
}

/** Sorted by name, by code unit, so that two machines print the same. */
export function totalsBy(rows: readonly LedgerRow[], of: (row: LedgerRow) => string): Map<string, Totals> {
  const groups = new Map<string, LedgerRow[]>()
  for (const row of rows) {
    const group = groups.get(of(row))
    if (group === undefined) groups.set(of(row), [row])
    else group.push(row)
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, group]) => [name, totalsOf(group)]))
}

export interface LedgerSpan {
  readonly rows: number
  /** Rows that name no run are one run together. */
  readonly runs: number
  readonly from: string | null
  readonly to: string | null
}

export function spanOf(rows: readonly LedgerRow[]): LedgerSpan {
  const times = rows.map(({ ts }) => ts).sort()
  return {
    rows: rows.length,
    runs: new Set(rows.map((row) => row.run_id)).size,
    from: times[0] ?? null,
    to: times.at(-1) ?? null,
  }
}

/** `over` says what the rows are: this run, another one, all of them. */
export function reportLines(rows: readonly LedgerRow[], over: string): string[] {
  return [
    `token ledger — per-role totals (${escapeColumn(over)})`,
    ...[...totalsBy(rows, (row) => row.role)].map(
      ([role, { tokens, messages }]) => `  ${escapeColumn(role)}: ${tokens} tokens (${messages} msgs)`,
    ),
    `  TOTAL: ${totalsOf(rows).tokens} tokens`,
  ]
}

export const DELTA_HEADER = 'token ledger — measured delta vs v1 baseline'

export function deltaLine(role: string, baseline: number | undefined, { tokens, messages }: Totals): string {
  const name = escapeColumn(role)
  if (messages === 0) return `  ${name}: ${baseline ?? 'baseline n/a'} -> nothing logged yet, no saving to report`
  if (baseline === undefined || baseline === 0)
    return `  ${name}: baseline n/a -> ${tokens} tokens (no v1 baseline recorded)`
  return `  ${name}: ${baseline} -> ${tokens} tokens (v1 baseline -> measured; ${changeText(baseline, tokens)})`
}

/** `-73%` for a saving, `+12%` for a loss: a loss is printed as one. */
export function changeText(before: number, after: number): string {
  const percent = Math.round((100 * (before - after)) / before)
  return after > before ? `+${-percent}%` : `-${percent}%`
}
