// A repository's coordination as a process has it that stays: opened when it is needed, one act after the other, and opened anew after a failure.
import { HeimdallError } from '../errors.ts'
import type { Coordination } from './coordination.ts'

export class ResidentRoom {
  readonly #open: () => Coordination | Promise<Coordination>
  readonly #failed: (why: string) => void
  #room: Coordination | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(open: () => Coordination | Promise<Coordination>, failed: (why: string) => void) {
    this.#open = open
    this.#failed = failed
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
    try {
      this.#room ??= await this.#open()
      await act(this.#room)
      return true
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#failed(error.message)
      // It may have been replaced.
      this.close()
      return false
    }
  }
}
