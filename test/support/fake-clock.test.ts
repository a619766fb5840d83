// The fake clock's own proof: order of timers, chains of awaits, and independence of the two clocks.
import { expect, test } from 'vitest'
import { pause } from '../../src/clock.ts'
import { fakeClock } from './fake-clock.ts'

test('timers fire in order of time at their own time, and cancelled ones never', () => {
  const clock = fakeClock(1_000)
  const fired: [string, number][] = []
  clock.after(20, () => fired.push(['b', clock.monoMs()]))
  clock.after(10, () => {
    fired.push(['a', clock.monoMs()])
    clock.after(5, () => fired.push(['c', clock.monoMs()]))
  })
  clock.after(12, () => fired.push(['never', 0])).cancel()
  clock.advance(9)
  expect(fired).toEqual([])
  clock.advance(11)
  expect(fired).toEqual([
    ['a', 10],
    ['c', 15],
    ['b', 20],
  ])
  expect([clock.wallMs(), clock.pending()]).toEqual([1_020, 0])
})

test('a chain of pauses runs through in one asynchronous advance', async () => {
  const clock = fakeClock()
  let laps = 0
  const run = (async () => {
    for (; laps < 5; laps += 1) await pause(clock, 100)
  })()
  await clock.advanceAsync(499)
  expect(laps).toBe(4)
  await clock.advanceAsync(1)
  await run
  expect(laps).toBe(5)
})

test('the wall clock jumps without the monotonic one', () => {
  const clock = fakeClock(1_000)
  clock.advance(5)
  clock.jumpWall(0)
  clock.advance(5)
  expect([clock.wallMs(), clock.monoMs()]).toEqual([5, 10])
})
