// Seeded randomness: the same seed gives the same run, and a failure says how to repeat it.
import { expect, test } from 'vitest'
import { seededRandom, withSeed } from './seed.ts'

test('a seed repeats, another one differs, values are spread over [0, 1)', () => {
  const take = (seed: number): number[] => Array.from({ length: 1000 }, seededRandom(seed))
  expect(take(1)).toEqual(take(1))
  expect(take(1)).not.toEqual(take(2))
  const buckets = new Set(take(3).map((value) => Math.floor(value * 10)))
  expect([...buckets].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a failure begins with the line that repeats it', async () => {
  await expect(withSeed(() => Promise.reject(new Error('lost an update')))).rejects.toThrow(
    /^HEIMDALL_SEED=\d+ repeats this: lost an update$/,
  )
  expect(await withSeed((random) => typeof random())).toBe('number')
})
