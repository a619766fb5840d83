// What models have spent, added up. Pure.
import type { UsageTotal } from '../../runs/owned-run.ts'
import type { ModelCost } from './fleet.ts'

export function costOf({ tokens, usd, unpriced, prices }: UsageTotal): ModelCost {
  const { input, cached, cache_write: written, output } = tokens
  return { tokens: input + cached + written + output, cached_reads: cached, usd, unpriced, prices }
}

export function costInAll(costs: readonly ModelCost[]): ModelCost | null {
  const [first] = costs
  if (first === undefined) return null
  const sum = (of: (cost: ModelCost) => number): number => costs.reduce((total, cost) => total + of(cost), 0)
  return {
    tokens: sum(({ tokens }) => tokens),
    cached_reads: sum(({ cached_reads: cached }) => cached),
    usd: sum(({ usd }) => usd),
    unpriced: [...new Set(costs.flatMap(({ unpriced }) => unpriced))],
    prices: first.prices,
  }
}
