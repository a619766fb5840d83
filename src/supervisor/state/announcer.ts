// Tells clients that asked for it what state the session is in: once for each change, also when it changes by itself.
import type { Clock, Timer } from '../../clock.ts'
import { encodeJson } from '../../wire/encode.ts'
import type { StateEvent } from '../../wire/payloads.ts'
import type { Classifier } from './classifier.ts'
import type { ClientConnection } from '../streams/client-connection.ts'

export interface AnnouncerParts {
  readonly clock: Clock
  readonly classifier: Classifier
  readonly clients: () => ReadonlySet<ClientConnection>
  readonly state: () => StateEvent
}

export class Announcer {
  readonly #parts: AnnouncerParts
  #told: StateEvent | undefined
  #timer: Timer | undefined

  constructor(parts: AnnouncerParts) {
    this.#parts = parts
  }

  /** Something may have changed. */
  announce(): void {
    const { clock, classifier, clients, state } = this.#parts
    const now = state()
    if (this.#told === undefined || !isSame(now, this.#told)) {
      this.#told = now
      const frame = encodeJson('state', now)
      for (const client of clients()) if (client.wantsEvents) client.sendState(frame)
    }
    if (this.#timer !== undefined) return
    const nowMs = clock.monoMs()
    const nextMs = classifier.nextChangeMs(nowMs)
    if (nextMs === undefined) return
    this.#timer = clock.after(Math.max(1, nextMs - nowMs), () => {
      this.#timer = undefined
      this.announce()
    })
  }

  close(): void {
    this.#timer?.cancel()
  }
}

/** But for how long it has lasted. What is waited for is compared by identity: nothing of it is changed in place. */
function isSame(a: StateEvent, b: StateEvent): boolean {
  return (
    a.state === b.state &&
    a.needs_input === b.needs_input &&
    a.cols === b.cols &&
    a.rows === b.rows &&
    a.title === b.title &&
    a.id === b.id
  )
}
