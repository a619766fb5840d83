// One attempt on its way: sent to its worker, followed, its questions passed on, to its end.
import { pause } from '../clock.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Attempt, Why, Worker } from '../coordination/dispatched.ts'
import { DISPATCH_LOOK_MS, DISPATCH_LOST_AFTER_MS } from '../limits.ts'
import { acceptAttempt } from './attempts.ts'
import { blockedBy } from './blocked.ts'
import type { AttemptOutcome } from './life.ts'
import { replyOf } from './by-log/log-peer.ts'
import { resultOf, type TaskDispatch, type TaskResult } from './messages.ts'
import { isDispatched, readReason } from './parking.ts'
import type { At, Peer, PeerReply } from './peer.ts'
import { LOCAL } from './peers.ts'
import { dropQuestion, putQuestion, refuseAnswer } from './questions.ts'
import { redacted } from './redacted.ts'

export interface ErrandOptions {
  readonly room: Coordination
  /** Workers that may be asked, by name; looked up at each use, so that one that comes later is found. */
  readonly peers: () => ReadonlyMap<string, { readonly peer: Peer; readonly url: string }>
  readonly note: (line: string) => void
  readonly attempt: Attempt
  readonly contract: TaskDispatch
  /** Nobody can have sent it before. */
  readonly isNew: boolean
}

export class Errand {
  readonly #errand: ErrandOptions

  constructor(errand: ErrandOptions) {
    this.#errand = errand
  }

  /** Nothing when it was stopped before the end. */
  async outcome(signal: AbortSignal): Promise<AttemptOutcome | undefined> {
    const { room, note, attempt, contract, isNew } = this.#errand
    let remoteId = attempt.remoteId
    let sinceMs = room.clock.monoMs()
    let isSure = isNew
    let at: At
    let told = ''
    // As it was when the attempt began: what answers at its address later cannot change it.
    const isExtended = this.#speaks() === 'extension'
    const isOver = (): boolean => signal.aborted
    for (;;) {
      if (isOver()) return undefined
      if (remoteId === null) {
        const why = this.#isUnwanted()
        if (why !== undefined) return { kind: isSure ? 'unreached' : 'lost', why }
        // Whoever does not have the extension takes the same message for another task.
        if (!isSure && this.#speaks() === 'plain') return { kind: 'lost', why: `${attempt.workerId} may have begun it` }
      }
      const peer = this.#errand.peers().get(attempt.workerId)?.peer
      // Only one that asks at this moment is answered: whether it has an answer that went unanswered is looked at first.
      const answer = typeof at === 'object' ? this.#reason()?.answer : undefined
      const heard: PeerReply | undefined =
        peer === undefined
          ? { kind: 'refused', why: `${attempt.workerId} is no peer` }
          : remoteId === null
            ? await this.#sent(peer, signal)
            : answer !== undefined
              ? await peer.answer(remoteId, contract, answer, signal)
              : await this.#followed(peer, remoteId, at, signal)
      if (isOver()) return undefined
      const reply = heard?.kind === 'refused' || heard?.kind === 'silent' ? (this.#left(remoteId) ?? heard) : heard
      if (reply === undefined) continue
      if (reply.kind === 'working' || reply.kind === 'later' || reply.kind === 'ended' || reply.kind === 'asks') {
        sinceMs = room.clock.monoMs()
        if (remoteId === null) {
          remoteId = reply.remoteId
          await acceptAttempt(room, attempt, remoteId)
        }
      }
      if (reply.kind === 'later') return await this.#answered(signal)
      if (reply.kind === 'ended') {
        const result = reply.isProse === true && isExtended ? withoutResult(attempt) : checked(reply.result, attempt)
        return { kind: 'result', result }
      }
      // Nothing was asked for by its id: peers in the manner of Hermes say by this that they are busy.
      if (reply.kind === 'unknown' && remoteId === null)
        return { kind: 'result', result: refusal(contract, attempt, reply.why, 'busy') }
      if (reply.kind === 'unknown') return { kind: 'lost', why: reply.why }
      if (reply.kind === 'working') {
        at = 'working'
        await dropQuestion(room, attempt)
        continue
      }
      if (reply.kind === 'asks') {
        const { question, isAuth, partial } = reply
        at = { question, isAuth, ...(partial === undefined ? {} : { partial }) }
        await putQuestion(room, attempt, at, answer !== undefined)
        continue
      }
      if (reply.kind === 'rejected' && answer !== undefined) {
        at = undefined
        await refuseAnswer(room, attempt, reply.why)
        continue
      }
      at = undefined
      if (reply.kind === 'rejected' && (remoteId === null || reply.how === 'too_large'))
        return { kind: 'result', result: refusal(contract, attempt, reply.why, reply.how) }
      // It has the task, and will not say how it stands. One that only has too much to do is asked again.
      if (reply.kind === 'rejected' && reply.how !== 'busy' && room.clock.monoMs() - sinceMs >= DISPATCH_LOST_AFTER_MS)
        return { kind: 'lost', why: `${attempt.workerId} does not say how it stands: ${reply.why}` }
      // Once a send went unanswered, a refusal later proves nothing about it.
      if (reply.kind === 'refused' && remoteId === null && isSure) return { kind: 'unreached', why: reply.why }
      if (reply.kind === 'silent') isSure = false
      if (this.#isGone(remoteId) && room.clock.monoMs() - sinceMs >= DISPATCH_LOST_AFTER_MS)
        return { kind: 'lost', why: `${attempt.workerId} is gone: ${reply.why}` }
      // Said once: it is asked again every second.
      if (reply.why !== told)
        note(`dispatch: ${attempt.workerId} does not answer for ${attempt.taskId}, and is asked again: ${reply.why}`)
      told = reply.why
      await pause(room.clock, DISPATCH_LOOK_MS, signal)
    }
  }

  /** Until it answers, or until it is to be ended: whoever has it by then hears so with its next announce. */
  async #sent(peer: Peer, signal: AbortSignal): Promise<PeerReply> {
    const over = new AbortController()
    const unwanted = new AbortController()
    const watched = this.#untilSaid(false, AbortSignal.any([signal, over.signal])).then((said) => {
      if (said !== undefined) unwanted.abort()
    })
    try {
      return await peer.send(this.#errand.contract, this.#earlier(), AbortSignal.any([signal, unwanted.signal]))
    } finally {
      over.abort()
      await watched
    }
  }

  #isUnwanted(): string | undefined {
    return this.#reason()?.cancel
  }

  #speaks(): Worker['speaks'] | undefined {
    const { room, attempt } = this.#errand
    return room.store.read((rows) => rows.worker(attempt.workerId))?.speaks
  }

  /** Waits for an answer that comes by itself; whoever takes it ends the attempt. */
  async #answered(signal: AbortSignal): Promise<AttemptOutcome | undefined> {
    const { room, attempt } = this.#errand
    const isOpen = (): boolean =>
      room.store
        .read((rows) => rows.attempts({ taskId: attempt.taskId }))
        .some(({ number, endedMs }) => number === attempt.number && endedMs === null)
    const from = room.store.read((rows) => rows.head())
    const end = (): AttemptOutcome | undefined => {
      if (this.#reason()?.cancel !== undefined)
        return { kind: 'lost', why: 'it was to be ended, and its peer cannot be told' }
      return this.#isGone(attempt.remoteId) ? { kind: 'lost', why: `${attempt.workerId} is gone` } : undefined
    }
    if (!isOpen() || end() !== undefined) return isOpen() ? end() : undefined
    for await (const { puts } of room.store.follow(from, signal))
      if (puts.some(({ table }) => table === 'attempts' || table === 'tasks' || table === 'workers')) {
        if (!isOpen()) return undefined
        if (end() !== undefined) return end()
      }
    return undefined
  }

  /** Ids of earlier attempts at their workers. */
  #earlier(): string[] {
    const { room, attempt } = this.#errand
    return room.store
      .read((rows) => rows.attempts({ taskId: attempt.taskId }))
      .flatMap(({ number, remoteId }) => (number < attempt.number && remoteId !== null ? [remoteId] : []))
  }

  /**
   * One that was started again is asked for what the one before it took: it has it, or says that it does not know it.
   * Only what nobody is known to have taken is not left to it, for then it may be begun twice.
   */
  #isGone(remoteId: string | null): boolean {
    const { room, attempt } = this.#errand
    const { workerId, instanceId } = attempt
    const worker = room.store.read((rows) => rows.worker(workerId))
    if (worker === undefined || worker.state === 'gone') return true
    return remoteId === null && worker.instanceId !== instanceId
  }

  /** A worker of this machine that cannot be asked has what it took in this store: with it its end, if it has come to one. */
  #left(remoteId: string | null): PeerReply | undefined {
    const { room, attempt } = this.#errand
    const { taskId, workerId, number } = attempt
    const left = room.store
      .read((rows) => rows.assignments({ taskId, workerId }))
      .find((one) => one.attempt === number && one.from === LOCAL)
    if (left === undefined || (left.endedMs === null && remoteId !== null)) return undefined
    return replyOf(left)
  }

  /** Follows the attempt, and passes on that it is to be ended. Nothing when a person has answered what it asks. */
  async #followed(peer: Peer, remoteId: string, at: At, signal: AbortSignal): Promise<PeerReply | undefined> {
    const { note, attempt, contract } = this.#errand
    const end = new AbortController()
    const either = AbortSignal.any([signal, end.signal])
    const answered = new AbortController()
    const watched = this.#untilSaid(typeof at === 'object', either).then(async (said) => {
      if (said === 'cancel') await peer.cancel(remoteId, either)
      if (said !== 'answer') return
      answered.abort()
      end.abort()
    })
    try {
      const reply = await peer.follow(remoteId, contract, at, (line) => note(`${attempt.taskId}: ${line}`), either)
      return answered.signal.aborted ? undefined : reply
    } finally {
      end.abort()
      await watched
    }
  }

  #reason(): Why | undefined {
    const { room, attempt } = this.#errand
    const task = room.store.read((rows) => rows.task(attempt.taskId))
    return isDispatched(task) ? readReason(task) : undefined
  }

  /** What a person, or the deadline, has to say to it. */
  async #untilSaid(isAsking: boolean, signal: AbortSignal): Promise<'cancel' | 'answer' | undefined> {
    const { room, attempt } = this.#errand
    const { taskId } = attempt
    const said = (): 'cancel' | 'answer' | undefined => {
      const reason = this.#reason()
      if (reason?.cancel !== undefined) return 'cancel'
      return isAsking && reason?.answer !== undefined ? 'answer' : undefined
    }
    const from = room.store.read((rows) => rows.head())
    if (said() !== undefined) return said()
    for await (const { puts } of room.store.follow(from, signal))
      if (puts.some((put) => put.table === 'tasks' && 'row' in put && put.row['task_id'] === taskId)) {
        const now = said()
        if (now !== undefined) return now
      }
    return undefined
  }
}

/** A result is for the attempt that it names; any other was not asked for. */
function checked(result: TaskResult, attempt: Attempt): TaskResult {
  const isOurs =
    (result.dispatch_id ?? result.task_id) === attempt.taskId && (result.attempt ?? attempt.number) === attempt.number
  if (isOurs) return redacted(result)
  return resultOf({
    task_id: attempt.taskId,
    attempt: attempt.number,
    status: 'error',
    tokens_spent: result.tokens_spent,
    usage: result.usage,
    error: { summary: `the worker sent a result of ${result.task_id}#${result.attempt ?? '?'}`, code: 'wrong_result' },
  })
}

/** A worker that speaks the extension ends a task with a TASK_RESULT. Text in its place is not read: it may come from another program. */
const withoutResult = ({ taskId, number, workerId }: Attempt): TaskResult =>
  resultOf({
    task_id: taskId,
    attempt: number,
    status: 'error',
    usage: { source: 'unknown' },
    error: {
      summary: `${workerId} ended the task without a TASK_RESULT`,
      code: 'wrong_result',
      phase: 'reply',
      side_effects: 'possible',
    },
  })

/** What a peer made of the message itself: another may have it, or it may be had later; where something went wrong, it may have begun. */
function refusal(
  { task }: TaskDispatch,
  attempt: Attempt,
  said: string,
  how: Extract<PeerReply, { kind: 'rejected' }>['how'],
): TaskResult {
  const why = `${attempt.workerId} refused the message: ${said}`
  const common = { task_id: task.task_id, attempt: attempt.number }
  if (how === 'fault' || how === 'too_large')
    return resultOf({
      ...common,
      status: 'error',
      usage: { source: 'unknown' },
      error: {
        summary: how === 'fault' ? why : said,
        code: how === 'fault' ? 'peer_fault' : 'answer_too_large',
        phase: 'start',
        side_effects: 'possible',
      },
    })
  return resultOf({
    ...common,
    status: 'blocked',
    tokens_spent: 0,
    usage: { source: 'runtime' },
    blocked_reason: why,
    blocked: blockedBy(how === 'busy' ? 'rate_limited' : 'message_refused'),
  })
}
