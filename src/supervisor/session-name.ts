// The id that a running session has now, and the files that carry it.
import { existsSync, renameSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { parseId } from '../ids.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { removeFileLock } from '../storage/file-lock.ts'
import { holdId } from './hold-id.ts'
import { checkSocketPath } from './session-dir.ts'
import { readHolder, type SessionPaths, sessionPaths } from './session-files.ts'

export class SessionName {
  readonly #dir: string
  readonly #clock: Clock
  #id: string
  #isChanging = false

  constructor(dir: string, id: string, clock: Clock) {
    this.#dir = dir
    this.#id = id
    this.#clock = clock
  }

  get id(): string {
    return this.#id
  }

  get paths(): SessionPaths {
    return sessionPaths(this.#dir, this.#id)
  }

  /**
   * Takes the new id before it lets go of the old one: killed at any point, one of them leads here, and what the other
   * has left is settled like any other lost session. `listenAt` moves the socket.
   */
  async change(text: string, listenAt: (socketPath: string) => Promise<void>): Promise<void> {
    const to = parseId('session', text)
    if (to === this.#id) return
    const { paths: before } = this
    const holder = readHolder(this.#dir, this.#id)
    if (holder === undefined || this.#isChanging)
      throw new HeimdallError('SESSION_REFUSED', `session ${this.#id} is being renamed or removed already`)
    this.#isChanging = true
    try {
      checkSocketPath(this.#dir, to)
      await holdId(this.#dir, to, holder, this.#clock)
      await this.#move(before, sessionPaths(this.#dir, to), listenAt)
      this.#id = to
    } finally {
      this.#isChanging = false
    }
    removeIfThere(before.pid)
    removeFileLock(before.pid)
  }

  async #move(before: SessionPaths, after: SessionPaths, listenAt: (path: string) => Promise<void>): Promise<void> {
    try {
      // Of an earlier session of that id, as at a start.
      removeIfThere(after.exit)
      removeIfThere(after.kept)
      removeIfThere(after.socket)
      await listenAt(after.socket)
    } catch (error) {
      removeIfThere(after.pid)
      throw error
    }
    for (const of of ['log', 'kept'] as const) if (existsSync(before[of])) renameSync(before[of], after[of])
  }
}
