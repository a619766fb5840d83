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

/**
 * Under an id that is in use more than once it cannot be known whose answer it is. It is taken for that of the request
 * that came first, except that an error ends a call, and counts for every call that it may be of: so nothing that is
 * sent under the same id can hide it.
 */
export interface Answered {
  readonly call: OpenCall
  /** False: it was taken for another request's answer, but if no other comes it was this call's. */
  readonly isSure: boolean
  /** Calls that an error may be of as well. */
  readonly others: readonly OpenCall[]
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

  has(key: IdKey): boolean {
    return this.#byId.has(key)
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

  /** What an answer with this id means; undefined when it answers something that is no call. */
  answered(key: IdKey, idRaw: string, isError: boolean): Answered | undefined {
    const entry = this.#byId.get(key)
    if (entry === undefined) return undefined
    if (!Array.isArray(entry)) {
      this.#byId.delete(key)
      this.#uncount(entry)
      return entry === OTHER ? undefined : { call: entry, isSure: true, others: [] }
    }
    const live = entry.find((one): one is OpenCall => isLive(one))
    const taken = (isError ? live : undefined) ?? pick(entry, idRaw)
    entry.splice(entry.indexOf(taken), 1)
    this.#uncount(taken)
    if (entry.length === 1) this.#byId.set(key, entry[0] as Entry)
    const others = isError ? entry.filter((one): one is OpenCall => one !== OTHER) : []
    if (isLive(taken) || live === undefined) return taken === OTHER ? undefined : { call: taken, isSure: true, others }
    return { call: live, isSure: false, others }
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

function isLive(entry: Entry): boolean {
  return entry !== OTHER && !entry.isCancelled
}

/** The first, unless another one was written with exactly these digits: large numbers can be one to one reader and two to another. */
function pick(entries: readonly Entry[], idRaw: string): Entry {
  const [first = OTHER] = entries
  if (first === OTHER || first.idRaw === idRaw) return first
  return entries.find((one) => one !== OTHER && one.idRaw === idRaw) ?? first
}
