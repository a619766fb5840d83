// The hub as a background process: started by `heimdall open`, stopped by `heimdall up --stop`.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { HUB_PORT, HUB_START_MS, HUB_STOP_MS } from '../limits.ts'
import { type Env, stateDir } from '../paths.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { type HubFile, notRunning, readHubFile, takeHubPlace } from './door/hub-file.ts'

const POLL_MS = 50

export const hubLogPath = (env: Env): string => join(stateDir(env), 'hub.log')

/** The file of the hub that runs. Nothing when none does: the file of one that was killed is removed. */
export function runningHub(env: Env): HubFile | undefined {
  const place = takeHubPlace(stateDir(env))
  place?.leave()
  return place === undefined ? readHubFile(stateDir(env)) : undefined
}

/** Starts the hub for one folder, detached from this terminal, and resolves when it answers. */
export async function startInBackground(launcher: string, folder: string, env: Env, clock: Clock): Promise<HubFile> {
  const deadlineMs = clock.monoMs() + HUB_START_MS
  // A free port where another program has the usual one: the link names it.
  for (const port of [HUB_PORT, 0]) {
    const hasEnded = spawnHub([launcher, 'up', '--json', '--port', String(port)], folder, env)
    for (;;) {
      const hub = readHubFile(stateDir(env))
      if (hub !== undefined) return hub
      const { code, message } = hasEnded() ? errorIn(env) : { code: undefined, message: '' }
      if (code === 'HUB_PORT_TAKEN' && port !== 0) break
      // HUB_RUNNING: another command was faster, and its hub serves both.
      if (code !== undefined && code !== 'HUB_RUNNING') throw failed(env, `the hub did not start: ${message}`)
      if (clock.monoMs() >= deadlineMs) throw failed(env, `the hub did not answer within ${HUB_START_MS / 1_000} s`)
      await pause(clock, POLL_MS)
    }
  }
  throw failed(env, 'no port is free for the hub')
}

/** Returns whether the process has ended. */
function spawnHub(words: readonly string[], folder: string, env: Env): () => boolean {
  const logPath = hubLogPath(env)
  ensureFolder(stateDir(env))
  const log = onDisk(logPath, () => fs.openSync(logPath, 'w', 0o600))
  const child = spawn(process.execPath, words, { cwd: folder, env, detached: true, stdio: ['ignore', log, log] })
  fs.closeSync(log)
  let hasEnded = false
  child.once('error', () => (hasEnded = true)).once('exit', () => (hasEnded = true))
  child.unref()
  return () => hasEnded
}

/** The error that `heimdall up --json` has printed. */
function errorIn(env: Env): { readonly code: string; readonly message: string } {
  const text = fs.readFileSync(hubLogPath(env), 'utf8')
  const line = text.split('\n').find((one) => one.startsWith('{"ok":false')) ?? ''
  const [, code = 'INTERNAL'] = /"code":"(\w+)"/.exec(line) ?? []
  const [, message = text.trim()] = /"message":("(?:[^"\\]|\\.)*")/.exec(line) ?? []
  return { code, message }
}

const failed = (env: Env, message: string): HeimdallError =>
  new HeimdallError('HUB_NOT_RUNNING', message, { hint: `its log is ${hubLogPath(env)}` })

/** Ends the hub and waits until its lock is free. */
export async function stopHub(env: Env, clock: Clock): Promise<HubFile> {
  const hub = runningHub(env)
  if (hub === undefined) throw notRunning()
  try {
    process.kill(hub.pid, 'SIGTERM')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
  const deadlineMs = clock.monoMs() + HUB_STOP_MS
  while (runningHub(env) !== undefined) {
    if (clock.monoMs() >= deadlineMs)
      throw new HeimdallError('HUB_RUNNING', `the hub (pid ${hub.pid}) did not stop within ${HUB_STOP_MS / 1_000} s`)
    await pause(clock, POLL_MS)
  }
  return hub
}
