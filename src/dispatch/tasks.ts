// Dispatched tasks as people ask for them: listed, shown, explained, cancelled, sent again; and what a deadline does to one.
import { changeAsOther } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Attempt, TokenReservation } from '../coordination/dispatched.ts'
import type { Reader, TaskState } from '../coordination/store.ts'
import { isOpenTask, unknownTask } from '../coordination/tasks.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { finish } from './attempts.ts'
import type { TaskDispatch } from './messages.ts'
import { holdersNear, nearOf } from './nearness.ts'
import { type Needs, readNeeds } from './needs.ts'
import { contractOf, type DispatchedTask, isDispatched, readReason, wake } from './parking.ts'
import { type Route, route } from './routing.ts'
import { candidates } from './workers.ts'

export function listDispatched(room: Coordination, state?: TaskState): DispatchedTask[] {
  return room.store
    .read((rows) => rows.tasks({ dispatched: true, ...(state === undefined ? {} : { state }) }))
    .filter(isDispatched)
}

export interface ShownTask {
  readonly task: DispatchedTask
  readonly contract: TaskDispatch
  readonly attempts: readonly Attempt[]
  readonly reservations: readonly TokenReservation[]
}

export function showTask(room: Coordination, taskId: string): ShownTask {
  return room.store.read((rows) => {
    const task = rows.task(taskId)
    if (!isDispatched(task)) throw notDispatched(taskId, rows)
    return {
      task,
      contract: contractOf(rows, taskId),
      attempts: rows.attempts({ taskId }),
      reservations: rows.tokenReservations(taskId),
    }
  })
}

/** Nothing more happens by itself: it was given up on, or its worker asks something. */
export const waitsForPerson = (task: DispatchedTask): boolean => {
  if (task.state === 'triage') return true
  const reason = readReason(task)
  return task.state === 'in_progress' && reason?.asks !== undefined && reason.answer === undefined
}

/** Who would get it, and why each worker would or would not. */
export function explainTask(room: Coordination, taskId: string): Route {
  const { task, contract } = showTask(room, taskId)
  return explainNeeds(room, readNeeds(task.dispatch.needs), contract.task.scopes)
}

export function explainNeeds(room: Coordination, needs: Needs, scopes: readonly string[] = []): Route {
  const holders = holdersNear(room, scopes)
  const workers = room.store.read((rows) => candidates(rows, room.now()))
  return route(
    needs,
    workers.map((one) => ({ ...one, near: nearOf(holders, one.workerId) })),
  )
}

/** One that waits is over at once; one that runs is ended at its worker, and its end says so. */
export async function cancelTask(room: Coordination, taskId: string, why: string): Promise<DispatchedTask> {
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const { rows } = change
    const task = rows.task(taskId)
    if (!isDispatched(task)) throw notDispatched(taskId, rows)
    if (!isOpenTask(task))
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} is ${task.state} already`)
    if (task.state === 'in_progress') {
      rows.putTask({ ...task, dispatch: { ...task.dispatch, reason: JSON.stringify({ why, cancel: why }) } })
    } else {
      rows.putTask({ ...task, state: 'canceled', dispatch: { ...task.dispatch, reason: JSON.stringify({ why }) } })
      finish(change, task, { to: 'canceled', why }, undefined)
    }
    const now = rows.task(taskId)
    return isDispatched(now) ? now : task
  })
}

/** A person's word puts a task that waits for one, or that has failed, back into the queue; what it has cost stays on its budget. */
export async function retryTask(
  room: Coordination,
  taskId: string,
  budget?: number,
  by: Parameters<typeof changeAsOther>[1] = { kind: 'system' },
): Promise<DispatchedTask> {
  if (budget !== undefined && budget <= 0)
    throw new HeimdallError('DISPATCH_INVALID', `the budget is ${budget} tokens, at least 1 is needed`)
  return changeAsOther(room, by, ({ rows, record }) => {
    const task = rows.task(taskId)
    if (!isDispatched(task)) throw notDispatched(taskId, rows)
    if (task.state !== 'triage' && task.state !== 'parked' && task.state !== 'failed')
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} is ${task.state} and cannot be sent again`, {
        hint: 'only tasks that are parked, in triage or failed can be',
      })
    const tokenBudget = budget ?? task.dispatch.tokenBudget
    wake(rows, { ...task, endedMs: null, summary: null, dispatch: { ...task.dispatch, failures: 0, tokenBudget } })
    record({ type: 'TASK_QUEUED', task: taskId, payload: { title: task.title, why: 'sent again' } })
    const now = rows.task(taskId)
    return isDispatched(now) ? now : task
  })
}

/** Tasks whose deadline has passed, and when the next one's does. */
export function overdue(room: Coordination): {
  readonly now: readonly string[]
  readonly nextInMs: number | undefined
} {
  const nowMs = room.clock.wallMs()
  const { due, nextMs } = room.store.read((rows) => rows.deadlines(nowMs))
  return { now: due, nextInMs: nextMs === null ? undefined : nextMs - nowMs }
}

/** Judged by this clock alone. What waits has failed; what runs is ended at its worker. */
export async function passDeadline(room: Coordination, taskId: string): Promise<void> {
  const why = 'its deadline has passed'
  await changeAsOther(room, { kind: 'system' }, (change) => {
    const { rows } = change
    const task = rows.task(taskId)
    if (!isDispatched(task) || !isOpenTask(task)) return
    if (task.state === 'in_progress') {
      if (readReason(task)?.cancel !== undefined) return
      rows.putTask({ ...task, dispatch: { ...task.dispatch, reason: JSON.stringify({ why, cancel: why }) } })
      return
    }
    rows.putTask({ ...task, state: 'failed', dispatch: { ...task.dispatch, reason: JSON.stringify({ why }) } })
    finish(change, task, { to: 'failed', why }, undefined)
  })
}

/** An agent started the task by itself, or there is none of this id. */
export function notDispatched(taskId: string, rows: Reader): HeimdallError {
  if (rows.task(taskId) === undefined) return unknownTask(taskId, rows.tasks({ dispatched: true }))
  return new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} was started by an agent, not dispatched`, {
    hint: `its agent ends it: heimdall task done ${printable(taskId)} --summary TEXT`,
  })
}

/**
 * Why a queued task has to wait for a worker that is not there: `none` known at all, or all `unable`. Nothing while a
 * worker of `known` was not asked yet, or is only busy.
 */
export function lackOfWorkers(
  room: Coordination,
  taskId: string,
  known: readonly string[],
): 'none' | 'unable' | undefined {
  if (showTask(room, taskId).task.state !== 'queued') return undefined
  const { verdicts } = explainTask(room, taskId)
  const asked = new Set(verdicts.map(({ workerId }) => workerId))
  if (known.some((name) => !asked.has(name))) return undefined
  // A worker that runs counts as gone while nobody orchestrates; the next orchestrator asks it.
  const mayHelp = (workerId: string, code: string): boolean =>
    code === 'max_concurrent' || (code === 'gone' && known.includes(workerId))
  if (verdicts.some(({ workerId, lacks }) => lacks.every(({ code }) => mayHelp(workerId, code)))) return undefined
  return verdicts.length === 0 ? 'none' : 'unable'
}
