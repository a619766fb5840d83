// Points in time that do not depend on one clock: what the wall showed, and how long ago it was by a clock that cannot jump.
import { hostname } from 'node:os'
import { bootId, UNKNOWN_BOOT } from '../boot-id.ts'
import type { Clock } from '../clock.ts'

/**
 * The wall reading is for people. Durations are differences of monotonic readings, and those mean something only
 * within one boot of one machine, so the boot is part of the moment.
 */
export interface Moment {
  readonly boot: string
  readonly monoMs: number
  readonly wallMs: number
}

/** What a program is running on: passed in, so that a test can reboot. */
export interface Machine {
  readonly boot: string
  readonly host: string
}

export function readMachine(): Machine {
  const boot = bootId()
  // Where the system has no word for its boot, each process is a boot of its own: ages are taken from the wall at
  // first sight and from observation after that, which is right, only coarser.
  return { boot: boot === UNKNOWN_BOOT ? `process-${process.pid}-${process.hrtime.bigint()}` : boot, host: hostname() }
}

export function momentOf(clock: Pick<Clock, 'wallMs' | 'monoMs'>, machine: Machine): Moment {
  return { boot: machine.boot, monoMs: clock.monoMs(), wallMs: clock.wallMs() }
}

/** Milliseconds from `then` to `now`: monotonic within one boot, by the wall across boots, and never negative. */
export function sinceMs(then: Moment, now: Moment): number {
  return Math.max(0, then.boot === now.boot ? now.monoMs - then.monoMs : now.wallMs - then.wallMs)
}

export function iso(wallMs: number): string {
  return new Date(wallMs).toISOString()
}
