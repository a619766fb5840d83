// A repository's coordination as a process has it that stays: opened when it is needed, one act after the other, and opened anew after a failure.
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { SQLITE_BUSY_MS, STORE_BUSY_RETRY_MS } from '../limits.ts'
import type { Coordination } from './coordination.ts'

/** For a process that must not stand still: between two short tries of a store that is locked, other work goes on. */
export interface StorePatience {
  readonly clock: Clock
  readonly signal?: AbortSignal
}

export class ResidentRoom {
  readonly #open: () => Coordination | Promise<Coordination>
  readonly #failed: (why: string) => void
  readonly #patience: StorePatience | undefined
  #room: Coordination | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    open: () => Coordination | Promise<Coordination>,
    failed: (why: string) => void,
    /** With it, `open` opens the store with a short wait of its own. */
    patience?: StorePatience,
  ) {
    this.#open = open
    this.#failed = failed
    this.#patience = patience
  }

  /** False when the store could not be reached: whoever beats or releases tries again, and an agent that nobody beats for goes stale. */
  act(act: (room: Coordination) => Promise<unknown>): Promise<boolean> {
    // In turns: what has failed closes the store, and nobody else may be at work in it by then.
    const done = this.#last.then(() => this.#try(act))
    this.#last = done.catch(() => undefined)
    return done
  }

  /** As it is open now, if it is. */
  get current(): Coordination | undefined {
    return this.#room
  }

  close(): void {
    this.#room?.store.close()
    this.#room = undefined
  }

  async #try(act: (room: Coordination) => Promise<unknown>): Promise<boolean> {
    const { clock, signal } = this.#patience ?? {}
    const untilMs = clock === undefined ? -Infinity : clock.monoMs() + SQLITE_BUSY_MS
    for (;;)
      try {
        this.#room ??= await this.#open()
        await act(this.#room)
        return true
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        if (clock === undefined || error.code !== 'STORE_BUSY' || clock.monoMs() >= untilMs) {
          this.#failed(error.message)
          // It may have been replaced.
          this.close()
          return false
        }
        await pause(clock, STORE_BUSY_RETRY_MS, signal)
        if (signal?.aborted === true) return false
      }
  }
}
