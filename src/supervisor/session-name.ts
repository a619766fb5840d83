// The id that a running session has now, and the files that carry it: changed whole, and put back when they were removed.
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { parseId } from '../ids.ts'
import { ID_LINGER_MS, ID_LOCK_WAIT_MS } from '../limits.ts'
import { isStillAlive, readStat } from '../processes.ts'
import { readFileIfThere, removeIfThere } from '../storage/atomic-file.ts'
import { removeFileLock, withFileLock } from '../storage/file-lock.ts'
import { isThere, takeName } from '../storage/held-name.ts'
import { replaceUnsynced } from '../storage/unsynced-file.ts'
import { type ExitRecord, isOfHolder, parseExitRecord } from '../wire/exit-record.ts'
import { encodeHolder, type Holder, isSameHolder, parseHolder, supervisorOf } from '../wire/pid-file.ts'
import { checkSocketPath, pidDraft, type SessionPaths, sessionPaths } from '../wire/session-paths.ts'

/** What a change of the id needs of the session. */
export interface Renaming {
  /** Moves the socket. */
  readonly listenAt: (socketPath: string) => Promise<void>
  /** Throws once the child has ended: its record says under which id. */
  readonly checkAlive: () => void
}

export interface NamedChild {
  readonly pid: number
  readonly command: readonly string[]
  readonly cwd: string
}

export class SessionName {
  readonly #dir: string
  readonly #clock: Clock
  #id: string
  #holder: Holder
  /** One at a time changes the files. */
  #isChanging = false

  constructor(dir: string, id: string, holder: Holder, clock: Clock) {
    this.#dir = dir
    this.#id = id
    this.#holder = holder
    this.#clock = clock
  }

  get id(): string {
    return this.#id
  }

  get paths(): SessionPaths {
    return sessionPaths(this.#dir, this.#id)
  }

  /** The child is there: its pid is what others look for in the file. */
  nameChild({ pid, command, cwd }: NamedChild): void {
    this.#holder = { ...this.#holder, childPid: pid, childStart: readStat(pid)?.startTicks, command, cwd }
    this.#writePidFile()
  }

  /** At the end. Not what another session has put there since it found the place empty. */
  release(): void {
    const { pid, socket } = this.paths
    if (this.#isAnothers) return
    removeIfThere(socket)
    removeIfThere(pid)
    removeFileLock(pid)
  }

  /**
   * Takes the new id before it lets go of the old one: killed at any point, one of them leads here, and what the other
   * has left is settled like any other lost session. Whatever fails, the session has its old id, whole.
   */
  async change(text: string, renaming: Renaming): Promise<void> {
    const to = parseId('session', text)
    if (to === this.#id) return
    const { paths: before } = this
    if (this.#isChanging) throw new HeimdallError('SESSION_REFUSED', `session ${this.#id} is being renamed already`)
    this.#isChanging = true
    try {
      checkSocketPath(realpathSync(this.#dir), to)
      await this.#take(to, renaming.checkAlive)
      await this.#move(before, sessionPaths(this.#dir, to), renaming)
      this.#id = to
    } finally {
      this.#isChanging = false
    }
    removeIfThere(before.pid)
    removeFileLock(before.pid)
  }

  /** Of one that has ended and still answers the id is waited for. What a lost session has left is for others to settle. */
  async #take(to: string, checkAlive: () => void): Promise<void> {
    const clock = this.#clock
    const { pid: path, socket } = sessionPaths(this.#dir, to)
    const deadlineMs = clock.monoMs() + ID_LINGER_MS
    const draft = pidDraft(this.#dir, to, this.#holder.supervisorPid)
    const take = { text: encodeHolder(this.#holder), draft, inTheWay: [socket], clock, waitMs: ID_LOCK_WAIT_MS }
    while (!(await takeName(path, take))) {
      checkAlive()
      const other = this.#holderOf(to)
      const isEnding = other !== undefined && isStillAlive(supervisorOf(other)) && isOfHolder(this.#recordOf(to), other)
      if (!isEnding || clock.monoMs() > deadlineMs)
        throw new HeimdallError('SESSION_ID_IN_USE', `session ${to} is in use`, { hint: 'choose another id' })
      await pause(clock, 20)
    }
  }

  /** The socket last: what comes before it can be taken back by a rename. */
  async #move(before: SessionPaths, after: SessionPaths, { listenAt, checkAlive }: Renaming): Promise<void> {
    const moved: (() => void)[] = []
    try {
      // Whoever had the id may have taken its time to go.
      checkAlive()
      // Of an earlier session of that id, as at a start.
      removeIfThere(after.exit)
      removeIfThere(after.kept)
      removeIfThere(after.socket)
      for (const of of ['log', 'kept'] as const) {
        if (!existsSync(before[of])) continue
        renameSync(before[of], after[of])
        moved.push(() => renameSync(after[of], before[of]))
      }
      await listenAt(after.socket)
    } catch (error) {
      removeIfThere(after.pid)
      removeFileLock(after.pid)
      for (const back of moved.toReversed()) back()
      throw error
    }
  }

  /**
   * Puts back what was removed or spoilt of the pid file and the socket: without both nobody could find the session,
   * or end it. Not when the id has gone to another meanwhile, the folder has gone, or the session has ended. True when
   * something was put back.
   */
  async restore(listenAgain: (socketPath: string) => Promise<void>): Promise<boolean> {
    if (this.#isChanging || this.#isWhole || !existsSync(this.#dir)) return false
    if (isOfHolder(this.#recordOf(this.#id), this.#holder)) return false
    const { pid, socket } = this.paths
    this.#isChanging = true
    try {
      // An id is taken, and what is left of a session settled, under the same lock.
      return await withFileLock(pid, () => this.#putBack(socket, listenAgain), { clock: this.#clock })
    } finally {
      this.#isChanging = false
      removeFileLock(pid)
    }
  }

  async #putBack(socket: string, listenAgain: (socketPath: string) => Promise<void>): Promise<boolean> {
    if (this.#isAnothers) return false
    this.#writePidFile()
    if (!isThere(socket)) await listenAgain(socket)
    return true
  }

  get #isWhole(): boolean {
    return isThere(this.paths.socket) && isSameHolder(this.#holderOf(this.#id), this.#holder)
  }

  get #isAnothers(): boolean {
    const holder = this.#holderOf(this.#id)
    return holder !== undefined && !isSameHolder(holder, this.#holder) && isStillAlive(supervisorOf(holder))
  }

  /** Not fsynced: after a power cut the processes it names are gone as well. */
  #writePidFile(): void {
    const { supervisorPid } = this.#holder
    replaceUnsynced(this.paths.pid, encodeHolder(this.#holder), pidDraft(this.#dir, this.#id, supervisorPid))
  }

  #holderOf(id: string): Holder | undefined {
    return parseHolder(readFileIfThere(sessionPaths(this.#dir, id).pid)?.toString('utf8') ?? '')
  }

  #recordOf(id: string): ExitRecord | undefined {
    return parseExitRecord(readFileIfThere(sessionPaths(this.#dir, id).exit)?.toString('utf8'))
  }
}
