import { expect, test, vi } from 'vitest'
import { isoSeconds, pause, systemClock } from './clock.ts'

test('the monotonic clock does not go backwards', () => {
  let last = systemClock.monoMs()
  for (let i = 0; i < 1_000; i += 1) {
    const now = systemClock.monoMs()
    expect(now).toBeGreaterThanOrEqual(last)
    last = now
  }
})

test('a pause ends at once when its signal aborts, before or during it', async () => {
  const controller = new AbortController()
  const waiting = pause(systemClock, 3_600_000, controller.signal)
  controller.abort()
  await waiting
  await pause(systemClock, 3_600_000, controller.signal)
})

test('a cancelled timer does not fire', async () => {
  let fired = false
  systemClock.after(0, () => (fired = true)).cancel()
  await pause(systemClock, 1)
  expect(fired).toBe(false)
})

test('a timer may be longer than Node can wait', () => {
  vi.useFakeTimers()
  try {
    const monthMs = 31 * 24 * 3_600_000
    let fired = false
    systemClock.after(monthMs, () => (fired = true))
    vi.advanceTimersByTime(monthMs - 1)
    expect(fired).toBe(false)
    vi.advanceTimersByTime(1)
    expect(fired).toBe(true)
    systemClock.after(monthMs, () => (fired = false)).cancel()
    const second = systemClock.after(monthMs, () => (fired = false))
    vi.advanceTimersByTime(monthMs - 1)
    second.cancel()
    vi.advanceTimersByTime(monthMs)
    expect(fired).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('seconds without a fraction (seed 000, log lines)', () => {
  expect(isoSeconds(Date.UTC(2026, 5, 11, 12, 7, 27, 999))).toBe('2026-06-11T12:07:27Z')
})
