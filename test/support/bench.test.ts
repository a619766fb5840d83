// The bench frame's own proof: interleaving, order statistics, goals, and a peer that cannot run.
import { expect, test } from 'vitest'
import { compare } from '../../bench/support/bench.ts'
import { comparisonText } from '../../bench/support/report.ts'
import { summarize } from '../../bench/support/summary.ts'

test('sides take turns, each round starts with another one, and the first lap does not count', async () => {
  const order: string[] = []
  const side = (name: string, values: number[]) => ({
    name,
    measure: () => {
      order.push(name)
      return values.shift() ?? Number.NaN
    },
  })
  const result = await compare({
    what: 'lines',
    unit: 'lines/s',
    rounds: 3,
    ours: side('a', [999, 30, 10, 20]),
    // The machine was slow for both in the second round.
    peers: [{ ...side('b', [999, 10, 5, 20]), goal: { atLeast: 1.5 } }],
  })
  expect(order.join('')).toBe('ababbaab')
  expect(result.ours.summary.median).toBe(20)
  expect(result.peers.map(({ ratio, passed }) => [ratio, passed])).toEqual([[2, true]])
  expect(comparisonText(result)).toMatch(
    /a +20\.0 +15\.0–25\.0\n.*b +10\.0 .*ours\/peer 2\.00, goal at least 1\.5: met/,
  )
})

test('a missed goal is reported, a peer that cannot run fails the comparison', async () => {
  const slow = { what: 'start', unit: 'ms', rounds: 1, ours: { name: 'ours', measure: () => 14 } }
  const missed = await compare({ ...slow, peers: [{ name: 'peer', measure: () => 10, goal: { atMost: 1.3 } }] })
  expect(missed.peers[0]?.passed).toBe(false)
  expect(comparisonText(missed)).toContain('MISSED')
  const broken = { name: 'broken', measure: () => Promise.reject(new Error('peer is not installed')) }
  await expect(compare({ ...slow, peers: [broken] })).rejects.toThrow('peer is not installed')
})

test('medians and quartiles interpolate', () => {
  expect(summarize([4, 1, 3, 2])).toEqual({ min: 1, lowerQuartile: 1.75, median: 2.5, upperQuartile: 3.25, max: 4 })
  expect(() => summarize([])).toThrow('no samples')
})
