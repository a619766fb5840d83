// Waits that overlap: counted each, and no moment twice.
import { expect, test } from 'vitest'
import { apart, waitedIn, type WaitSpan } from './run-waits.ts'

const wait = (id: string, fromMs: number, toMs: number | null, isForAgent = false): WaitSpan => ({
  id,
  fromMs,
  toMs,
  text: id,
  isForAgent,
})

test.each([
  ['none', [], { count: 0, ms: 0, for_you_ms: 0, is_open: false }],
  ['one after the other', [wait('a', 0, 10), wait('b', 20, 25)], { count: 2, ms: 15, for_you_ms: 15, is_open: false }],
  ['one in the other', [wait('a', 0, 10), wait('b', 2, 5)], { count: 2, ms: 10, for_you_ms: 10, is_open: false }],
  [
    'one that goes on after the other',
    [wait('a', 0, 10), wait('b', 5, 12)],
    { count: 2, ms: 12, for_you_ms: 12, is_open: false },
  ],
  [
    'an open one, and another within it',
    [wait('a', 0, null), wait('b', 5, 12)],
    { count: 2, ms: 30, for_you_ms: 30, is_open: true },
  ],
  [
    'two that are open',
    [wait('a', 10, null), wait('b', 20, null)],
    { count: 2, ms: 20, for_you_ms: 20, is_open: true },
  ],
  [
    'one for a person, one for an agent that begins in it',
    [wait('a', 0, 10), wait('b', 5, 18, true)],
    { count: 2, ms: 18, for_you_ms: 10, is_open: false },
  ],
  ['for an agent alone', [wait('a', 0, 16, true)], { count: 1, ms: 16, for_you_ms: 0, is_open: false }],
])('%s', (_, waits, waited) => {
  expect(waitedIn(waits, 30)).toEqual(waited)
})

test('what is left of the later one begins where the first has ended', () => {
  expect(apart([wait('a', 0, 10), wait('b', 5, 12)])).toEqual([wait('a', 0, 10), wait('b', 10, 12)])
})
