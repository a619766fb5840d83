// Stuck and looping, by their definitions.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LOOP_COUNT_MIN, LOOP_WINDOW_MS, STUCK_SILENCES, STUCK_SILENT_MS_MIN, STUCK_TIMES } from '../limits.ts'
import { Circles, isStuck, Silences } from './signs.ts'

const call = (key: string, atMs: number) => ({ what: 'call' as const, key, name: key, atMs })

test('the same call again and again within the window is a loop, with its count and its time', () => {
  const circles = new Circles()
  for (let i = 0; i < LOOP_COUNT_MIN - 1; i += 1) circles.did(call('git push', i * 1_000))
  expect(circles.now(5_000)).toBeNull()
  circles.did(call('git push', 6_000))
  expect(circles.now(7_000)).toEqual({
    what: 'call',
    name: 'git push',
    count: LOOP_COUNT_MIN,
    first_at: '1970-01-01T00:00:00.000Z',
    last_at: '1970-01-01T00:00:06.000Z',
  })
})

test('it clears by itself: when the window has passed, and when other calls are made', () => {
  const circles = new Circles()
  for (let i = 0; i < LOOP_COUNT_MIN; i += 1) circles.did(call('a', i))
  expect(circles.now(LOOP_WINDOW_MS + 10)).toBeNull()
  circles.did(call('b', 100))
  expect(circles.now(200)).toBeNull()
})

test('the same error again and again is a loop whatever the calls were', () => {
  const circles = new Circles()
  for (let i = 0; i < LOOP_COUNT_MIN; i += 1) {
    circles.did(call(`try ${i}`, i))
    circles.did({ what: 'error', key: 'ECONNREFUSED', name: 'db: ECONNREFUSED', atMs: i })
  }
  expect(circles.now(10)).toMatchObject({ what: 'error', name: 'db: ECONNREFUSED', count: LOOP_COUNT_MIN })
})

test('who does something else at least every other time is never said to loop', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 60 }), (gaps) => {
      const circles = new Circles()
      let now = 0
      for (const [i, gap] of gaps.entries()) {
        circles.did(call('same', now))
        circles.did(call(`other ${i} one`, (now += gap)))
        circles.did(call(`other ${i} two`, (now += gap)))
      }
      expect(circles.now(now)).toBeNull()
    }),
  )
})

test('stuck: only who says that it works, and only past a multiple of its usual silence', () => {
  expect(isStuck(false, 1e9, null)).toBe(false)
  expect(isStuck(true, STUCK_SILENT_MS_MIN - 1, null)).toBe(false)
  expect(isStuck(true, STUCK_SILENT_MS_MIN, null)).toBe(true)
  const usual = STUCK_SILENT_MS_MIN
  expect(isStuck(true, STUCK_TIMES * usual - 1, usual)).toBe(false)
  expect(isStuck(true, STUCK_TIMES * usual, usual)).toBe(true)
})

test('the usual silence is the longest of the last ones', () => {
  const silences = new Silences(null)
  expect(silences.usualMs).toBeNull()
  silences.ended(90_000)
  for (let i = 1; i < STUCK_SILENCES; i += 1) silences.ended(2_000)
  expect(silences.usualMs).toBe(90_000)
  silences.ended(3_000)
  expect(silences.usualMs).toBe(3_000)
})
