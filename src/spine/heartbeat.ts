// The beats of a run's agent: one when something happened since the last, or while a person is waited for. An agent that does nothing goes stale, as it should.
import type { Clock, Timer } from '../clock.ts'
import { WATCHER_BEAT_MS } from '../limits.ts'

export interface HeartbeatParts {
  readonly clock: Clock
  readonly beat: () => Promise<void>
  readonly isWaiting: () => boolean
  /** How many tool calls there were so far. */
  readonly calls: () => number
}

export class Heartbeat {
  readonly #parts: HeartbeatParts
  readonly #timer: { current: Timer }
  #isActive = false
  #calls: number
  #beatMs: number
  #beating: Promise<void> = Promise.resolve()

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
    this.#calls = parts.calls()
    // The registration was a beat.
    this.#beatMs = parts.clock.monoMs()
    this.#timer = { current: this.#arm() }
  }

  /** There was output or input. The first after a silence counts at once. */
  happened(): void {
    this.#isActive = true
    if (this.#parts.clock.monoMs() - this.#beatMs >= WATCHER_BEAT_MS) this.#beat()
  }

  async stop(): Promise<void> {
    this.#timer.current.cancel()
    await this.#beating
  }

  #arm(): Timer {
    return this.#parts.clock.after(WATCHER_BEAT_MS, () => {
      this.#timer.current = this.#arm()
      const calls = this.#parts.calls()
      const hasCalled = calls !== this.#calls
      this.#calls = calls
      if (this.#isActive || hasCalled || this.#parts.isWaiting()) this.#beat()
    })
  }

  #beat(): void {
    this.#isActive = false
    this.#beatMs = this.#parts.clock.monoMs()
    this.#beating = this.#beating.then(() => this.#parts.beat())
  }
}
