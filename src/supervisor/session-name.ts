// The id that a running session has now, and the files that carry it: changed whole, and put back when they were removed.
import { existsSync, lstatSync, renameSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { parseId } from '../ids.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { removeFileLock, withFileLock } from '../storage/file-lock.ts'
import { holdId, nameChild, type NamedChild, writeHolder } from './hold-id.ts'
import { checkSocketPath } from './session-dir.ts'
import {
  type Holder,
  isSameHolder,
  isSupervisorAlive,
  readExitRecord,
  readHolder,
  type SessionPaths,
  sessionPaths,
} from './session-files.ts'

/** What a change of the id needs of the session. */
export interface Renaming {
  /** Moves the socket. */
  readonly listenAt: (socketPath: string) => Promise<void>
  /** Throws once the child has ended: its record says under which id. */
  readonly checkAlive: () => void
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

  nameChild(child: NamedChild): void {
    this.#holder = nameChild(this.#dir, this.#id, this.#holder, child)
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
      checkSocketPath(this.#dir, to)
      const { checkAlive } = renaming
      await holdId(this.#dir, to, this.#holder, { clock: this.#clock, checkWanted: checkAlive })
      await this.#move(before, sessionPaths(this.#dir, to), renaming)
      this.#id = to
    } finally {
      this.#isChanging = false
    }
    removeIfThere(before.pid)
    removeFileLock(before.pid)
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
    if (readExitRecord(this.#dir, this.#id)?.supervisor_pid === this.#holder.supervisorPid) return false
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
    writeHolder(this.#dir, this.#id, this.#holder)
    if (!isThere(socket)) await listenAgain(socket)
    return true
  }

  get #isWhole(): boolean {
    return isThere(this.paths.socket) && isSameHolder(readHolder(this.#dir, this.#id), this.#holder)
  }

  get #isAnothers(): boolean {
    const holder = readHolder(this.#dir, this.#id)
    return holder !== undefined && !isSameHolder(holder, this.#holder) && isSupervisorAlive(holder)
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
