// Liveness under clocks that jump, stop, run backwards and lie (seed 002 §4.1, §4.3; threat row 17).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expiresMs, isLapsed, livenessOf, sight, type Sighting, silenceMs } from './liveness.ts'
import type { Moment } from '../moment.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const STALE = 15 * MINUTE
const at = (monoMs: number, wallMs: number, boot = 'a'): Moment => ({ boot, monoMs, wallMs })

test('seed 002 §4.3: the boundaries belong to the older side', () => {
  expect([STALE - 1, STALE, 2 * STALE - 1, 2 * STALE].map((ms) => livenessOf(ms, STALE))).toEqual([
    'active',
    'stale',
    'stale',
    'evicted',
  ])
})

test('within one boot no wall reading changes anything', () => {
  fc.assert(
    fc.property(
      fc.nat(4 * STALE),
      fc.integer({ min: -DAY, max: DAY }),
      fc.integer({ min: -DAY, max: DAY }),
      (ms, then, now) => {
        expect(silenceMs({ count: 1, at: at(0, then) }, null, at(ms, now))).toBe(ms)
      },
    ),
  )
})

test('a beating owner on another machine is never silent for longer than we have watched it, whatever its clock says', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -DAY, max: DAY }), { minLength: 2, maxLength: 20 }), (lies) => {
      let seen: Sighting | null = null
      lies.forEach((lie, count) => {
        // It beats once a minute and writes down a time that is wrong by up to a day either way.
        const now = at(count * MINUTE, count * MINUTE)
        const beat = { count, at: at(0, now.wallMs + lie, 'elsewhere') }
        seen = sight(beat, seen, now) ?? seen
        if (count > 0) expect(silenceMs(beat, seen, now)).toBe(0)
      })
    }),
  )
})

test('a dead owner on another machine is evicted within twice the stale time of watching, also when its clock was a century ahead', () => {
  const beat = { count: 7, at: at(0, 100 * 365 * DAY, 'elsewhere') }
  const seen = sight(beat, null, at(1_000, 0)) ?? null
  expect(seen).toMatchObject({ ageMs: 0, monoMs: 1_000 })
  expect(livenessOf(silenceMs(beat, seen, at(1_000 + 2 * STALE, 0)), STALE)).toBe('evicted')
  // The wall of the observer jumps back a day in the meantime.
  expect(livenessOf(silenceMs(beat, seen, at(1_000 + 2 * STALE, -DAY)), STALE)).toBe('evicted')
})

test('after a reboot the walls give the age at first sight, and monotonic time goes on from there', () => {
  const beat = { count: 3, at: at(500_000, 0, 'before') }
  const first = at(10, 20 * MINUTE, 'after')
  const seen = sight(beat, null, first) ?? null
  expect(silenceMs(beat, seen, first)).toBe(20 * MINUTE)
  expect(silenceMs(beat, seen, at(10 + 10 * MINUTE, -DAY, 'after'))).toBe(30 * MINUTE)
  // The clock was reset to long ago by an empty battery: the age is zero and grows.
  expect(silenceMs(beat, null, at(10, -40 * 365 * DAY, 'after'))).toBe(0)
})

test('what was seen already is not written down again', () => {
  const beat = { count: 3, at: at(0, 0, 'elsewhere') }
  const seen = sight(beat, null, at(0, 0)) ?? null
  expect(sight(beat, seen, at(99, 99))).toBeUndefined()
  expect(sight({ count: 1, at: at(5, 5) }, null, at(6, 6))).toBeUndefined()
})

test('a lease lapses after its length of silence, or a day after its grant', () => {
  expect([
    isLapsed(5 * MINUTE - 1, 5, 0),
    isLapsed(5 * MINUTE, 5, 0),
    isLapsed(0, 5, DAY - 1),
    isLapsed(0, 5, DAY),
  ]).toEqual([false, true, false, true])
  expect(expiresMs(1_000, 5, 0)).toBe(1_000 + 5 * MINUTE)
  expect(expiresMs(DAY - 1, 5, 0)).toBe(DAY)
})
