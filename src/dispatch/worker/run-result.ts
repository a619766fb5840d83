// The result of a task that ran here: what its process left, with what git says of it, and what became of one that left nothing.
import { changeAsOther } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment } from '../../coordination/dispatched.ts'
import { GIT_AT_END_MS } from '../../limits.ts'
import { type Env, findProject } from '../../paths.ts'
import { changesSince } from '../../spine/worktree-state.ts'
import { DENIED, resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import type { BegunTask } from './begun-tasks.ts'

/** Why it was ended from here, where it was. */
export type StoppedFor = 'canceled' | 'worker_stopped'

/** What its result says of that. */
export const STOPPED: Readonly<Record<StoppedFor, { readonly summary: string; readonly code: StoppedFor }>> = {
  canceled: { summary: 'cancelled', code: 'canceled' },
  worker_stopped: { summary: 'its worker was stopped', code: 'worker_stopped' },
}

export const withoutOutcome = ({ taskId, attempt }: Assignment, stopped: StoppedFor | undefined): TaskResult =>
  resultOf({
    task_id: taskId,
    attempt,
    status: 'error',
    error: {
      ...(stopped === undefined
        ? { summary: 'its process ended without a result', code: 'no_result' }
        : STOPPED[stopped]),
      phase: 'run',
    },
  })

/** Whatever it left when it was ended from here; what was done by then is done. */
export const asStopped = (result: TaskResult, why: StoppedFor): TaskResult =>
  result.status === 'done'
    ? result
    : {
        ...result,
        status: 'error',
        error: { ...STOPPED[why], phase: 'run', side_effects: result.error?.side_effects ?? 'possible' },
      }

/**
 * Which files changed is git's word and not the agent's. A clean tree proves no absence of side effects: what a tool did
 * outside of the repository is not seen here, so the result's own word stands.
 */
export async function withChanges(
  result: TaskResult,
  begun: BegunTask,
  { requirements }: TaskDispatch,
  env: Env,
): Promise<TaskResult> {
  if (begun.before === null) return result
  const changes = await changesSince(findProject(begun.root, env), env, begun.before, GIT_AT_END_MS)
  if (changes === undefined) return result
  const isUntouched = changes.total === 0 && changes.commits === 0
  const artifacts = {
    ...result.artifacts,
    files_changed: [...changes.files],
    // Where nothing was done, the worktree goes with its branch.
    ...(begun.branch === null || isUntouched ? {} : { branch: begun.branch, worktree: begun.root }),
  }
  if (isUntouched) return { ...(requirements.writes ? orWithoutWork(result) : result), artifacts }
  return {
    ...(result.error?.code === DENIED
      ? { ...result, status: 'partial', remaining: [result.error.summary], error: null }
      : { ...result, error: result.error === null ? null : { ...result.error, side_effects: 'known' } }),
    artifacts,
  }
}

/** A task that writes, and ended well without a change, a reply or a result file: nothing shows that it was done. */
function orWithoutWork(result: TaskResult): TaskResult {
  const { status, reply, source, artifacts } = result
  const hasReply = reply !== undefined && reply !== null && (typeof reply !== 'string' || reply.trim() !== '')
  if (status !== 'done' || hasReply || source === 'file' || typeof artifacts.pr === 'string') return result
  return {
    ...result,
    status: 'error',
    error: {
      summary: 'it ended without a change to the repository and without a reply',
      code: 'no_work',
      phase: 'run',
      side_effects: 'possible',
    },
    next_steps: [
      ...result.next_steps,
      'send a task that changes no files with --read-only; a command says what it did in HEIMDALL_RESULT_FILE',
    ],
  }
}

/** Where the orchestrator keeps its books elsewhere, the task here is the worker's own, and ends with its result. */
export async function endOwnTask(room: Coordination, { taskId }: Assignment, result: TaskResult): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, now }) => {
    const task = rows.task(taskId)
    if (task?.state !== 'in_progress' || task.dispatch !== null) return
    const state = result.status === 'done' ? 'done' : 'failed'
    rows.putTask({
      ...task,
      state,
      endedMs: now.wallMs,
      summary: result.error?.summary ?? result.blocked_reason ?? result.status,
    })
  })
}
