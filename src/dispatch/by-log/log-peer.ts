// A worker of the fleet, reached through rows of the log alone: the attempt that stands there is the message, the assignment that the worker's machine puts is the answer.
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment, TaskQuestion } from '../../coordination/dispatched.ts'
import type { Reader } from '../../coordination/store.ts'
import { PEER_ANSWER_MS } from '../../limits.ts'
import { parseResult, type TaskDispatch } from '../messages.ts'
import { isDispatched, readReason } from '../parking.ts'
import { type At, isAt, type Peer, type PeerReply } from '../peer.ts'

export class LogPeer implements Peer {
  readonly #room: Coordination
  readonly #workerId: string

  constructor(room: Coordination, workerId: string) {
    this.#room = room
    this.#workerId = workerId
  }

  /** The attempt is there: it was put when this worker was chosen. */
  async send(contract: TaskDispatch, _earlier: readonly string[], signal: AbortSignal): Promise<PeerReply> {
    const taskId = contract.dispatch_id ?? contract.task.task_id
    const taken = await this.#seen(
      (rows) =>
        rows.assignments({ taskId, workerId: this.#workerId }).find(({ attempt }) => attempt === contract.attempt),
      signal,
    )
    return taken === undefined ? this.#silent() : replyOf(taken)
  }

  async follow(
    remoteId: string,
    _contract: TaskDispatch,
    at: At,
    _onProgress: (line: string) => void,
    signal: AbortSignal,
  ): Promise<PeerReply> {
    for (;;) {
      const other = await this.#seen((rows) => {
        const now = rows.assignment(remoteId)
        return now === undefined || isAt(replyOf(now), at) ? undefined : now
      }, signal)
      if (other !== undefined) return replyOf(other)
      if (signal.aborted || this.#isGone()) return this.#silent()
    }
  }

  /** The answer stands in the task, and its machine reads that too: it has taken it once it asks this no longer. */
  async answer(
    remoteId: string,
    contract: TaskDispatch,
    _answer: { readonly text: string; readonly id: string },
    signal: AbortSignal,
  ): Promise<PeerReply> {
    const asked = this.#room.store.read((rows) => rows.assignment(remoteId))
    if (asked === undefined) return this.#silent()
    const taskId = contract.dispatch_id ?? contract.task.task_id
    const other = await this.#seen((rows) => {
      const now = rows.assignment(remoteId)
      const task = rows.task(taskId)
      const isOff = isDispatched(task) && readReason(task)?.answer === undefined
      return now?.asks !== asked.asks || isOff ? now : undefined
    }, signal)
    if (other === undefined) return this.#silent()
    return other.asks === asked.asks
      ? { kind: 'rejected', why: 'its machine did not take it', how: 'refusal' }
      : replyOf(other)
  }

  /** That it is to be ended stands in the task, and its machine reads that too. */
  cancel(): Promise<void> {
    return Promise.resolve()
  }

  /** It announces itself in the log. */
  pull(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  #silent(): PeerReply {
    return { kind: 'silent', why: 'its machine has not answered in the log' }
  }

  #isGone(): boolean {
    const worker = this.#room.store.read((rows) => rows.worker(this.#workerId))
    return worker === undefined || worker.state === 'gone'
  }

  /** What the rows show, now or within the time of an answer. */
  async #seen(look: (rows: Reader) => Assignment | undefined, signal: AbortSignal): Promise<Assignment | undefined> {
    const { store, clock } = this.#room
    const late = new AbortController()
    const timer = clock.after(PEER_ANSWER_MS, () => late.abort())
    try {
      const from = store.read((rows) => rows.head())
      const there = store.read(look)
      if (there !== undefined) return there
      for await (const { puts } of store.follow(from, AbortSignal.any([signal, late.signal])))
        if (puts.some(({ table }) => table === 'assignments' || table === 'workers')) {
          const found = store.read(look)
          if (found !== undefined) return found
        }
      return undefined
    } finally {
      timer.cancel()
      late.abort()
    }
  }
}

export function replyOf({ assignmentId: remoteId, endedMs, result, asks }: Assignment): PeerReply {
  if (endedMs === null && asks !== null) return { kind: 'asks', remoteId, ...(JSON.parse(asks) as TaskQuestion) }
  if (endedMs === null || result === null) return { kind: 'working', remoteId }
  return { kind: 'ended', remoteId, result: parseResult(JSON.parse(result)) }
}
