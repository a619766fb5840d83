import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { breakEven, cachedCost, rawCost, type Spend } from './pricing.ts'

test('a shared prefix of 13,000 tokens over three spawns costs 18,850, not 39,000', () => {
  const verbatim = { shared: 13_000, own: 0, once: 0 }
  expect([rawCost(verbatim, 3), cachedCost(verbatim, 3)]).toEqual([39_000, 18_850])
})

test('a prefix too short for a cache is paid in full each time', () => {
  expect(cachedCost({ shared: 1_023, own: 10, once: 5 }, 4)).toBe(5 + 4 * 1_033)
})

test('the example of large briefs: 3,300 tokens uncached lose against 13,000 cached at eight spawns', () => {
  expect(breakEven({ shared: 0, own: 3_300, once: 0 }, { shared: 13_000, own: 0, once: 0 })).toEqual({
    from: 1,
    upTo: 7,
  })
})

test('break-even agrees with counting up to ten thousand spawns', () => {
  const spend: fc.Arbitrary<Spend> = fc.record({ shared: fc.nat(20_000), own: fc.nat(4_000), once: fc.nat(30_000) })
  fc.assert(
    fc.property(spend, spend, (ours, theirs) => {
      const { from, upTo } = breakEven(ours, theirs)
      const ahead = (spawns: number): boolean => cachedCost(ours, spawns) < cachedCost(theirs, spawns) - 1e-6
      const counts = [1, 2, 3, 5, 10, 100, 10_000]
      const edges = [from ?? 1, (from ?? 1) - 1, upTo, upTo + 1].filter((n) => Number.isFinite(n) && n >= 1 && n < 1e7)
      for (const spawns of [...counts, ...edges]) {
        const isInside = from !== undefined && spawns >= from && spawns <= upTo
        // Where the two cost the same to within rounding, either answer is right.
        if (Math.abs(cachedCost(ours, spawns) - cachedCost(theirs, spawns)) > 1e-3) expect(ahead(spawns)).toBe(isInside)
      }
    }),
    { numRuns: scaled(200, 30_000) },
  )
})
