// Sees to it that a watcher runs for as long as the session does. The session waits for none.
import type { Clock, Timer } from '../clock.ts'
import { WATCHER_GUARD_MS, WATCHER_GUARD_MS_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'
import { isOlderThanThis, livingWatcher, startWatcher } from '../watcher-process.ts'
import type { SessionLog } from './session-log.ts'

export interface WatcherGuard {
  /** The session is over: a watcher that is missing is started once more, to close the run. */
  last(): void
}

/** `command` ends with the folder of the watcher. */
export function guardWatcher(command: readonly string[], env: Env, clock: Clock, log: SessionLog): WatcherGuard {
  const folder = command.at(-1) ?? ''
  let timer: Timer
  let waitMs = WATCHER_GUARD_MS
  const start = (why: string): void => {
    log.write('debug', 'watcher', `starting one: ${why}`)
    startWatcher(command, env, (problem) => log.write('error', 'watcher', `cannot be started: ${problem}`))
  }
  const look = (): void => {
    if (livingWatcher(folder) !== undefined) waitMs = WATCHER_GUARD_MS
    else {
      start('none runs')
      waitMs = Math.min(waitMs * 2, WATCHER_GUARD_MS_MAX)
    }
    timer = clock.after(waitMs, look, { background: true })
  }
  const running = livingWatcher(folder)
  if (running !== undefined && isOlderThanThis(running)) start(`${running.version} runs`)
  look()
  return {
    last() {
      timer.cancel()
      if (livingWatcher(folder) === undefined) start('the session is over')
    },
  }
}
