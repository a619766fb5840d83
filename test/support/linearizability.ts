// A linearizability checker (Wing and Gong's search with Lowe's memory): is there one order of the operations that explains every answer?
import { isDeepStrictEqual } from 'node:util'

export interface Operation<Call, Result> {
  readonly call: Call
  /** Absent when the caller never learned it (it died): the operation may have happened at any later time, or never. */
  readonly result?: Result
  readonly calledAt: number
  /** Ignored without a result. */
  readonly returnedAt: number
}

/** What one process alone would see: from a state and a call, the next state and the answer. */
export interface SequentialModel<State, Call, Result> {
  readonly initial: State
  apply(state: State, call: Call): { readonly state: State; readonly result: Result }
}

export type Verdict<Call, Result> =
  | { readonly isLinearizable: true }
  /** `stuck` is the operation whose answer no order explains, in the attempt that came furthest. */
  | { readonly isLinearizable: false; readonly stuck: Operation<Call, Result> }

/** A node of the doubly linked list of calls and returns in order of time. */
interface Event {
  readonly id: number
  /** The matching return of a call; absent on returns, and on calls without a result. */
  readonly returned: Event | undefined
  readonly isCall: boolean
  before: Event | undefined
  after: Event | undefined
}

/** Exponential only in how many operations overlap at one time; states must be plain data. */
export function checkLinearizability<State, Call, Result>(
  model: SequentialModel<State, Call, Result>,
  operations: readonly Operation<Call, Result>[],
): Verdict<Call, Result> {
  const history = operations.toSorted((a, b) => a.calledAt - b.calledAt)
  const head = eventList(history)
  const seen = new Set<string>()
  const taken = takenSet()
  const stack: { readonly event: Event; readonly state: State }[] = []
  let { initial: state } = model
  let open = history.filter(isComplete).length
  let furthest = -1
  let stuck: Operation<Call, Result> | undefined

  let event = head.after
  while (open > 0 && event !== undefined) {
    const operation = history[event.id]
    if (operation === undefined) throw new Error(`no operation ${event.id}`)
    if (event.isCall) {
      const next = model.apply(state, operation.call)
      if (!isComplete(operation) || isDeepStrictEqual(next.result, operation.result)) {
        taken.add(event.id)
        const key = `${taken.key()}|${JSON.stringify(next.state)}`
        if (!seen.has(key)) {
          seen.add(key)
          stack.push({ event, state })
          ;({ state } = next)
          lift(event)
          if (isComplete(operation)) open -= 1
          event = head.after
          continue
        }
        taken.delete(event.id)
      }
      event = event.after
      continue
    }
    // A return whose call was not taken yet: the order so far cannot be completed, so the last choice was wrong.
    if (taken.size() > furthest) {
      furthest = taken.size()
      stuck = operation
    }
    const last = stack.pop()
    if (last === undefined) return { isLinearizable: false, stuck: stuck ?? operation }
    ;({ state } = last)
    taken.delete(last.event.id)
    unlift(last.event)
    if (last.event.returned !== undefined) open += 1
    event = last.event.after
  }
  return { isLinearizable: true }
}

function isComplete(operation: Operation<unknown, unknown>): boolean {
  return 'result' in operation
}

/** Ids are in order of the calls, so the taken ones are a long run from 0 and a few beyond it: short to write down. */
function takenSet() {
  let run = 0
  const beyond = new Set<number>()
  return {
    add(id: number): void {
      beyond.add(id)
      while (beyond.delete(run)) run += 1
    },
    delete(id: number): void {
      beyond.delete(id)
      for (; run > id; run -= 1) if (run - 1 !== id) beyond.add(run - 1)
    },
    size: (): number => run + beyond.size,
    key: (): string => `${run},${[...beyond].toSorted((a, b) => a - b).join()}`,
  }
}

function eventList(history: readonly Operation<unknown, unknown>[]): Event {
  const moments = history.flatMap((operation, id) => {
    const returned: Event | undefined = isComplete(operation)
      ? { id, returned: undefined, isCall: false, before: undefined, after: undefined }
      : undefined
    const call: Event = { id, returned, isCall: true, before: undefined, after: undefined }
    const called = { at: operation.calledAt, event: call }
    return returned === undefined ? [called] : [called, { at: operation.returnedAt, event: returned }]
  })
  // At the same instant calls come first: then the two overlap, which is the more lenient reading.
  moments.sort((a, b) => a.at - b.at || Number(b.event.isCall) - Number(a.event.isCall))
  const head: Event = { id: -1, returned: undefined, isCall: false, before: undefined, after: undefined }
  let last = head
  for (const { event } of moments) {
    event.before = last
    last.after = event
    last = event
  }
  return head
}

function lift(call: Event): void {
  unlink(call)
  if (call.returned !== undefined) unlink(call.returned)
}

/** In the opposite order of `lift`, so that each finds its neighbours where it left them. */
function unlift(call: Event): void {
  if (call.returned !== undefined) relink(call.returned)
  relink(call)
}

function unlink(event: Event): void {
  if (event.before !== undefined) event.before.after = event.after
  if (event.after !== undefined) event.after.before = event.before
}

function relink(event: Event): void {
  if (event.before !== undefined) event.before.after = event
  if (event.after !== undefined) event.after.before = event
}
