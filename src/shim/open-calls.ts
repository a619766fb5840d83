// Requests on their way: which answer belongs to which call, also when a client uses an id twice.
import { REQUESTS_IN_FLIGHT_MAX } from '../limits.ts'
import type { CallOutcome, JudgedCall } from './gate.ts'
import type { IdKey } from './message-id.ts'

/** A call that waits for upstream, and the id that its answer will have. */
export interface OpenCall {
  readonly judged: JudgedCall
  readonly idRaw: string
  /** Ended in the record already; its answer may still come, and may still be an error that counts. */
  isCancelled: boolean
  /** What was answered under its id, but may have been meant for a request before it. */
  perhaps: CallOutcome | null
}

/** A request that is not a call; only its place in the order matters. */
const OTHER: unique symbol = Symbol('a request that is not a call')

type Entry = OpenCall | typeof OTHER

/**
 * Requests under one id are answered in the order in which they came. Other requests are remembered too, because the
 * answer to a `tools/list` must not close the call that has the same id.
 */
export class OpenCalls {
  readonly #byId = new Map<IdKey, Entry | Entry[]>()
  #calls = 0
  /** Requests that are no calls, and calls that were cancelled. */
  #others = 0

  /** Calls that nobody has answered or cancelled. */
  get size(): number {
    return this.#calls
  }

  /** No answer of upstream's closes anything. */
  get isIdle(): boolean {
    return this.#byId.size === 0
  }

  add(key: IdKey, judged: JudgedCall, idRaw: string): void {
    this.#calls += 1
    this.#push(key, { judged, idRaw, isCancelled: false, perhaps: null })
  }

  addOther(key: IdKey): void {
    if (this.#others >= REQUESTS_IN_FLIGHT_MAX) return
    this.#others += 1
    this.#push(key, OTHER)
  }

  #push(key: IdKey, entry: Entry): void {
    const before = this.#byId.get(key)
    if (before === undefined) this.#byId.set(key, entry)
    else if (Array.isArray(before)) before.push(entry)
    else this.#byId.set(key, [before, entry])
  }

  /**
   * The call that an answer with this id belongs to; undefined when it answers something else. `isSure` is false when it
   * has been taken for the answer to another request under the same id, which may in truth never be answered: then it
   * may have been the call's. An error is always the call's, so that no such request can hide it.
   */
  answered(
    key: IdKey,
    idRaw: string,
    isError: boolean,
  ): { readonly call: OpenCall; readonly isSure: boolean } | undefined {
    const entry = this.#byId.get(key)
    if (entry === undefined) return undefined
    if (!Array.isArray(entry)) {
      this.#byId.delete(key)
      this.#uncount(entry)
      return entry === OTHER ? undefined : { call: entry, isSure: true }
    }
    const firstCall = entry.find((one) => one !== OTHER)
    const at = entry[0] === OTHER && isError ? entry.findIndex((one) => one !== OTHER) : indexOf(entry, idRaw)
    const [taken = OTHER] = entry.splice(Math.max(0, at), 1)
    this.#uncount(taken)
    if (entry.length === 1) this.#byId.set(key, entry[0] as Entry)
    if (taken !== OTHER) return { call: taken, isSure: true }
    return firstCall === undefined ? undefined : { call: firstCall, isSure: false }
  }

  /** The call that a client has given up. `isForgotten` says that its answer will not be recognised when it comes. */
  cancelled(key: IdKey): { readonly call: OpenCall; readonly isForgotten: boolean } | undefined {
    const entries = this.#under(key)
    const first = entries.find((one) => one === OTHER || !one.isCancelled)
    if (first === undefined) return undefined
    if (first !== OTHER && this.#others < REQUESTS_IN_FLIGHT_MAX) {
      this.#uncount(first)
      first.isCancelled = true
      this.#others += 1
      return { call: first, isForgotten: false }
    }
    this.#drop(key, entries, first)
    return first === OTHER ? undefined : { call: first, isForgotten: true }
  }

  /** A call that was not sent on after all. */
  remove(key: IdKey, judged: JudgedCall): void {
    const entries = this.#under(key)
    const found = entries.find((one) => one !== OTHER && one.judged === judged)
    if (found !== undefined) this.#drop(key, entries, found)
  }

  #under(key: IdKey): readonly Entry[] {
    const entry = this.#byId.get(key)
    if (entry === undefined) return []
    return Array.isArray(entry) ? entry : [entry]
  }

  #drop(key: IdKey, entries: readonly Entry[], dropped: Entry): void {
    this.#uncount(dropped)
    const at = entries.indexOf(dropped)
    const left = entries.filter((_, i) => i !== at)
    if (left.length === 0) this.#byId.delete(key)
    else this.#byId.set(key, left.length === 1 ? (left[0] as Entry) : left)
  }

  #uncount(entry: Entry): void {
    if (entry === OTHER || entry.isCancelled) this.#others -= 1
    else this.#calls -= 1
  }

  /** All calls that are open, oldest id first; afterwards there are none. */
  takeAll(): OpenCall[] {
    const calls = [...this.#byId.values()].flat().filter((entry) => entry !== OTHER && !entry.isCancelled)
    this.#byId.clear()
    this.#calls = 0
    this.#others = 0
    return calls as OpenCall[]
  }
}

/** The first, unless another one was written with exactly these digits: large numbers can be one to one reader and two to another. */
function indexOf(entries: readonly Entry[], idRaw: string): number {
  const [first] = entries
  if (first === undefined || first === OTHER || first.idRaw === idRaw) return 0
  return entries.findIndex((one) => one !== OTHER && one.idRaw === idRaw)
}
