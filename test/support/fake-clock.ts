// A clock that stands still until a test moves it.
import { type Clock, systemClock } from '../../src/clock.ts'

export interface FakeClock extends Clock {
  /** Moves both clocks forward and fires what falls due on the way, in order of time. */
  advance(ms: number): void
  /** Like `advance`, and lets promises settle after each timer, so that chains of timers and awaits run through. */
  advanceAsync(ms: number): Promise<void>
  /** Sets the wall clock alone, as a time server or a person does. */
  jumpWall(toMs: number): void
  /** How many timers wait. */
  readonly pending: () => number
}

export function fakeClock(startMs = Date.UTC(2026, 0, 2, 3, 4, 5)): FakeClock {
  let wall = startMs
  let mono = 0
  let order = 0
  const timers = new Set<{ dueMs: number; order: number; fire: () => void }>()

  const nextDue = (limit: number): { dueMs: number; order: number; fire: () => void } | undefined =>
    [...timers].filter((t) => t.dueMs <= limit).sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0]
  const moveTo = (target: number): void => {
    wall += target - mono
    mono = target
  }

  return {
    wallMs: () => wall,
    monoMs: () => mono,
    after(ms, fire) {
      const timer = { dueMs: mono + Math.max(0, ms), order: (order += 1), fire }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    advance(ms) {
      const target = mono + ms
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer)
        moveTo(timer.dueMs)
        timer.fire()
      }
      moveTo(target)
    },
    async advanceAsync(ms) {
      const target = mono + ms
      await settle()
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer)
        moveTo(timer.dueMs)
        timer.fire()
        await settle()
      }
      moveTo(target)
    },
    jumpWall(toMs) {
      wall = toMs
    },
    pending: () => timers.size,
  }
}

/** One turn of the event loop: all promises that can settle without time passing have done so. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A clock that runs `times` as fast: for waits that must run out, where nothing has to happen in time. */
export function fastClock(times: number): Clock {
  const startMs = systemClock.monoMs()
  return {
    wallMs: () => systemClock.wallMs(),
    monoMs: () => startMs + (systemClock.monoMs() - startMs) * times,
    after: (ms, fire, options) => systemClock.after(ms / times, fire, options),
  }
}
