// Output to all subscribers: who is behind, how long the child waits for them, and who is written off.
import type { Clock, Timer } from '../clock.ts'
import { BACKLOG_BYTES } from '../limits.ts'
import { isTooFarBehind, type Subscriber } from './subscriber.ts'

export interface ChildFlow {
  pause(): void
  resume(): void
}

/** A client this close to the end of the stream has caught up. */
const CAUGHT_UP_BYTES = 256 << 10

export class FanOut {
  readonly #flow: ChildFlow
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #subscribers = new Set<Subscriber>()
  #stall: Timer | undefined
  #hasEnded = false

  constructor(flow: ChildFlow, clock: Clock, stallMs: number) {
    this.#flow = flow
    this.#clock = clock
    this.#stallMs = stallMs
  }

  get isHoldingUpChild(): boolean {
    return this.#stall !== undefined
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber)
    subscriber.pump()
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
    this.#release()
  }

  /** New output is in the log. */
  flush(): void {
    for (const subscriber of this.#subscribers) {
      subscriber.pump()
      if (!isTooFarBehind(subscriber)) continue
      if (subscriber.mayHoldUpChild) this.#holdUp()
      else subscriber.lose()
    }
  }

  /** A client has taken everything that it was sent. */
  drained(subscriber: Subscriber): void {
    subscriber.drained()
    this.#release()
  }

  finish(exitCode: number): void {
    this.#hasEnded = true
    this.#stall?.cancel()
    this.#stall = undefined
    for (const subscriber of this.#subscribers) subscriber.finish(exitCode)
  }

  /** True when every subscriber has been told everything. */
  get isDelivered(): boolean {
    return [...this.#subscribers].every((subscriber) => subscriber.isOver)
  }

  #holdUp(): void {
    if (this.#stall !== undefined || this.#hasEnded) return
    this.#stall = this.#clock.after(this.#stallMs, () => {
      // Half a backlog in the whole time allowed: it is not coming back soon, and the others have waited for it.
      for (const subscriber of this.#subscribers) if (subscriber.lagBytes > BACKLOG_BYTES / 2) subscriber.lose()
      this.#goOn()
    })
    this.#flow.pause()
  }

  #release(): void {
    if (this.#stall === undefined) return
    const isHeld = [...this.#subscribers].some((one) => one.mayHoldUpChild && one.lagBytes > CAUGHT_UP_BYTES)
    if (!isHeld) this.#goOn()
  }

  #goOn(): void {
    this.#stall?.cancel()
    this.#stall = undefined
    this.#flow.resume()
  }
}
