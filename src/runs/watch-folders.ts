// Waiting for a change in any of some folders, as far as the system tells of it.
import { type FSWatcher, watch } from 'node:fs'
import { isSystemError } from '../errors.ts'

export class WatchedFolders {
  readonly #watchers = new Map<string, FSWatcher>()
  #changed = new AbortController()

  /**
   * Not every folder can be watched: one on another machine tells nothing, and watches are limited. Whoever waits looks
   * now and then all the same, and one that could not be watched is tried again when it is added again.
   */
  add(folder: string): void {
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#changed.abort())
      watcher.on('error', () => this.remove(folder))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      if (!isSystemError(error)) throw error
    }
  }

  remove(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  /** Aborted by the next change from now on. */
  next(): AbortSignal {
    if (this.#changed.signal.aborted) this.#changed = new AbortController()
    return this.#changed.signal
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
