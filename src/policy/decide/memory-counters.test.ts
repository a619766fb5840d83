// Counters in memory at their bound: an agent that makes up names pays nothing more than others, and nobody's budget is forgotten.
import { expect, test } from 'vitest'
import { POLICY_BUDGETS_MAX, POLICY_SWEEP_MS } from '../../limits.ts'
import { MemoryCounters } from './memory-counters.ts'
import type { CellWrite } from '../types.ts'

const bucket = (n: number, expiresMs: number): CellWrite => ({ key: `rate ${n}`, args: '', cell: [n, 0], expiresMs })

test('past the bound a new name is refused without a look at all others, until some may have expired', () => {
  const counters = new MemoryCounters()
  let looks = 0
  // Whoever looks for what has expired reads when each of them does.
  const watched = (n: number, expiresMs: number): CellWrite => ({
    ...bucket(n, 0),
    get expiresMs() {
      looks += 1
      return expiresMs
    },
  })
  for (let n = 0; n < POLICY_BUDGETS_MAX; n += 1)
    counters.apply([n < 1_000 ? watched(n, 5_000) : bucket(n, Infinity)], 0)
  const refused = (nowMs: number): boolean => {
    try {
      counters.apply([bucket(-1 - nowMs, Infinity)], nowMs)
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'POLICY_COUNTERS_FULL' })
      return true
    }
  }
  for (let n = 0; n < 500; n += 1) expect(refused(n / 1_000)).toBe(true)
  expect(looks).toBe(1_000)
  expect(refused(POLICY_SWEEP_MS)).toBe(true)
  expect(looks).toBe(2_000)
  expect(refused(5_000)).toBe(false)
  expect(counters.get(`rate ${POLICY_BUDGETS_MAX - 1}`, '')).toEqual([POLICY_BUDGETS_MAX - 1, 0])
})
