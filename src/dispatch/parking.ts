// Tasks that wait for something to happen: a time, a worker, another task. Waking puts them back into the queue.
import { type Attempt, readWhy, type Why, type Worker } from '../coordination/dispatched.ts'
import type { Moment } from '../coordination/moment.ts'
import type { Reader, Task, Writer } from '../coordination/store.ts'
import { HeimdallError } from '../errors.ts'
import { leftOut } from './life.ts'
import { parseDispatch, type TaskDispatch, type TaskResult } from './messages.ts'
import { needsText, readNeeds } from './needs.ts'

/** A dispatched task. */
export type DispatchedTask = Task & { readonly dispatch: NonNullable<Task['dispatch']> }

export const isDispatched = (task: Task | undefined): task is DispatchedTask =>
  task !== undefined && task.dispatch !== null

export const readReason = ({ dispatch }: DispatchedTask): Why | undefined => readWhy(dispatch.reason)

export function contractOf(rows: Reader, taskId: string): TaskDispatch {
  const text = rows.contract(taskId)
  if (text === undefined) throw new HeimdallError('TASK_NOT_FOUND', `task ${taskId} was not dispatched`)
  return parseDispatch(JSON.parse(text))
}

/** Nothing where it is none: any member of a fleet can put one, and the others wait behind it. */
export function contractIn(rows: Reader, taskId: string): TaskDispatch | undefined {
  try {
    return contractOf(rows, taskId)
  } catch (error) {
    if (!(error instanceof HeimdallError) && !(error instanceof SyntaxError)) throw error
    return undefined
  }
}

/** Of the last attempt that came to one. */
export function lastResult(attempts: readonly Attempt[]): TaskResult | undefined {
  const text = attempts.findLast(({ result }) => result !== null)?.result
  return text === undefined || text === null ? undefined : (JSON.parse(text) as TaskResult)
}

/** Where its work is: of the last attempt that changed something, for a later one may have had nothing to change. */
export function workOf(
  attempts: readonly Attempt[],
): { readonly branch: string; readonly worktree: string } | undefined {
  for (const { result } of attempts.toReversed()) {
    const { branch, worktree } = result === null ? {} : (JSON.parse(result) as TaskResult).artifacts
    if (typeof branch === 'string' && typeof worktree === 'string') return { branch, worktree }
  }
  return undefined
}

/** What a task needs now: those that refused it are left out, as far as that still holds. */
export function needsNow(rows: Reader, task: DispatchedTask, attempts: readonly Attempt[], isWaking: boolean): string {
  const isSameInstance = (attempt: Attempt): boolean => {
    const worker = rows.worker(attempt.workerId)
    return worker?.instanceId === attempt.instanceId && worker.state !== 'gone'
  }
  return needsText({
    ...readNeeds(task.dispatch.needs),
    not: [...new Set(leftOut(attempts, isSameInstance, isWaking))].sort(),
  })
}

export function wake(rows: Writer, task: DispatchedTask, lifted: string | null = null): void {
  const attempts = rows.attempts({ taskId: task.taskId })
  const needs = readNeeds(needsNow(rows, task, attempts, true))
  rows.putTask({
    ...task,
    state: 'queued',
    dispatch: {
      ...task.dispatch,
      // Whoever announces something new is asked again, whatever it said before.
      needs: needsText({ ...needs, not: needs.not.filter((one) => one !== lifted) }),
      wakeMs: null,
      reason: null,
    },
  })
}

/** Whatever waits for a worker may be for this one: the next choice says so. */
export function wakeFor(rows: Writer, worker: Worker): void {
  if (worker.state === 'draining' || worker.state === 'gone') return
  for (const { taskId, wakeMs } of rows.parked()) {
    if (wakeMs !== null) continue
    const task = rows.task(taskId)
    if (!isDispatched(task) || readReason(task)?.depends_on !== undefined) continue
    wake(rows, task, worker.workerId)
  }
}

/** Those whose time has come. Returns when the next one's does. */
export function wakeDue(rows: Writer, now: Moment): number | undefined {
  const waits: number[] = []
  for (const { taskId, wakeMs } of rows.parked()) {
    if (wakeMs === null) continue
    const task = rows.task(taskId)
    if (wakeMs > now.wallMs) waits.push(wakeMs - now.wallMs)
    else if (isDispatched(task)) wake(rows, task)
  }
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Those that waited for the end of a task. What builds on its work needs that work to be there. */
export function wakeDependents(rows: Writer, endedTask: string, state: string): void {
  for (const { taskId } of rows.parked()) {
    const task = rows.task(taskId)
    if (!isDispatched(task) || readReason(task)?.depends_on !== endedTask) continue
    const isLacking = state !== 'done' && state !== 'partial' && contractIn(rows, taskId)?.task.after === endedTask
    if (isLacking) hold(rows, task, `it builds on ${endedTask}, which is ${state}`)
    else wake(rows, task)
  }
}

/** Tasks that were to begin with the branch of a task whose work is discarded now wait for a human. */
export function holdDependents(rows: Writer, discarded: string): void {
  for (const task of rows.tasks({ dispatched: true })) {
    const isWaiting = task.state === 'queued' || task.state === 'parked'
    if (!isWaiting || !isDispatched(task) || contractIn(rows, task.taskId)?.task.after !== discarded) continue
    hold(rows, task, `it builds on ${discarded}, which was discarded`)
  }
}

function hold(rows: Writer, task: DispatchedTask, why: string): void {
  rows.putTask({ ...task, state: 'triage', dispatch: { ...task.dispatch, reason: JSON.stringify({ why }) } })
}
