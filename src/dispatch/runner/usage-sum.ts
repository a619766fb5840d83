// Usage of several turns of one task, as one.
import type { Usage } from '../messages.ts'

const COUNTS = ['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'cost_usd_est'] as const

export function sumUsage(one: Usage, other: Usage): Usage {
  const sums = Object.fromEntries(
    COUNTS.map((key) => [key, one[key] === null && other[key] === null ? null : (one[key] ?? 0) + (other[key] ?? 0)]),
  ) as Pick<Usage, (typeof COUNTS)[number]>
  return {
    ...one,
    ...other,
    ...sums,
    // As good as the worse of the two.
    source: one.source === 'unknown' ? 'unknown' : other.source,
    ...(one.by_model === undefined && other.by_model === undefined
      ? {}
      : { by_model: { ...one.by_model, ...other.by_model } }),
  }
}
