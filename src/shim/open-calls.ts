// Requests on their way: which answer belongs to which call, also when a client uses an id twice.
import { REQUESTS_IN_FLIGHT_MAX } from '../limits.ts'
import type { IdKey } from './message-id.ts'

/** A request that is not a call; only its place in the order matters. */
const OTHER = Symbol('a request that is not a call')

/**
 * Requests under one id are answered in the order in which they came. Other requests are remembered too, because the
 * answer to a `tools/list` must not close the call that has the same id.
 */
export class OpenCalls<Call extends object> {
  readonly #byId = new Map<IdKey, Call | typeof OTHER | (Call | typeof OTHER)[]>()
  #calls = 0
  #others = 0

  get size(): number {
    return this.#calls
  }

  add(key: IdKey, call: Call): void {
    this.#calls += 1
    this.#push(key, call)
  }

  addOther(key: IdKey): void {
    if (this.#others >= REQUESTS_IN_FLIGHT_MAX) return
    this.#others += 1
    this.#push(key, OTHER)
  }

  #push(key: IdKey, entry: Call | typeof OTHER): void {
    const before = this.#byId.get(key)
    if (before === undefined) this.#byId.set(key, entry)
    else if (Array.isArray(before)) before.push(entry)
    else this.#byId.set(key, [before, entry])
  }

  /** The call that an answer with this id belongs to; undefined when it answers something else. */
  take(key: IdKey): Call | undefined {
    const entry = this.#byId.get(key)
    if (entry === undefined) return undefined
    let first: Call | typeof OTHER
    if (Array.isArray(entry)) {
      first = entry.shift() as Call | typeof OTHER
      if (entry.length === 1) this.#byId.set(key, entry[0] as Call | typeof OTHER)
    } else {
      first = entry
      this.#byId.delete(key)
    }
    if (first === OTHER) {
      this.#others -= 1
      return undefined
    }
    this.#calls -= 1
    return first
  }

  /** All calls that are open, with their keys, oldest id first; afterwards there are none. */
  takeAll(): Call[] {
    const calls = [...this.#byId.values()].flat().filter((entry) => entry !== OTHER) as Call[]
    this.#byId.clear()
    this.#calls = 0
    this.#others = 0
    return calls
  }
}
