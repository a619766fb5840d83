import { expect, test } from 'vitest'
import type { ModelUsage } from '../../events/types.ts'
import { hoursOf } from './usage-bars.ts'

const booked = (saidAt: string | null, cached: number, input: number): ModelUsage =>
  ({
    said_at: saidAt,
    total: { tokens: { input, cached, cache_write: 0, output: 0 }, usd: 0 },
  }) as unknown as ModelUsage

test('tokens of all runs by the hour in which they were said, from sums that grow', () => {
  const one = [booked('2026-11-17T08:10:00.000Z', 100, 10), booked('2026-11-17T09:05:00.000Z', 400, 15)]
  const other = [booked('2026-11-17T09:59:59.000Z', 1_000, 1), booked(null, 5_000, 1)]
  expect(hoursOf([one, other, []])).toEqual([
    { hour: '2026-11-17T08:00:00Z', cached: 100, uncached: 10 },
    { hour: '2026-11-17T09:00:00Z', cached: 1_300, uncached: 6 },
  ])
})
