// Attempts at a task: one is begun for the best of the queue, accepted by its worker, and ended once; what then becomes of the task is decided in the same change.
import { type Change, changeAsOther } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { type Attempt, ATTEMPT_ENDS, type AttemptState } from '../coordination/dispatched.ts'
import type { Reader, Writer } from '../coordination/store.ts'
import { HeimdallError } from '../errors.ts'
import { DISPATCH_TELL_AFTER_MS } from '../limits.ts'
import { type Next, nextStep, type AttemptOutcome, withoutWorker } from './life.ts'
import type { TaskDispatch, TaskResult } from './messages.ts'
import { readNeeds } from './needs.ts'
import {
  contractIn,
  contractOf,
  type DispatchedTask,
  isDispatched,
  needsNow,
  readReason,
  wakeDependents,
  wakeDue,
  workOf,
} from './parking.ts'
import { choose } from './routing.ts'
import { holdersNear, nearOf } from './nearness.ts'
import { remaining, settle } from './token-budget.ts'
import { candidates } from './workers.ts'

export interface Begun {
  readonly attempt: Attempt
  readonly contract: TaskDispatch
}

interface Looked {
  readonly begun: Begun | undefined
  /** When a parked task is due. */
  readonly wakeInMs: number | undefined
}

/** One decision: the first task by rank for which somebody is free. Reserves its tokens with it. */
export async function beginNext(room: Coordination): Promise<Looked> {
  // Scopes are looked at on disk, and that is done before the change.
  const holders = new Map(
    room.store
      .read((rows) => rows.queueHeads().flatMap(({ taskId }) => contractIn(rows, taskId) ?? []))
      .map(({ task }) => [task.task_id, holdersNear(room, task.scopes)]),
  )
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const { rows, now } = change
    const wakeInMs = wakeDue(rows, now)
    const heads = rows.queueHeads()
    if (heads.length === 0) return { begun: undefined, wakeInMs }
    const workers = candidates(rows, now)
    for (const { taskId, needs: text } of heads) {
      const task = rows.task(taskId)
      if (!isDispatched(task)) continue
      const needs = readNeeds(text)
      const contract = contractIn(rows, taskId)
      if (contract === undefined) {
        put(rows, task, { to: 'triage', why: 'its contract is none that a version of Heimdall has written' })
        change.record({ type: 'TASK_TRIAGE', task: taskId, payload: { why: 'contract_invalid' } })
        continue
      }
      const near = holders.get(taskId) ?? []
      const placed = near.length === 0 ? workers : workers.map((one) => ({ ...one, near: nearOf(near, one.workerId) }))
      const chosen = choose(needs, placed)
      if (chosen !== undefined) return { begun: begin(change, task, contract, chosen), wakeInMs }
      if (
        choose(
          needs,
          placed.map((one) => ({ ...one, active: 0 })),
        ) === undefined
      )
        wait(change, task, contract)
    }
    return { begun: undefined, wakeInMs }
  })
}

function begin(
  { rows, now, record }: Change,
  task: DispatchedTask,
  contract: TaskDispatch,
  workerId: string,
): Begun | undefined {
  const left = remaining(rows, task)
  if (left !== null && left <= 0) {
    put(rows, task, { to: 'triage', why: `all of its ${task.dispatch.tokenBudget} tokens are spent` })
    record({ type: 'TASK_TRIAGE', task: task.taskId, payload: { why: 'budget_too_small' } })
    return undefined
  }
  const number = task.dispatch.attempts + 1
  const worker = rows.worker(workerId)
  const attempt: Attempt = {
    taskId: task.taskId,
    number,
    workerId,
    instanceId: worker?.instanceId ?? '',
    state: 'sent',
    remoteId: null,
    sentMs: now.wallMs,
    acceptedMs: null,
    endedMs: null,
    result: null,
    isLate: false,
  }
  rows.putAttempt(attempt)
  rows.putTokenReservation({ taskId: task.taskId, attempt: number, reserved: left ?? 0, settled: null, source: null })
  rows.putTask({
    ...task,
    state: 'in_progress',
    owner: null,
    dispatch: { ...task.dispatch, attempts: number, reason: null, wakeMs: null },
  })
  record({
    type: 'TASK_SENT',
    task: task.taskId,
    to: workerId,
    payload: { attempt: number, worker: workerId, trace: contract.trace },
  })
  return { attempt, contract: contractFor(rows, attempt) }
}

/** Nobody could do it even if idle. One that was refused is parked; one that is new waits, and a person hears of it in time. */
function wait({ rows, now, record }: Change, task: DispatchedTask, { task: { priority } }: TaskDispatch): void {
  const attempts = rows.attempts({ taskId: task.taskId })
  if (attempts.length > 0) {
    const next = withoutWorker(attempts, now.wallMs)
    put(rows, task, next)
    record({
      type: next.to === 'triage' ? 'TASK_TRIAGE' : 'TASK_PARKED',
      task: task.taskId,
      payload: { why: next.why },
    })
    return
  }
  const isPressing = priority === 'urgent' || priority === 'high'
  if (task.dispatch.reason !== null || (!isPressing && now.wallMs - task.startedMs < DISPATCH_TELL_AFTER_MS)) return
  const why = 'no worker can do it at present'
  rows.putTask({ ...task, dispatch: { ...task.dispatch, reason: JSON.stringify({ why }) } })
  record({ type: 'TASK_WAITS', task: task.taskId, payload: { why, priority } })
}

export async function acceptAttempt(room: Coordination, key: AttemptKey, remoteId: string): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, now, record }) => {
    const attempt = attemptOf(rows, key)
    if (attempt?.state !== 'sent') return
    rows.putAttempt({ ...attempt, state: 'accepted', remoteId, acceptedMs: now.wallMs })
    record({
      type: 'TASK_ACCEPTED',
      task: key.taskId,
      to: attempt.workerId,
      payload: { attempt: key.number, trace: contractOf(rows, key.taskId).trace },
    })
  })
}

export interface AttemptKey {
  readonly taskId: string
  readonly number: number
}

type Ended = { readonly kind: 'ended'; readonly next: Next['to'] | 'canceled' } | { readonly kind: 'late' | 'repeated' }

/** The first end counts. What comes for an attempt that is over, or that the task has gone on without, is kept as evidence. */
export async function endAttempt(room: Coordination, key: AttemptKey, outcome: AttemptOutcome): Promise<Ended> {
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const { rows, now, record } = change
    const attempt = attemptOf(rows, key)
    const task = rows.task(key.taskId)
    if (attempt === undefined || !isDispatched(task))
      throw new HeimdallError('TASK_NOT_FOUND', `task ${key.taskId} has no attempt ${key.number}`)
    const result = outcome.kind === 'result' ? outcome.result : undefined
    const isOver = ATTEMPT_ENDS.some((end) => end === attempt.state)
    if (isOver || task.state !== 'in_progress' || task.dispatch.attempts !== key.number) {
      if (result === undefined || attempt.result !== null) return { kind: 'repeated' }
      const text = JSON.stringify(result)
      rows.putAttempt({
        ...attempt,
        ...(isOver ? {} : { state: 'lost' as const, endedMs: now.wallMs }),
        result: text,
        isLate: true,
      })
      settle(rows, key, result)
      record({ type: 'TASK_LATE_RESULT', task: key.taskId, payload: { attempt: key.number, status: result.status } })
      return { kind: 'late' }
    }
    const ended: Attempt = {
      ...attempt,
      state: stateOf(outcome),
      endedMs: now.wallMs,
      result: result === undefined ? null : JSON.stringify(result),
    }
    rows.putAttempt(ended)
    settle(rows, key, result ?? (outcome.kind === 'unreached' ? 'nothing' : 'unknown'))
    const canceled = readReason(task)?.cancel
    const isFailure = outcome.kind === 'lost' || result?.status === 'error'
    const counted = { ...task, dispatch: { ...task.dispatch, failures: task.dispatch.failures + (isFailure ? 1 : 0) } }
    const next: Next | { to: 'canceled'; why: string } =
      canceled !== undefined && result?.status !== 'done'
        ? { to: 'canceled', why: canceled }
        : nextStep(outcome, {
            idempotent: contractOf(rows, key.taskId).task.idempotent,
            failures: task.dispatch.failures,
            attempts: rows.attempts({ taskId: key.taskId }),
            nowMs: now.wallMs,
          })
    put(rows, counted, next)
    if (next.to === 'queued' || next.to === 'parked' || next.to === 'triage')
      record({
        type: `TASK_${next.to.toUpperCase()}`,
        task: key.taskId,
        payload: { why: next.why, attempt: key.number },
      })
    else finish(change, counted, next, result)
    return { kind: 'ended', next: next.to }
  })
}

function stateOf(outcome: AttemptOutcome): AttemptState {
  if (outcome.kind === 'lost') return 'lost'
  if (outcome.kind === 'unreached') return 'canceled'
  return outcome.result.status
}

/** The task as the next step leaves it. */
function put(rows: Writer, task: DispatchedTask, next: Next | { to: 'canceled'; why: string }): void {
  const isOpen = next.to === 'queued' || next.to === 'parked' || next.to === 'triage'
  const attempts = rows.attempts({ taskId: task.taskId })
  rows.putTask({
    ...task,
    state: next.to,
    owner: isOpen ? null : task.owner,
    dispatch: {
      ...task.dispatch,
      needs: next.to === 'queued' ? needsNow(rows, task, attempts, false) : task.dispatch.needs,
      wakeMs: next.to === 'parked' ? next.wakeMs : null,
      reason: JSON.stringify({
        why: next.why,
        ...('dependsOn' in next ? { depends_on: next.dependsOn } : {}),
      }),
    },
  })
}

/** A page for people, the tokens' last word, and whoever waited for it. */
export function finish(
  { rows, now, record }: Change,
  { taskId, title }: DispatchedTask,
  next: { readonly to: string; readonly why: string },
  result: TaskResult | undefined,
): void {
  const task = rows.task(taskId)
  if (!isDispatched(task)) return
  const summary = summaryOf(next, result)
  const contract = contractOf(rows, taskId)
  rows.putTask({ ...task, endedMs: now.wallMs, summary })
  record({
    type: 'TASK_END',
    task: taskId,
    payload: {
      state: next.to,
      title,
      summary,
      haid: task.owner ?? '',
      scopes: contract.task.scopes,
      trace: contract.trace,
    },
  })
  wakeDependents(rows, taskId, next.to)
}

function summaryOf(next: { readonly to: string; readonly why: string }, result: TaskResult | undefined): string {
  if (typeof result?.reply === 'string' && result.reply.trim() !== '') return result.reply.slice(0, 2_000)
  return next.to === 'done' ? 'done' : next.why.slice(0, 2_000)
}

/** As it is sent with this attempt: of the budget, what was set aside for it. */
export function contractFor(rows: Reader, { taskId, number }: AttemptKey): TaskDispatch {
  const sent = contractOf(rows, taskId)
  const task = rows.task(taskId)
  const reserved = rows.tokenReservations(taskId).find(({ attempt }) => attempt === number)?.reserved
  // A person may have given it one since it was sent, or another.
  const budget = isDispatched(task) && task.dispatch.tokenBudget !== null ? (reserved ?? null) : null
  return { ...sent, attempt: number, task: { ...sent.task, token_budget: budget, ...baseOf(rows, sent) } }
}

/** The branch of the task that it builds on, unless that was merged since. */
function baseOf(rows: Reader, { task: { after } }: TaskDispatch): { readonly base?: string } {
  const earlier = after === undefined ? undefined : rows.task(after)
  if (!isDispatched(earlier) || readReason(earlier)?.review?.state === 'merged') return {}
  const work = workOf(rows.attempts({ taskId: earlier.taskId }))
  return work === undefined ? {} : { base: work.branch }
}

const attemptOf = (rows: Reader, { taskId, number }: AttemptKey): Attempt | undefined =>
  rows.attempts({ taskId }).find((one) => one.number === number)
