// Requests on their way: which answer belongs to which call, also when a client uses an id twice.
import { REQUESTS_IN_FLIGHT_MAX } from '../../limits.ts'
import type { CallOutcome, JudgedCall } from './judged-call.ts'
import type { IdKey } from '../messages/message-id.ts'
import { PassingMap } from './passing-map.ts'

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
interface Answered {
  readonly call: OpenCall
  /** False: it was taken for another request's answer, but if no other comes it was this call's. */
  readonly isSure: boolean
  /** Calls that an error may be of as well. */
  readonly others: readonly OpenCall[]
}

/** A request that is not a call. */
interface OtherRequest {
  readonly judged: null
  readonly idRaw: string
  /** The client waits for it no more; its answer may still come. */
  isGivenUp: boolean
}

type Entry = OpenCall | OtherRequest

/**
 * Requests under one id are answered in the order in which they came. Other requests are remembered too, because the
 * answer to a `tools/list` must not close the call that has the same id.
 */
export class OpenCalls {
  readonly #byId = new PassingMap<IdKey, Entry | Entry[]>()
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

  addOther(key: IdKey, idRaw: string): void {
    if (this.#others >= REQUESTS_IN_FLIGHT_MAX) {
      this.#hasForgotten = true
      return
    }
    this.#others += 1
    this.#push(key, { judged: null, idRaw, isGivenUp: false })
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
      this.#byId.take(key)
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
    const first = entries.find((one) => (isCall(one) ? !one.isCancelled : !one.isGivenUp))
    if (first === undefined) return undefined
    if (!isCall(first)) {
      first.isGivenUp = true
      return undefined
    }
    this.#uncount(first)
    if (this.#others < REQUESTS_IN_FLIGHT_MAX) {
      first.isCancelled = true
      this.#others += 1
      return { call: first, isForgotten: false }
    }
    this.#hasForgotten = true
    this.#take(key, entries, first)
    return { call: first, isForgotten: true }
  }

  /** A call that was not sent on after all, or that nobody will answer; undefined when it has been answered. */
  remove(key: IdKey, judged: JudgedCall): OpenCall | undefined {
    const entries = this.#under(key)
    const found = entries.filter(isCall).find((one) => one.judged === judged)
    if (found === undefined) return undefined
    this.#uncount(found)
    this.#take(key, entries, found)
    return found
  }

  /** A request that is no call and that nobody will answer. */
  forget(key: IdKey): void {
    const entries = this.#under(key)
    const found = entries.find((one) => !isCall(one))
    if (found === undefined) return
    this.#uncount(found)
    this.#take(key, entries, found)
  }

  #under(key: IdKey): readonly Entry[] {
    const entry = this.#byId.get(key)
    if (entry === undefined) return []
    return Array.isArray(entry) ? entry : [entry]
  }

  #take(key: IdKey, entries: readonly Entry[], taken: Entry): void {
    const left = entries.toSpliced(entries.indexOf(taken), 1)
    if (left.length === 0) this.#byId.take(key)
    else this.#byId.set(key, left.length === 1 ? (left[0] as Entry) : left)
  }

  #uncount(entry: Entry): void {
    if (isLive(entry)) this.#calls -= 1
    else this.#others -= 1
  }

  /** All that is open, oldest id first, and the ids of requests that are no calls; afterwards there is nothing. */
  takeAll(): { readonly calls: readonly OpenCall[]; readonly otherIds: readonly string[] } {
    const entries = this.#byId.takeAll().flat()
    this.#calls = 0
    this.#others = 0
    const otherIds = entries.flatMap((one) => (isCall(one) || one.isGivenUp ? [] : [one.idRaw]))
    return { calls: entries.filter(isLive), otherIds }
  }
}

function isCall(entry: Entry): entry is OpenCall {
  return entry.judged !== null
}

function isLive(entry: Entry): entry is OpenCall {
  return isCall(entry) && !entry.isCancelled
}

/** The first, unless another one was written with exactly these digits: large numbers can be one to one reader and two to another. */
function pick(entries: readonly Entry[], idRaw: string): Entry {
  const first = entries[0] as Entry
  if (!isCall(first) || first.idRaw === idRaw) return first
  return entries.find((one) => isCall(one) && one.idRaw === idRaw) ?? first
}
