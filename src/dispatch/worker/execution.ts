// A task at a worker runs as `heimdall run` does: an agent of its own, a run, a session, claims, and for tasks that write a worktree.
import { join } from 'node:path'
import { changeAsOther } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment } from '../../coordination/dispatched.ts'
import { HeimdallError } from '../../errors.ts'
import { GIT_AT_END_MS } from '../../limits.ts'
import { findProject, runsDirOf } from '../../paths.ts'
import { readJsonIfThere, writePrivate } from '../json-file.ts'
import { askToEnd } from '../../sessions/ask-end.ts'
import { keepSession } from '../../sessions/keeper.ts'
import { typeInto } from '../../sessions/type-into.ts'
import { readSheet } from '../../spine/kept-run.ts'
import { openRuns } from '../../spine/open-runs.ts'
import type { RunWish } from '../../spine/run-wish.ts'
import { startRun } from '../../spine/start-run.ts'
import { changesSince, type WorktreeState } from '../../spine/worktree-state.ts'
import { blockedBy } from '../blocked.ts'
import { resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import { agentNameFor } from '../needs.ts'
import { initPath, readOutcome, type RuntimeName, writeOrder } from '../runner/order.ts'
import type { RuntimeInit } from '../runner/runtime.ts'
import { STRUCTURED_SCHEMA } from '../runner/turn-result.ts'
import { measuredSoFar } from '../runner/so-far.ts'
import { pauseIn } from '../runner/stopped.ts'
import type { Refusal } from './admission.ts'
import type { Learned } from './learned.ts'
import { tidyAfter, tidyAll } from './leftovers.ts'
import { promptFor } from './prompt.ts'
import { questionOf } from './session-question.ts'
import type { Execution } from './worker-desk.ts'

export interface ExecutionOptions {
  readonly room: Coordination
  readonly runtime: RuntimeName
  readonly command: readonly string[]
  /** What a relative command is meant from. */
  readonly from: string
  /** Everything of a run but who, what for and where. */
  readonly wish: Omit<RunWish, 'agent' | 'role' | 'task' | 'scopes' | 'worktree' | 'sessionId' | 'early'>
  readonly worktree: RunWish['worktree']
  /** `task.cjs`. */
  readonly launcher: string
  /** One folder for each assignment. */
  readonly dir: string
  readonly learned: Learned
}

/** What is left of a start, so that whoever comes after a `kill -9` finds the task again. */
interface Begun {
  readonly session: { readonly dir: string; readonly id: string; readonly supervisorPid: number }
  readonly root: string
  /** There until the run is closed. */
  readonly sheet?: string
  readonly branch: string | null
  readonly before: WorktreeState | null
}

export function createExecution(options: ExecutionOptions): Execution {
  const { room, wish } = options
  const folder = ({ assignmentId }: Assignment): string => join(options.dir, assignmentId)
  const begunPath = (assignment: Assignment): string => join(folder(assignment), 'begun.json')
  const begunOf = (assignment: Assignment): Begun | undefined =>
    readJsonIfThere(begunPath(assignment)) as Begun | undefined
  const stopped = new Map<string, 'canceled' | 'deadline'>()
  return {
    async start(assignment, contract) {
      const dir = folder(assignment)
      const { task, deadline, requirements } = contract
      writeOrder(dir, {
        v: 1,
        taskId: assignment.taskId,
        attempt: assignment.attempt,
        runtime: options.runtime,
        command: options.command,
        from: options.from,
        prompt: promptFor(contract),
        replySchema: task.reply_schema,
        jsonSchema: schemaOf(contract),
        tokenBudget: task.token_budget,
        requiredMcp: requirements.required_mcp,
        deadlineMs: deadline === null ? null : Date.parse(deadline),
        resumeMs: task.resume_s === undefined ? null : task.resume_s * 1_000,
        trace: contract.trace ?? null,
      })
      try {
        const started = await startRun({
          ...wish,
          agent: agentNameFor(assignment.workerId, assignment.taskId, assignment.attempt),
          role: 'worker',
          task: assignment.taskId,
          scopes: task.scopes,
          sessionId: undefined,
          early: undefined,
          worktree: requirements.writes ? worktreeFor(options, task.commit) : undefined,
          session: { ...wish.session, command: [process.execPath, options.launcher, dir] },
        })
        const begun: Begun = {
          session: {
            dir: wish.session.socketDir,
            id: started.session.id,
            supervisorPid: started.session.supervisor_pid,
          },
          root: started.project,
          sheet: started.sheet,
          branch: started.worktree?.branch ?? null,
          before: readSheet(started.sheet)?.worktree ?? null,
        }
        writePrivate(begunPath(assignment), JSON.stringify(begun))
        // Cancelled while it began: whoever wanted that found nothing to end.
        if (stopped.has(assignment.assignmentId)) await askToEnd(begun.session.dir, begun.session.id)
        return { runId: started.runId }
      } catch (error) {
        const refusal = refusalFor(error)
        if (refusal === undefined) throw error
        return refusal
      }
    },
    async ended(assignment, _contract, onAsks) {
      const begun = begunOf(assignment)
      if (begun !== undefined)
        await keepSession(
          { ...begun.session, endsOrphansAs: `worker ${assignment.workerId}` },
          {
            onState: ({ needs_input: needs }) => onAsks(questionOf(needs, pauseIn(folder(assignment)))),
            onEnd: () => undefined,
          },
          room.clock,
        )
      const dir = folder(assignment)
      const init = readJsonIfThere(initPath(dir)) as RuntimeInit | undefined
      if (init !== undefined) options.learned.take(init, room.clock.wallMs())
      const result = readOutcome(dir) ?? {
        ...withoutOutcome(assignment, stopped.get(assignment.assignmentId)),
        ...measuredSoFar(dir, options.runtime),
      }
      const whole = begun === undefined ? result : await withChanges(result, begun, wish.env)
      await endOwnTask(room, assignment, whole)
      return stopped.get(assignment.assignmentId) === 'canceled' && whole.status !== 'done' ? asCanceled(whole) : whole
    },
    async answer(assignment, text) {
      const begun = begunOf(assignment)
      return begun !== undefined && (await typeInto(begun.session, text, room.clock))
    },
    async endLeft({ workerId, taskId, attempt }) {
      const agent = agentNameFor(workerId, taskId, attempt)
      const left = openRuns(runsDirOf(wish.env)).find(
        ({ run }) => run.agent.agent_id === agent && run.project.coordinationDir === room.project.coordinationDir,
      )
      if (left === undefined) return false
      const { dir, id } = left.run.session
      await askToEnd(dir, id)
      return true
    },
    async tidy(assignment) {
      const begun = begunOf(assignment)
      if (begun !== undefined && begun.branch !== null)
        await tidyAfter({ room, env: wish.env, note: wish.note }, assignment, begun.sheet)
    },
    tidyAll: (ended) => tidyAll({ room, env: wish.env, note: wish.note }, ended),
    async stop(assignment, why) {
      stopped.set(assignment.assignmentId, why)
      const begun = begunOf(assignment)
      if (begun !== undefined) await askToEnd(begun.session.dir, begun.session.id)
    },
  }
}

function schemaOf({ task }: TaskDispatch): Readonly<Record<string, unknown>> | null {
  if (task.reply_schema === 'json') return task.json_schema ?? { type: 'object' }
  return task.reply_schema === 'structured' ? STRUCTURED_SCHEMA : null
}

/** The task's own commit, wherever this checkout stands. */
const worktreeFor = ({ worktree }: ExecutionOptions, commit: string | undefined): RunWish['worktree'] =>
  worktree === undefined || commit === undefined ? worktree : { ...worktree, base: commit }

/** What keeps a run from starting and is no fault of the task. */
function refusalFor(error: unknown): Refusal | undefined {
  if (!(error instanceof HeimdallError)) return undefined
  if (error.code === 'RESERVATION_CONFLICT') return { blocked: blockedBy('lease_held'), reason: error.message }
  if (error.code === 'STORE_BUSY' || error.code === 'WORKTREE_HALF_MADE')
    return { blocked: blockedBy('repo_locked'), reason: error.message }
  // Another machine may have fetched it.
  if (error.code === 'WORKTREE_NO_BASE') return { blocked: blockedBy('commit_missing'), reason: error.message }
  return undefined
}

function withoutOutcome({ taskId, attempt }: Assignment, stopped: 'canceled' | 'deadline' | undefined): TaskResult {
  const summary =
    stopped === undefined
      ? 'its process ended without a result'
      : stopped === 'canceled'
        ? 'cancelled'
        : 'ended at its deadline'
  return resultOf({
    task_id: taskId,
    attempt,
    status: 'error',
    error: { summary, code: stopped ?? 'no_result', phase: 'run' },
  })
}

const asCanceled = (result: TaskResult): TaskResult => ({
  ...result,
  status: 'error',
  error: {
    summary: 'cancelled',
    code: 'canceled',
    phase: 'run',
    side_effects: result.error?.side_effects ?? 'possible',
  },
})

/** Which files changed is git's word and not the agent's; a failure that changed nothing may be tried again. */
async function withChanges(result: TaskResult, begun: Begun, env: RunWish['env']): Promise<TaskResult> {
  if (begun.before === null) return result
  const changes = await changesSince(findProject(begun.root, env), env, begun.before, GIT_AT_END_MS)
  if (changes === undefined) return result
  const isUntouched = changes.total === 0 && changes.commits === 0
  return {
    ...result,
    artifacts: {
      ...result.artifacts,
      files_changed: [...changes.files],
      // Where nothing was done, the worktree goes with its branch.
      ...(begun.branch === null || isUntouched ? {} : { branch: begun.branch, worktree: begun.root }),
    },
    error: result.error === null ? null : { ...result.error, side_effects: isUntouched ? 'none' : 'known' },
  }
}

/** Where the orchestrator keeps its books elsewhere, the task here is the worker's own, and ends with its result. */
async function endOwnTask(room: Coordination, { taskId }: Assignment, result: TaskResult): Promise<void> {
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
