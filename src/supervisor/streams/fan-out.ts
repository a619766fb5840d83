// Output to all subscribers: who is behind, how long the child waits for them, and who is written off.
import type { Clock, Timer } from '../../clock.ts'
import type { Subscriber } from './subscriber.ts'

export interface ChildFlow {
  pause(): void
  resume(): void
}

export interface Patience {
  /** How long a client may hold up the child. */
  readonly stallMs: number
  /** Past this lag the child waits, and past the wait the client loses output. */
  readonly backlogBytes: number
}

export class FanOut {
  readonly #flow: ChildFlow
  readonly #clock: Clock
  readonly #patience: Patience
  readonly #subscribers = new Set<Subscriber>()
  #stall: Timer | undefined
  #hasEnded = false

  constructor(flow: ChildFlow, clock: Clock, patience: Patience) {
    this.#flow = flow
    this.#clock = clock
    this.#patience = patience
  }

  get isHoldingUpChild(): boolean {
    return this.#stall !== undefined
  }

  /** Whether some of these bytes of the log may still be with somebody's socket. */
  isInFlight(from: number, to: number): boolean {
    for (const subscriber of this.#subscribers) if (subscriber.isInFlight(from, to)) return true
    return false
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
      if (subscriber.lagBytes < this.#patience.backlogBytes) continue
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
    this.#stall = this.#clock.after(this.#patience.stallMs, () => {
      // Half a backlog in the whole time allowed: it is not coming back soon, and the others have waited for it.
      const tooMuch = this.#patience.backlogBytes / 2
      for (const subscriber of this.#subscribers) if (subscriber.lagBytes > tooMuch) subscriber.lose()
      this.#goOn()
    })
    this.#flow.pause()
  }

  #release(): void {
    if (this.#stall === undefined) return
    // This close to the end of the stream a client has caught up.
    const caughtUp = this.#patience.backlogBytes / 16
    const isHeld = [...this.#subscribers].some((one) => one.mayHoldUpChild && one.lagBytes > caughtUp)
    if (!isHeld) this.#goOn()
  }

  #goOn(): void {
    this.#stall?.cancel()
    this.#stall = undefined
    this.#flow.resume()
  }
}
