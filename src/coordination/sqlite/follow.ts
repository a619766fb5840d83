// Entries as they come: read in order from a number, and waited for when there are none.
import { FOLLOW_BATCH } from '../../limits.ts'
import type { Entry } from '../log-entry.ts'

export interface Followed {
  /** At most `limit` entries after this one; nothing once the store is closed. */
  readonly after: (seq: number, limit: number) => readonly Entry[] | undefined
  /** Calls back after every commit; returns how to stop. */
  readonly listen: (onCommit: () => void) => () => void
}

export async function* followEntries(
  { after, listen }: Followed,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  const bell = new Bell()
  const isOver = (): boolean => signal.aborted
  // Before the first look: what is committed between the two is told.
  const stop = listen(bell.ring)
  signal.addEventListener('abort', bell.ring)
  try {
    for (let at = afterSeq; !isOver();) {
      bell.mute()
      const entries = after(at, FOLLOW_BATCH)
      if (entries === undefined) return
      for (const entry of entries) {
        yield entry
        if (isOver()) return
        at = entry.seq
      }
      if (entries.length === 0) await bell.rung()
    }
  } finally {
    signal.removeEventListener('abort', bell.ring)
    stop()
  }
}

/** Remembers that it was rung until it is muted, so that nothing is missed between a look and the wait for the next. */
class Bell {
  #isRung = false
  #wake: (() => void) | undefined

  readonly ring = (): void => {
    this.#isRung = true
    this.#wake?.()
  }

  mute(): void {
    this.#isRung = false
  }

  rung(): Promise<void> {
    return this.#isRung ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve))
  }
}
