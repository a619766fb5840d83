// Looks after all runs of a state folder: follows each from its start to its end, and settles those that were lost.
import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { bootId } from '../boot-id.ts'
import { type Clock, pause, within } from '../clock.ts'
import { HeimdallError, isErrno, isSystemError } from '../errors.ts'
import {
  WATCHER_ABANDONED_MS,
  WATCHER_FOREIGN_MS,
  WATCHER_IDLE_MS,
  WATCHER_LOCK_MS,
  WATCHER_LOOK_MS,
  WATCHER_RETRY_MS,
  WATCHER_SOON_MS,
  WATCHER_STOP_MS,
} from '../limits.ts'
import type { Env } from '../paths.ts'
import { isStillAlive, readStat } from '../processes.ts'
import { closeAbandonedRuns } from '../runs/run-close.ts'
import { isListening } from '../sessions/listening.ts'
import { listSessions, readHolder, socketOf } from '../sessions/session-files.ts'
import { sendSignal } from '../signals.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { tryLock, trySharedLock } from '../storage/kernel-lock.ts'
import { replaceUnsynced } from '../storage/unsynced-file.ts'
import { isOlderThanThis, livingWatcher, WATCHER_VERSION, type WatcherFile, watcherPath } from '../watcher-process.ts'
import { keepRun } from './keep-run.ts'
import { areProcessesVisible, isOfThisPlace, type KeptRun, readSheet, sheetPaths, writeSheet } from './kept-run.ts'
import { WatchedProjects } from './watched-project.ts'

export interface WatcherParts {
  /** Of the watcher’s own files, in the state folder. */
  readonly folder: string
  readonly runsDir: string
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
  readonly signal: AbortSignal
}

/** Resolves when there has been nothing to watch for some minutes, another watcher runs, or the signal aborts. */
export async function watchAll(parts: WatcherParts): Promise<void> {
  const path = watcherPath(parts.folder)
  const lock = fs.openSync(`${path}.lock`, 'a+', 0o600)
  if (!(await takeLock(lock, parts))) return
  const watcher = new Watcher(parts, path)
  try {
    await watcher.run(lock)
  } finally {
    await watcher.stop()
    if (isNamed(`${path}.lock`, lock)) fs.rmSync(`${path}.json`, { force: true })
  }
}

/** An older version is asked to give way; one of this version has the lock for as long as it lives. */
async function takeLock(fd: number, { folder, clock, signal }: WatcherParts): Promise<boolean> {
  const running = livingWatcher(folder)
  const older = running !== undefined && isOlderThanThis(running) ? running.process.pid : undefined
  if (older !== undefined) sendSignal(older, 'SIGTERM')
  const deadlineMs = clock.monoMs() + (older === undefined ? WATCHER_LOCK_MS : WATCHER_STOP_MS * 2)
  for (;;) {
    if (tryLock(fd)) return true
    if (clock.monoMs() >= deadlineMs) {
      // It does not end: stopped, or stuck.
      if (older !== undefined && livingWatcher(folder)?.process.pid === older) {
        sendSignal(older, 'SIGKILL')
        await pause(clock, WATCHER_LOCK_MS, signal)
      }
      return tryLock(fd)
    }
    await pause(clock, WATCHER_SOON_MS, signal)
  }
}

function isNamed(path: string, fd: number): boolean {
  const named = fs.statSync(path, { throwIfNoEntry: false })
  return named !== undefined && named.ino === fs.fstatSync(fd).ino
}

/** A run in the hands of the watcher. */
interface Watched {
  readonly stop: AbortController
  readonly over: Promise<void>
  /** Why it was set aside; it is tried again. */
  aside?: { readonly error: string; readonly retryMs: number }
}

/** What is thrown outside of a call of ours, in a timer or a file watch, belongs to the run that it was begun for. */
const current = new AsyncLocalStorage<{ readonly fail: (error: unknown) => void }>()

class Watcher {
  readonly #parts: WatcherParts
  readonly #path: string
  readonly #runs = new Map<string, Watched>()
  readonly #projects: WatchedProjects
  readonly #startedAt: string
  #said = ''
  #wake: () => void = () => undefined

  constructor(parts: WatcherParts, path: string) {
    this.#parts = parts
    this.#path = path
    this.#projects = new WatchedProjects(parts)
    this.#startedAt = new Date(parts.clock.wallMs()).toISOString()
  }

  async run(lock: number): Promise<void> {
    const { clock, signal, runsDir, note } = this.#parts
    const uncaught = (error: unknown): void => this.#uncaught(error)
    process.on('uncaughtException', uncaught).on('unhandledRejection', uncaught)
    signal.addEventListener('abort', () => this.#wake())
    this.#say()
    const kept = join(runsDir, '.kept')
    ensureFolder(kept)
    const news = fs.watch(kept, { persistent: false }, (_, name) => {
      if (name !== null && name.endsWith('.json') && !name.startsWith('.') && !this.#runs.has(join(kept, name)))
        this.#wake()
    })
    // The folder was removed: the next look finds that.
    news.on('error', (error) => note(`the folder of runs cannot be followed: ${error.message}`))
    try {
      let idleSinceMs = clock.monoMs()
      let abandonedMs = -Infinity
      while (!signal.aborted) {
        // The state folder was removed, or another has taken our place.
        if (!isNamed(`${this.#path}.lock`, lock)) return
        const waiting = await this.#look()
        const nowMs = clock.monoMs()
        if (this.#runs.size > 0 || waiting > 0) idleSinceMs = nowMs
        else if (nowMs - idleSinceMs >= WATCHER_IDLE_MS) return
        if (nowMs - abandonedMs >= WATCHER_ABANDONED_MS) {
          abandonedMs = nowMs
          for (const problem of closeAbandonedRuns(runsDir, clock).problems) note(problem)
        }
        await this.#pause(waiting > 0 ? WATCHER_SOON_MS : WATCHER_LOOK_MS)
      }
    } finally {
      news.close()
      process.off('uncaughtException', uncaught).off('unhandledRejection', uncaught)
    }
  }

  /** The runs go on, and the next watcher takes them up. */
  async stop(): Promise<void> {
    for (const { stop } of this.#runs.values()) stop.abort()
    await within(this.#parts.clock, WATCHER_STOP_MS, Promise.all([...this.#runs.values()].map(({ over }) => over)))
    this.#projects.close()
  }

  #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#parts
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    if (signal.aborted) woken.abort()
    return pause(clock, ms, woken.signal)
  }

  /** Takes up what is new. Returns how many runs are about to begin. */
  async #look(): Promise<number> {
    const { runsDir, clock } = this.#parts
    let waiting = 0
    for (const path of sheetPaths(runsDir)) {
      const known = this.#runs.get(path)
      if (known !== undefined) {
        if (known.aside === undefined || known.aside.retryMs > clock.monoMs()) continue
        this.#runs.delete(path)
      }
      try {
        if (!(await this.#begin(path))) waiting += 1
      } catch (error) {
        // Whatever is wrong with one run, the others go on.
        this.#setAside(path, errorText(error))
      }
    }
    // A run that was set aside, and whose file was removed by hand.
    for (const [path, { aside }] of this.#runs) if (aside !== undefined && !fs.existsSync(path)) this.#runs.delete(path)
    this.#say()
    return waiting
  }

  /** False for a run that is about to begin. */
  async #begin(path: string): Promise<boolean> {
    const run = readSheet(path)
    if (run === undefined && fs.existsSync(path)) this.#setAside(path, `${path} is not a run state file`)
    if (run === undefined || !(await isOurs(path, run, this.#parts))) return true
    const id = idNow(run)
    if (id !== undefined) this.#take(path, id === run.session.id ? run : renamed(path, run, id))
    return id !== undefined
  }

  #take(path: string, run: KeptRun): void {
    const { clock, note } = this.#parts
    const stop = new AbortController()
    let failure: Error | undefined
    const fail = (error: unknown): void => {
      failure ??= asError(error)
      stop.abort(failure)
    }
    const runDir = join(this.#parts.runsDir, run.folder)
    const over = current.run({ fail }, async () => {
      try {
        const how = {
          // All that it may know: a name that the run left unset is not that of the run that has started this watcher.
          env: run.env ?? this.#parts.env,
          clock,
          by: `the watcher (process ${process.pid})`,
          note: (line: string) => noteIn(runDir, clock, line),
          signal: stop.signal,
          projects: this.#projects,
        }
        const kept = await keepRun(path, how)
        if (kept === 'closed') this.#runs.delete(path)
        else if (failure !== undefined) this.#setAside(path, errorText(failure))
        else if (kept === 'open') this.#setAside(path, 'its end could not be completed', WATCHER_LOOK_MS)
      } catch (error) {
        note(`run ${run.folder}: ${errorText(error)}`)
        this.#setAside(path, errorText(error))
      }
      this.#wake()
    })
    this.#runs.set(path, { stop, over })
  }

  #setAside(path: string, error: string, ms = WATCHER_RETRY_MS): void {
    const retryMs = this.#parts.clock.monoMs() + ms
    this.#runs.set(path, { stop: new AbortController(), over: Promise.resolve(), aside: { error, retryMs } })
  }

  #uncaught(error: unknown): void {
    const run = current.getStore()
    this.#parts.note(error instanceof Error ? (error.stack ?? error.message) : String(error))
    if (run !== undefined) run.fail(error)
    // It belongs to no run: the next watcher starts fresh.
    else process.exit(1)
  }

  /** For `heimdall doctor`, and for who wonders whether a watcher runs. */
  #say(): void {
    const startTicks = readStat(process.pid)?.startTicks ?? 0
    const file: WatcherFile = {
      process: { pid: process.pid, startTicks, boot: bootId() },
      version: WATCHER_VERSION,
      started_at: this.#startedAt,
      aside: [...this.#runs].flatMap(([path, { aside }]) =>
        aside === undefined ? [] : [{ run: basename(path, '.json'), error: aside.error }],
      ),
    }
    const text = `${JSON.stringify(file)}\n`
    if (text === this.#said) return
    try {
      replaceUnsynced(`${this.#path}.json`, text)
      this.#said = text
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#parts.note(error.message)
    }
  }
}

/** The id that its session has now; undefined while its process waits for what it is to run. */
function idNow({ session: { dir, id, supervisor } }: KeptRun): string | undefined {
  if (!isStillAlive(supervisor)) return id
  if (readHolder(dir, id)?.supervisorPid === supervisor.pid) return fs.existsSync(socketOf(dir, id)) ? id : undefined
  // Renamed while no watcher followed it.
  return listSessions(dir).find(({ holder }) => holder?.supervisorPid === supervisor.pid && holder.childPid > 0)?.id
}

function renamed(path: string, run: KeptRun, id: string): KeptRun {
  const now = { ...run, session: { ...run.session, id } }
  writeSheet(path, now)
  return now
}

/**
 * A run of another machine is never ours, and one of another pid namespace only if that namespace has no watcher and
 * its session does not answer: a container that was started again has the same host name and other pids.
 */
async function isOurs(path: string, run: KeptRun, { folder, clock }: WatcherParts): Promise<boolean> {
  if (!isOfThisPlace(run)) return false
  if (run.session.supervisor.boot !== bootId() || areProcessesVisible(run)) return true
  const startedMs = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? clock.wallMs()
  // Its watcher and its session may be starting at this moment.
  if (clock.wallMs() - startedMs < WATCHER_FOREIGN_MS) return false
  if (isHeld(`${watcherPath(folder, run.place?.namespace)}.lock`)) return false
  return !(await isListening(socketOf(run.session.dir, run.session.id)))
}

function isHeld(lock: string): boolean {
  let fd: number
  try {
    fd = fs.openSync(lock, 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
  try {
    return !trySharedLock(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Next to the record of the run, while that is there. */
function noteIn(runDir: string, clock: Clock, line: string): void {
  try {
    fs.appendFileSync(join(runDir, 'watcher.log'), `${new Date(clock.wallMs()).toISOString()} ${line}\n`, {
      mode: 0o600,
    })
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && !isSystemError(error)) throw error
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

const errorText = (error: unknown): string => asError(error).message.split('\n')[0] ?? ''
