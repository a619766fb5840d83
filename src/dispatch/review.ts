// What becomes of the work of an ended task: its worktree, the order in which several are merged, and a follow-up in the same place.
import { pause } from '../clock.ts'
import { changeAsOther } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Review } from '../coordination/dispatched.ts'
import { isOpenTask } from '../coordination/tasks.ts'
import { HeimdallError } from '../errors.ts'
import { escapeControls, printable } from '../ids.ts'
import { DISPATCH_TEXT_CHARS_MAX, TASK_CLOSE_WAIT_MS, TASK_LOOK_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import { quoted } from '../quoted.ts'
import { sessionIn } from '../spine/worktrees/in-use.ts'
import { type AgentWorktree, recordOfTask } from '../spine/worktrees/owner-record.ts'
import { needsText, readNeeds } from './needs.ts'
import { contractOf, type DispatchedTask, holdDependents, isDispatched, readReason, wake, workOf } from './parking.ts'
import { notDispatched, type ShownTask } from './tasks.ts'

/** `ready`: its work waits to be reviewed; null: there is none, or it is still being done. */
export function reviewOf({ task, attempts }: Pick<ShownTask, 'task' | 'attempts'>): Review['state'] | 'ready' | null {
  const decided = readReason(task)?.review?.state
  if (decided !== undefined || isOpenTask(task)) return decided ?? null
  return workOf(attempts) === undefined ? null : 'ready'
}

/** The latest worktree of a task on this machine. */
export function worktreeOf({ project }: Coordination, { task, attempts }: ShownTask): AgentWorktree {
  const { taskId } = task
  const found = recordOfTask(project, taskId)
  if (found !== undefined) return found
  const name = escapeControls(taskId)
  const { state, into, commit } = readReason(task)?.review ?? {}
  const why =
    state === 'merged'
      ? `${name} was merged into ${into ?? 'its branch'}`
      : state === 'discarded'
        ? `${name} was discarded`
        : attempts.length === 0
          ? `${name} is ${task.state}, and no worker has begun it`
          : workOf(attempts) !== undefined
            ? `the worktree of ${name} is not on this machine, or was removed`
            : `${name} has no worktree: it changed no files in one`
  throw new HeimdallError('WORKTREE_NOT_FOUND', why, {
    hint: commit === undefined ? `heimdall task show ${quoted(taskId)}` : `git show ${commit.slice(0, 12)}`,
  })
}

/** A task whose worktree was removed, or is on another machine, has none here. */
export const hasWorktree = ({ project }: Coordination, taskId: string): boolean =>
  recordOfTask(project, taskId) !== undefined

/** The session of an ended task needs a moment to end as well. */
export async function untilLeft({ clock }: Coordination, env: Env, { path }: AgentWorktree): Promise<void> {
  const until = clock.monoMs() + TASK_CLOSE_WAIT_MS
  while (sessionIn(path, env) !== undefined && clock.monoMs() < until) await pause(clock, TASK_LOOK_MS)
}

/** Its work is touched by a review only when no agent is at it any more. */
export function refuseUnended({ task: { taskId, state } }: ShownTask): void {
  if (state !== 'in_progress' && state !== 'queued' && state !== 'parked') return
  throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} is ${state.replace('_', ' ')}`, {
    hint: `wait for its end, or heimdall task cancel ${quoted(taskId)}`,
  })
}

export async function putReview(room: Coordination, taskId: string, review: Review): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, record }) => {
    const task = rows.task(taskId)
    if (!isDispatched(task)) return
    const reason = { ...(readReason(task) ?? { why: task.state }), review: { ...readReason(task)?.review, ...review } }
    rows.putTask({ ...task, dispatch: { ...task.dispatch, reason: JSON.stringify(reason) } })
    if (review.state === 'discarded') holdDependents(rows, taskId)
    record({ type: 'TASK_REVIEW', task: taskId, payload: { ...review } })
  })
}

/** The next message to an ended task: the same worker continues in the same worktree and conversation. */
export async function replyToTask(
  room: Coordination,
  taskId: string,
  text: string,
  budget: number | undefined,
): Promise<DispatchedTask> {
  if (text.trim() === '' || text.length > DISPATCH_TEXT_CHARS_MAX)
    throw new HeimdallError(
      'DISPATCH_INVALID',
      `the reply has ${text.length} characters, 1 to ${DISPATCH_TEXT_CHARS_MAX} are allowed`,
    )
  return changeAsOther(room, { kind: 'system' }, ({ rows, record }) => {
    const task = rows.task(taskId)
    if (!isDispatched(task)) throw notDispatched(taskId, rows)
    const name = printable(taskId)
    const review = readReason(task)?.review?.state
    if (review === 'merged' || review === 'discarded')
      throw new HeimdallError('TASK_FORBIDDEN', `task ${name} was ${review}`, {
        hint: `heimdall task add --after ${quoted(taskId)} TEXT adds a task that builds on it`,
      })
    const last = rows.attempts({ taskId }).findLast(({ acceptedMs }) => acceptedMs !== null)
    if ((isOpenTask(task) && task.state !== 'triage') || last === undefined)
      throw new HeimdallError('TASK_FORBIDDEN', `task ${name} is ${task.state.replace('_', ' ')}`, {
        hint:
          readReason(task)?.asks === undefined
            ? 'a reply continues a task that has ended'
            : `answer its question: heimdall task answer ${quoted(taskId)} TEXT`,
      })
    const { brief_beside: _, ...contract } = contractOf(rows, taskId)
    const continues = contract.task.continues ?? last.number
    const task_ = { ...contract.task, continues, ...(budget === undefined ? {} : { token_budget: budget }) }
    rows.putContract(taskId, JSON.stringify({ ...contract, brief: text, deadline: null, task: task_ }))
    const { dispatch } = task
    const needs = { ...readNeeds(dispatch.needs), not: [], only: last.workerId }
    wake(rows, {
      ...task,
      endedMs: null,
      summary: null,
      dispatch: {
        ...dispatch,
        needs: needsText(needs),
        failures: 0,
        deadlineMs: null,
        tokenBudget: budget ?? dispatch.tokenBudget,
      },
    })
    record({ type: 'TASK_QUEUED', task: taskId, payload: { title: task.title, why: 'reply' } })
    const now = rows.task(taskId)
    return isDispatched(now) ? now : task
  })
}

export interface Mergeable {
  readonly taskId: string
  /** The task whose branch it builds on. */
  readonly after: string | undefined
  /** Files that it has changed, and scopes that it claimed. */
  readonly paths: readonly string[]
}

/** What others build on comes first, then what touches the fewest files of the others. */
export function mergeOrder<T extends Mergeable>(tasks: readonly T[]): T[] {
  const shared = ({ taskId, paths }: T): number =>
    tasks.filter((other) => other.taskId !== taskId && other.paths.some((path) => paths.includes(path))).length
  const left = [...tasks].sort((a, b) => shared(a) - shared(b))
  const order: T[] = []
  while (left.length > 0) {
    const at = left.findIndex(({ after }) => !left.some(({ taskId }) => taskId === after))
    order.push(...left.splice(Math.max(at, 0), 1))
  }
  return order
}
