// Time as an argument: wall clock for people, monotonic clock for durations, timers that a test can own.

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the epoch. May jump, also backwards: for display and for records, never for durations. */
  wallMs(): number
  /** Milliseconds from an arbitrary start that never go backwards. All processes of one boot of the machine read the same clock. */
  monoMs(): number
  /** Runs `fire` once after `ms`. The timer does not keep the process alive when `background` is set. */
  after(ms: number, fire: () => void, options?: { readonly background?: boolean }): Timer
}

/** The longest that Node waits: of anything more it makes one millisecond. 25 days, which a deadline may be past. */
const TIMER_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  // Not `performance.now()`, which starts anew in each process: leases compare readings of different processes.
  monoMs() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1_000 + nanoseconds / 1_000_000
  },
  after(ms, fire, options) {
    let handle: NodeJS.Timeout | undefined
    const wait = (leftMs: number): void => {
      const isLast = leftMs <= TIMER_MS_MAX
      handle = setTimeout(() => (isLast ? fire() : wait(leftMs - TIMER_MS_MAX)), isLast ? leftMs : TIMER_MS_MAX)
      if (options?.background === true) handle.unref()
    }
    wait(ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Resolves after `ms` of the clock's time, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.after(ms, done)
    signal?.addEventListener('abort', done)
  })
}

/** Resolves when `work` does, at the latest after `ms`; no timer is left behind that would keep a process alive. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  await Promise.race([work, pause(clock, ms, done.signal)])
  done.abort()
}

/** The same, but the time, asked for each time, begins anew for as long as `moved` changes. */
export async function whileMoving(
  clock: Clock,
  ms: () => number,
  moved: () => number,
  work: Promise<unknown>,
): Promise<void> {
  const done = work.then(() => true)
  for (let before = moved(), now = before; ; before = now) {
    const timer = new AbortController()
    const isDone = await Promise.race([done, pause(clock, ms(), timer.signal).then(() => false)])
    timer.abort()
    now = moved()
    if (isDone || now === before) return
  }
}

/** RFC 3339 in UTC with whole seconds, the form that seed 000 writes. */
export function isoSeconds(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`
}
