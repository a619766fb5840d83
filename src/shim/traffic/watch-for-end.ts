// When a shim is to end from outside: a signal, or the death of the parent where the end of input does not tell.
import type { EventEmitter } from 'node:events'
import type { Clock } from '../../clock.ts'
import { EXIT } from '../../errors.ts'
import { PARENT_WATCH_MS } from '../../limits.ts'

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Gets what is to be done, with the exit code that is usual for the reason. Returns how to stop watching. */
export type WatchForEnd = (end: (exitCode: number) => void) => () => void

export interface EndWatch {
  readonly signals: EventEmitter
  /** The process that started the shim, as it was at the very beginning: a busy machine may take a second from there to here. */
  readonly parent: number
  /** The same, asked again and again; it changes when that process is gone. */
  readonly parentPid: () => number
  readonly clock: Clock
}

export const watchForEnd =
  ({ signals, clock, parent, parentPid }: EndWatch): WatchForEnd =>
  (end) => {
    const listeners = Object.entries(SIGNALS).map(([name, exitCode]) => {
      const listener = (): void => end(exitCode)
      signals.on(name, listener)
      return { name, listener }
    })
    let isWatching = parent > 1
    const look = (): void => {
      if (!isWatching) return
      if (parentPid() === parent) clock.after(PARENT_WATCH_MS, look, { background: true })
      else end(EXIT.ok)
    }
    look()
    return () => {
      isWatching = false
      for (const { name, listener } of listeners) signals.off(name, listener)
    }
  }
