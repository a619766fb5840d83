// The process that looks after this session from outside. Nobody here waits for it; when it dies, there is another.
import { spawn } from 'node:child_process'
import type { Clock, Timer } from '../clock.ts'
import { KEEPER_RESTART_MS, KEEPER_RESTART_MS_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'
import { KEY_VARIABLE } from '../session-variables.ts'
import type { SessionLog } from './session-log.ts'

export interface KeeperProcess {
  /** The session is over: where nobody keeps it at this moment, somebody is started once more, to see to its end. */
  last(): void
}

/** `env` is the supervisor's own, whose mark in it keeps the tree's sweep away; a session around this one has no hand in it either. */
export function startKeeper(command: readonly string[], env: Env, clock: Clock, log: SessionLog): KeeperProcess {
  const [program = '', ...args] = command
  const { [KEY_VARIABLE]: _, ...own } = env
  let restartMs = KEEPER_RESTART_MS
  let waiting: Timer | undefined
  let isOver = false
  const start = (): void => {
    waiting = undefined
    const startedMs = clock.monoMs()
    // A session of its own: it outlives the terminal, this process, and whatever is sent to either's group.
    const child = spawn(program, args, { detached: true, stdio: 'ignore', env: own, cwd: '/' })
    child.unref()
    child.once('error', (error) => again(error.message, startedMs))
    child.once('exit', (code, signal) => {
      if (code !== 0) again(signal ?? `exit ${code}`, startedMs)
    })
  }
  const again = (why: string, startedMs: number): void => {
    if (isOver) return
    // One that lived for a while did not fail at once.
    restartMs = clock.monoMs() - startedMs > KEEPER_RESTART_MS_MAX ? KEEPER_RESTART_MS : restartMs
    log.write('warn', 'keeper', `ended: ${why}; another in ${restartMs} ms`)
    waiting = clock.after(restartMs, start, { background: true })
    restartMs = Math.min(restartMs * 2, KEEPER_RESTART_MS_MAX)
  }
  start()
  return {
    last() {
      isOver = true
      if (waiting === undefined) return
      waiting.cancel()
      start()
    },
  }
}
