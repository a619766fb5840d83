// A session's process from the starter's side, before it knows what to run: it boots, then waits for its options.
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { Env } from '../paths.ts'
import { SUPERVISOR_VARIABLE } from '../session-variables.ts'
import { ANNOUNCE_ARGUMENT, READY_FD } from '../wire/launching.ts'

export interface LaunchWith {
  /** Path of `session.cjs`. */
  readonly launcher: string
  /** Environment of the supervisor, and so of the child. */
  readonly env: Env
}

/** Nobody has to end it: when the starter goes without handing options over, it goes as well. */
export interface LaunchedSession {
  readonly launcher: string
  /** Nothing when there is no process. */
  readonly pid: number | undefined
  readonly options: Writable
  /** Does not keep the starter alive until `ref` says that somebody waits. */
  readonly readiness: Socket
  /** Why there is no process, or nothing once it runs. */
  readonly failure: Promise<Error | undefined>
  kill(): void
}

export function launchSession(id: string, { launcher, env }: LaunchWith): LaunchedSession {
  // Asked for here: the command line loads this file for every command, and spawning takes much of Node along.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [launcher, id, ANNOUNCE_ARGUMENT], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    env: { ...env, [SUPERVISOR_VARIABLE]: id },
    cwd: '/',
  })
  child.unref()
  const readiness = child.stdio[READY_FD] as Socket
  readiness.unref()
  return {
    launcher,
    pid: child.pid,
    options: child.stdio[0] as Writable,
    readiness,
    failure: new Promise((resolve) => {
      child.once('error', resolve)
      child.once('spawn', () => resolve(undefined))
    }),
    kill: () => void child.kill('SIGKILL'),
  }
}
