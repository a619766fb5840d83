// A task at a worker runs as `heimdall run` does: an agent of its own, a run, a session, claims, and for tasks that write a worktree.
import type { Coordination } from '../../coordination/coordination.ts'
import { runsDirOf } from '../../paths.ts'
import { askToEnd } from '../../sessions/ask-end.ts'
import { keepSession } from '../../sessions/keeper.ts'
import { typeInto } from '../../sessions/type-into.ts'
import { readSheet } from '../../spine/kept-run.ts'
import { openRuns } from '../../spine/open-runs.ts'
import type { RunWish } from '../../spine/run-wish.ts'
import { startRun } from '../../spine/start-run.ts'
import { commitOf, gitIn } from '../../spine/worktrees/git.ts'
import { readJsonIfThere } from '../json-file.ts'
import type { TaskDispatch } from '../messages.ts'
import { initPath, readOrder, readOutcome, type RuntimeName, writeOrder } from '../runner/order.ts'
import type { RuntimeInit } from '../runner/runtime.ts'
import { measuredSoFar } from '../runner/so-far.ts'
import { pauseIn } from '../runner/stopped.ts'
import { type BegunTask, BegunTasks } from './begun-tasks.ts'
import type { Learned } from './learned.ts'
import { agentOf, tidyAfter, tidyAll } from './leftovers.ts'
import { earlierTurn, orderFor } from './order-for.ts'
import { asStopped, endOwnTask, type StoppedFor, withChanges, withoutOutcome } from './run-result.ts'
import { questionOf } from './session-question.ts'
import { refusalFor } from './start-refusal.ts'
import type { Execution } from './worker-desk.ts'

export interface ExecutionOptions {
  readonly room: Coordination
  readonly runtime: RuntimeName
  readonly command: readonly string[]
  /** What a relative command is meant from. */
  readonly from: string
  /** Everything of a run but who, what for and where. */
  readonly wish: Omit<RunWish, 'agent' | 'role' | 'task' | 'scopes' | 'worktree' | 'sessionId'>
  readonly worktree: RunWish['worktree']
  /** `task.cjs`. */
  readonly launcher: string
  /** One folder for each assignment. */
  readonly dir: string
  readonly learned: Learned
}

export function createExecution(options: ExecutionOptions): Execution {
  const { room, wish } = options
  const begunTasks = new BegunTasks(options.dir)
  const stopped = new Map<string, StoppedFor>()
  return {
    async start(assignment, contract) {
      const dir = begunTasks.folder(assignment)
      const { task, requirements } = contract
      const earlier = earlierTurn(room, (one) => begunTasks.folder(one), assignment, contract)
      const worktree = requirements.writes ? await worktreeFor(options, task) : undefined
      writeOrder(dir, orderFor(assignment, contract, { ...options, earlier, hasWorktree: worktree !== undefined }))
      try {
        const started = await startRun({
          ...wish,
          agent: agentOf(assignment),
          role: 'worker',
          task: assignment.taskId,
          scopes: task.scopes,
          sessionId: undefined,
          worktree,
          session: { ...wish.session, command: [process.execPath, options.launcher, dir] },
        })
        const begun: BegunTask = {
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
        begunTasks.keep(assignment, begun)
        // Cancelled while it began: whoever wanted that found nothing to end.
        if (stopped.has(assignment.assignmentId)) await askToEnd(begun.session.dir, begun.session.id, AS_WORKER)
        return { runId: started.runId }
      } catch (error) {
        const refusal = refusalFor(error)
        if (refusal === undefined) throw error
        return refusal
      }
    },
    async ended(assignment, contract, onAsks) {
      const begun = begunTasks.of(assignment)
      if (begun !== undefined)
        await keepSession(
          { ...begun.session, endsOrphansAs: `worker ${assignment.workerId}` },
          {
            onState: ({ needs_input: needs }) => onAsks(questionOf(needs, pauseIn(begunTasks.folder(assignment)))),
            onEnd: () => undefined,
          },
          room.clock,
        )
      const dir = begunTasks.folder(assignment)
      const init = readJsonIfThere(initPath(dir)) as RuntimeInit | undefined
      if (init !== undefined) options.learned.take(init, room.clock.wallMs())
      const result = readOutcome(dir) ?? {
        ...withoutOutcome(assignment, stopped.get(assignment.assignmentId)),
        ...measuredSoFar(dir, options.runtime),
      }
      const whole = begun === undefined ? result : await withChanges(result, begun, contract, wish.env)
      await endOwnTask(room, assignment, whole)
      const why = stopped.get(assignment.assignmentId)
      return why === undefined ? whole : asStopped(whole, why)
    },
    async answer(assignment, text) {
      const begun = begunTasks.of(assignment)
      return begun !== undefined && (await typeInto(begun.session, text, room.clock, AS_WORKER))
    },
    async endLeft(assignment) {
      const agent = agentOf(assignment)
      const left = openRuns(runsDirOf(wish.env)).find(
        ({ run }) => run.agent.agent_id === agent && run.project.coordinationDir === room.project.coordinationDir,
      )
      if (left !== undefined) await askToEnd(left.run.session.dir, left.run.session.id, AS_WORKER)
      // Its run may have begun and ended meanwhile: only one whose order was never written has provably not begun.
      return readOrder(begunTasks.folder(assignment)) !== undefined
    },
    async tidy(assignment) {
      const begun = begunTasks.of(assignment)
      if (begun !== undefined && begun.branch !== null)
        await tidyAfter({ room, env: wish.env, note: wish.note }, assignment, begun.sheet)
    },
    tidyAll: (ended) => tidyAll({ room, env: wish.env, note: wish.note }, ended),
    async stop(assignment, why) {
      stopped.set(assignment.assignmentId, why)
      const begun = begunTasks.of(assignment)
      if (begun !== undefined) await askToEnd(begun.session.dir, begun.session.id, AS_WORKER)
    },
  }
}

/** For the records of the sessions that it ends and types into. */
const AS_WORKER = 'heimdall worker'

/** The branch that the task builds on while it is there, or its own commit, wherever this checkout stands. */
async function worktreeFor(
  { worktree, room, wish }: ExecutionOptions,
  { base, commit }: TaskDispatch['task'],
): Promise<RunWish['worktree']> {
  if (worktree === undefined) return undefined
  const branch =
    base === undefined ? undefined : await commitOf(gitIn(room.project.root, wish.env), `refs/heads/${base}`)
  return { ...worktree, base: branch === undefined ? commit : base }
}
