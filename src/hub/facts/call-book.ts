// The calls of all runs, asked of the run index: brought up to date first, as far as that goes quickly.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { INDEX_CATCH_UP_MS } from '../../limits.ts'
import { catchUp } from '../../runs/index/catch-up.ts'
import { EntryLines } from '../../runs/index/entry-lines.ts'
import { indexPath, isUseless, openIndexToRead, type RunIndex } from '../../runs/index/run-index.ts'
import { recordPath } from '../../runs/run-log.ts'

export interface OpenBook {
  readonly index: RunIndex
  readonly lines: EntryLines
}

export interface CallBookOptions {
  readonly runsDir: string
  readonly clock: Clock
  readonly note: (line: string) => void
}

export class CallBook {
  readonly #options: CallBookOptions
  #catchingUp: Promise<unknown> | undefined

  constructor(options: CallBookOptions) {
    this.#options = options
  }

  /** Tells one index from another that took its place. */
  get mark(): string {
    const stats = statSync(indexPath(this.#options.runsDir), { throwIfNoEntry: false })
    return stats === undefined ? '-' : `${stats.ino.toString(36)}-${Math.floor(stats.birthtimeMs).toString(36)}`
  }

  /** `otherwise` where no run was ever recorded. */
  async ask<T>(act: (book: OpenBook) => T, otherwise: T): Promise<T> {
    await this.#upToDate()
    const { runsDir } = this.#options
    const index = openIndexToRead(indexPath(runsDir))
    if (index === undefined) return otherwise
    const lines = new EntryLines((record) => recordPath(join(runsDir, record)))
    try {
      return act({ index, lines })
    } finally {
      lines.close()
      index.close()
    }
  }

  /** Those who ask at the same time wait for the same. A disk that is full is no reason not to answer from what is there. */
  async #upToDate(): Promise<void> {
    const { runsDir, clock, note } = this.#options
    this.#catchingUp ??= catchUp({ runsDir, clock, note, forMs: INDEX_CATCH_UP_MS }).finally(() => {
      this.#catchingUp = undefined
    })
    try {
      await this.#catchingUp
    } catch (error) {
      const isKnown =
        isUseless(error) || (error instanceof HeimdallError && ['STORE_FULL', 'STORE_UNREADABLE'].includes(error.code))
      if (!isKnown) throw error
      note(`the run index is behind: ${error.message}`)
    }
  }
}
