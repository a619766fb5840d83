// Follows the events of a subscription in the background and lets a caller wait until what it saw meets a condition.
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import type { StateEvent } from '../wire/payloads.ts'
import type { SessionEvent } from './events.ts'

/** What was seen so far. Counts only grow, so that "since" is a comparison with an earlier count. */
export interface SeenSoFar {
  readonly outputBytes: number
  readonly lastOutputMs: number
  readonly ackedBytes: number
  readonly stateEvents: number
  /** Those of them in which the session was not idle. */
  readonly busyEvents: number
  readonly state: StateEvent | undefined
  readonly exitCode: number | undefined
}

export class Watch {
  readonly #clock: Clock
  #seen: SeenSoFar
  #failure: Error | undefined
  #waiting = new Set<() => void>()

  constructor(events: AsyncIterable<SessionEvent>, clock: Clock) {
    this.#clock = clock
    this.#seen = {
      outputBytes: 0,
      lastOutputMs: clock.monoMs(),
      ackedBytes: 0,
      stateEvents: 0,
      busyEvents: 0,
      state: undefined,
      exitCode: undefined,
    }
    void this.#follow(events)
  }

  get seen(): SeenSoFar {
    return this.#seen
  }

  /** True once the condition holds, false after `timeoutMs`; throws what the session refused or why it was lost. */
  until(condition: (seen: SeenSoFar) => boolean, timeoutMs?: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (condition(this.#seen)) settle(() => resolve(true))
        else if (this.#failure !== undefined) settle(() => reject(this.#failure))
      }
      const settle = (finish: () => void): void => {
        this.#waiting.delete(check)
        timer?.cancel()
        finish()
      }
      const timer =
        timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => settle(() => resolve(false)))
      this.#waiting.add(check)
      check()
    })
  }

  async #follow(events: AsyncIterable<SessionEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.#seen = this.#after(event)
        for (const check of this.#waiting) check()
      }
    } catch (error) {
      this.#failure = error as Error
    }
    this.#failure ??= new HeimdallError('SESSION_ENDED', `the session ended with exit code ${this.#seen.exitCode}`)
    for (const check of this.#waiting) check()
  }

  #after(event: SessionEvent): SeenSoFar {
    const seen = this.#seen
    switch (event.type) {
      case 'output':
        return { ...seen, outputBytes: seen.outputBytes + event.bytes.length, lastOutputMs: this.#clock.monoMs() }
      case 'ack':
        return { ...seen, ackedBytes: event.writtenBytes }
      case 'state':
        return {
          ...seen,
          state: event.state,
          stateEvents: seen.stateEvents + 1,
          busyEvents: seen.busyEvents + (event.state.state === 'idle' ? 0 : 1),
        }
      case 'exit':
        return { ...seen, exitCode: event.code }
      case 'error':
        throw new HeimdallError('SESSION_REFUSED', `the session refused: ${event.message}`, {
          details: { refusal: event.code },
        })
      case 'gap':
      case 'snapshot':
      case 'replay-end':
      case 'activity':
      default:
        return seen
    }
  }
}
