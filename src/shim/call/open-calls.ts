// Requests on their way: which answer belongs to which call, also when a client uses an id twice.
import { REQUESTS_IN_FLIGHT_MAX } from '../../limits.ts'
import type { CallOutcome, JudgedCall } from './call-gate.ts'
import type { IdKey } from '../messages/message-id.ts'

/** A call that waits for upstream, and the id that its answer will have. */
export interface OpenCall {
  readonly judged: JudgedCall
  readonly idRaw: string
  /** Ended in the record already; its answer may still come, and may still be an error that counts. */
  isCancelled: boolean
  /** No other request has had its id while it was open: an answer is surely its own. */
  isAlone: boolean
  /** What was answered under its id, but may have been meant for a request before it. */
  perhaps: CallOutcome | null
}

/**
 * Under an id that is in use more than once it cannot be known whose answer it is. It is taken for that of the request
 * that came first, except that an error ends a call, and counts for every call that it may be of: so nothing that is
 * sent under the same id can hide it. Nor does such an error prove that a call was not done.
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
/** One that the client has given up; its answer may still come. */
const GIVEN_UP: unique symbol = Symbol('a request that is not a call, cancelled')

type Entry = OpenCall | typeof OTHER | typeof GIVEN_UP

/**
 * Requests under one id are answered in the order in which they came. Other requests are remembered too, because the
 * answer to a `tools/list` must not close the call that has the same id.
 */
export class OpenCalls {
  readonly #byId = new Map<IdKey, Entry | Entry[]>()
  #calls = 0
  /** Requests that are no calls, and calls that were cancelled. */
  #others = 0
  /** More was open than is remembered: from then on no id is known to be in use once. */
  #hasForgotten = false

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
    this.#push(key, { judged, idRaw, isCancelled: false, isAlone: !this.#hasForgotten, perhaps: null })
  }

  addOther(key: IdKey): void {
    if (this.#others >= REQUESTS_IN_FLIGHT_MAX) {
      this.#hasForgotten = true
      return
    }
    this.#others += 1
    this.#push(key, OTHER)
  }

  #push(key: IdKey, entry: Entry): void {
    const before = this.#byId.get(key)
    if (before === undefined) {
      this.#byId.set(key, entry)
      return
    }
    const entries: Entry[] = Array.isArray(before) ? before : [before]
    entries.push(entry)
    for (const one of entries) if (isCall(one)) one.isAlone = false
    this.#byId.set(key, entries)
  }

  /** What an answer with this id means; undefined when it answers something that is no call. */
  answered(key: IdKey, idRaw: string, isError: boolean): Answered | undefined {
    const entry = this.#byId.get(key)
    if (entry === undefined) return undefined
    if (!Array.isArray(entry)) {
      this.#byId.delete(key)
      this.#uncount(entry)
      return isCall(entry) ? { call: entry, isSure: true, others: [] } : undefined
    }
    const live = entry.find(isLive)
    const taken = (isError ? live : undefined) ?? pick(entry, idRaw)
    entry.splice(entry.indexOf(taken), 1)
    this.#uncount(taken)
    if (entry.length === 1) this.#byId.set(key, entry[0] as Entry)
    const others = isError ? entry.filter(isCall) : []
    if (isLive(taken) || live === undefined) return isCall(taken) ? { call: taken, isSure: true, others } : undefined
    return { call: live, isSure: false, others }
  }

  /** The call that a client has given up. `isForgotten` says that its answer will not be recognised when it comes. */
  cancelled(key: IdKey): { readonly call: OpenCall; readonly isForgotten: boolean } | undefined {
    const entries = this.#under(key)
    const first = entries.find((one) => one === OTHER || isLive(one))
    if (first === undefined) return undefined
    if (first === OTHER) {
      this.#replace(key, entries, first, [GIVEN_UP])
      return undefined
    }
    this.#uncount(first)
    if (this.#others < REQUESTS_IN_FLIGHT_MAX) {
      first.isCancelled = true
      this.#others += 1
      return { call: first, isForgotten: false }
    }
    this.#hasForgotten = true
    this.#replace(key, entries, first, [])
    return { call: first, isForgotten: true }
  }

  /** A call that was not sent on after all. */
  remove(key: IdKey, judged: JudgedCall): void {
    const entries = this.#under(key)
    const found = entries.find((one) => isCall(one) && one.judged === judged)
    if (found === undefined) return
    this.#uncount(found)
    this.#replace(key, entries, found, [])
  }

  #under(key: IdKey): readonly Entry[] {
    const entry = this.#byId.get(key)
    if (entry === undefined) return []
    return Array.isArray(entry) ? entry : [entry]
  }

  #replace(key: IdKey, entries: readonly Entry[], replaced: Entry, by: readonly Entry[]): void {
    const left = entries.toSpliced(entries.indexOf(replaced), 1, ...by)
    if (left.length === 0) this.#byId.delete(key)
    else this.#byId.set(key, left.length === 1 ? (left[0] as Entry) : left)
  }

  #uncount(entry: Entry): void {
    if (isLive(entry)) this.#calls -= 1
    else this.#others -= 1
  }

  /** All calls that are open, oldest id first; afterwards there are none. */
  takeAll(): OpenCall[] {
    const calls = [...this.#byId.values()].flat().filter(isLive)
    this.#byId.clear()
    this.#calls = 0
    this.#others = 0
    return calls
  }
}

function isCall(entry: Entry): entry is OpenCall {
  return typeof entry === 'object'
}

function isLive(entry: Entry): entry is OpenCall {
  return isCall(entry) && !entry.isCancelled
}

/** The first, unless another one was written with exactly these digits: large numbers can be one to one reader and two to another. */
function pick(entries: readonly Entry[], idRaw: string): Entry {
  const [first = OTHER] = entries
  if (!isCall(first) || first.idRaw === idRaw) return first
  return entries.find((one) => isCall(one) && one.idRaw === idRaw) ?? first
}
