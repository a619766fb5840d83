// Hears of commits: its own process's at once, those of others by the files that SQLite writes, and by a slow look where neither tells.
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Clock, Timer } from '../../clock.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
import { FOLLOW_LOOK_MS, FOLLOW_SETTLE_MS, FOLLOW_STEP_MS_MAX } from '../../limits.ts'

export interface Watched {
  /** The database; its log lies beside it. */
  readonly path: string
  readonly clock: Clock
  /** Number of the last entry. Throws when the store can no longer be followed. */
  readonly head: () => number
}

/**
 * SQLite writes its log before it flushes it, and what was written can be read after the flush: a file that has
 * changed says that a commit is on its way. So the first look is followed by others at growing distances, until
 * nothing was written for a while.
 */
export class CommitWatch {
  readonly #watched: Watched
  readonly #listeners = new Set<() => void>()
  #watcher: FSWatcher | undefined
  #timer: Timer | undefined
  #seen = 0
  #stepMs = FOLLOW_LOOK_MS
  #settledMs = 0

  constructor(watched: Watched) {
    this.#watched = watched
  }

  /** Calls `onCommit` after every commit of an entry, at least once; returns how to stop. */
  listen(onCommit: () => void): () => void {
    if (this.#listeners.size === 0) this.#start()
    this.#listeners.add(onCommit)
    return () => {
      this.#listeners.delete(onCommit)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Whether anybody wants to hear of a commit. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  /** An entry was committed by this process. */
  announce(seq: number): void {
    this.#seen = seq
    this.#ring()
  }

  /** Those who listen find out by themselves that there is nothing left to hear. */
  close(): void {
    this.#stop()
    this.#ring()
  }

  #ring(): void {
    for (const listener of this.#listeners) listener()
  }

  #start(): void {
    const { path, head } = this.#watched
    this.#seen = head()
    const file = basename(path)
    try {
      this.#watcher = watch(dirname(path), (_, name) => {
        if (name === null || name.startsWith(file)) this.#stir()
      })
      // A folder that is removed, or a system that runs out of watches: the slow look goes on.
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch (error) {
      if (!isErrno(error, 'EMFILE', 'ENOSPC', 'ENOSYS', 'ENOENT', 'EACCES')) throw error
    }
    this.#schedule(FOLLOW_LOOK_MS)
  }

  #stop(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#timer?.cancel()
  }

  #stir(): void {
    this.#settledMs = this.#watched.clock.monoMs() + FOLLOW_SETTLE_MS
    this.#look()
    this.#schedule(1)
  }

  #schedule(ms: number): void {
    this.#timer?.cancel()
    this.#stepMs = ms
    this.#timer = this.#watched.clock.after(ms, () => {
      this.#look()
      const isSettled = this.#watched.clock.monoMs() >= this.#settledMs
      if (this.#listeners.size > 0)
        this.#schedule(isSettled ? FOLLOW_LOOK_MS : Math.min(this.#stepMs * 2, FOLLOW_STEP_MS_MAX))
    })
  }

  #look(): void {
    try {
      const head = this.#watched.head()
      if (head !== this.#seen) this.announce(head)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      // Whoever follows meets the same error when it reads on, and has somebody to tell.
      this.#ring()
    }
  }
}
