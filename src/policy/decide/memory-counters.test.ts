// Counters in memory at their bound: an agent that makes up names pays nothing more than others, and nobody's budget is forgotten.
import { expect, test } from 'vitest'
import { POLICY_BUDGETS_MAX, POLICY_SWEEP_MS, POLICY_WINDOWS_MAX } from '../../limits.ts'
import { MemoryCounters } from './memory-counters.ts'
import type { CellWrite } from '../types.ts'

const bucket = (n: number, expiresMs: number): CellWrite => ({ key: `rate ${n}`, args: '', cell: [n, 0], expiresMs })

test('past the bound a new name is refused, and expired ones are looked for once in a while only', () => {
  const counters = new MemoryCounters()
  for (let n = 0; n < POLICY_BUDGETS_MAX; n += 1) counters.apply([bucket(n, n < 1_000 ? 500 : Infinity)], 0)
  const isRefused = (nowMs: number): boolean => {
    try {
      counters.apply([bucket(-1 - nowMs, Infinity)], nowMs)
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'POLICY_COUNTERS_FULL' })
      return true
    }
  }
  // The first one looks, in vain; by 600 some have expired, and it is too early to look again.
  expect([0, 400, 600].map(isRefused)).toEqual([true, true, true])
  expect(isRefused(POLICY_SWEEP_MS)).toBe(false)
  expect(counters.get(`rate ${POLICY_BUDGETS_MAX - 1}`, '')).toEqual([POLICY_BUDGETS_MAX - 1, 0])
})

test('of windows the ones that changed last are remembered', () => {
  const counters = new MemoryCounters()
  const set = (n: number): void => counters.set(`dedupe k${n}`, [n], Infinity)
  for (let n = 0; n < 2 * POLICY_WINDOWS_MAX; n += 1) set(n)
  set(0)
  set(2 * POLICY_WINDOWS_MAX)
  expect(counters.get('dedupe k', '0')).toEqual([0])
  expect(counters.get('dedupe k', '1')).toBe(undefined)
  expect(counters.get('dedupe k', String(2 * POLICY_WINDOWS_MAX - 1))).toEqual([2 * POLICY_WINDOWS_MAX - 1])
})

test('what was changed since a mark can be undone', () => {
  const counters = new MemoryCounters()
  counters.set('budget a', [1, 1], Infinity)
  counters.set('dedupe b', [5], 10)
  counters.mark()
  for (const cell of [
    [2, 2],
    [3, 3],
  ])
    counters.set('budget a', cell, Infinity)
  counters.set('dedupe b', null, 0)
  counters.set('repeats c', [1], 9)
  counters.undo()
  expect(counters.saved(0)).toEqual([
    ['budget a', [1, 1], null],
    ['dedupe b', [5], 10],
  ])
})
