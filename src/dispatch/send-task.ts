// Sending a task: checked, given its rank, and put into the queue. Whoever orchestrates takes it from there.
import { changeAsOther } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Task } from '../coordination/store.ts'
import { HeimdallError } from '../errors.ts'
import { isOpenTask } from '../coordination/tasks.ts'
import { isId, printable } from '../ids.ts'
import { DISPATCH_BYTES_PER_TOKEN } from '../limits.ts'
import { layBeside } from './by-log/large-briefs.ts'
import { briefBytes, type TaskDispatch } from './messages.ts'
import { holdersNear } from './nearness.ts'
import { needsOf, needsText } from './needs.ts'
import { isDispatched, readReason } from './parking.ts'
import { dueMs } from './queue.ts'
import { redactText } from './redacted.ts'
import { notDispatched } from './tasks.ts'
import { traceOf } from './trace.ts'

export interface Sending {
  readonly contract: TaskDispatch
  readonly title: string
  /** Only this worker may have it. */
  readonly only?: string | undefined
}

/** The same task with the same contract again is the one that is there already. */
export async function sendTask(room: Coordination, { contract: asked, only, ...sending }: Sending): Promise<Task> {
  const { task, deadline } = asked
  // It stands in lists and in the ledger, which is committed; the worker reads the brief.
  const title = redactText(sending.title)
  if (!isId(task.task_id))
    throw new HeimdallError('DISPATCH_INVALID', `${printable(task.task_id)} is not a valid task id`, {
      hint: 'letters, digits, dots, hyphens and underscores, at most 64',
    })
  if (task.token_budget === 0)
    throw new HeimdallError('DISPATCH_INVALID', 'the budget is 0 tokens, at least 1 is needed', {
      hint: 'leave the budget out for no limit',
    })
  holdersNear(room, task.scopes)
  const contract = await layBeside(room, asked)
  const deadlineMs = deadline === null ? null : Date.parse(deadline)
  const trace = contract.trace ?? traceOf(room.project.coordinationDir, task.task_id)
  const sent = { ...contract, task: { ...contract.task, title }, dispatch_id: task.task_id, attempt: 1, trace }
  const text = JSON.stringify(sent)
  return changeAsOther(room, { kind: 'system' }, ({ rows, now, record }) => {
    const known = rows.task(task.task_id)
    if (known !== undefined) {
      if (rows.contract(task.task_id) === text && known.dispatch !== null) return known
      throw new HeimdallError('DISPATCH_DUPLICATE', `task ${task.task_id} already exists and is ${known.state}`, {
        hint: 'use another --id; a task keeps its id after it has ended',
      })
    }
    if (deadlineMs !== null && deadlineMs <= now.wallMs)
      throw new HeimdallError('DISPATCH_INVALID', `the deadline ${deadline} has passed`, {
        hint: 'give a time in the future, with its zone',
      })
    const needs = needsOf(contract, {
      briefTokens: Math.ceil(briefBytes(contract) / DISPATCH_BYTES_PER_TOKEN),
      not: [],
      only: only ?? null,
    })
    const earlier = task.after === undefined ? undefined : rows.task(task.after)
    if (task.after !== undefined && !isDispatched(earlier)) throw notDispatched(task.after, rows)
    if (isDispatched(earlier) && readReason(earlier)?.review?.state === 'discarded')
      throw new HeimdallError('TASK_FORBIDDEN', `task ${earlier.taskId} was discarded and has no branch to build on`, {
        hint: 'without --after the task begins at the commit that is checked out here',
      })
    // What builds on another task begins when that has ended.
    const waits = isDispatched(earlier) && isOpenTask(earlier) ? earlier.taskId : undefined
    const queued: Task = {
      taskId: task.task_id,
      owner: null,
      state: waits === undefined ? 'queued' : 'parked',
      title,
      startedMs: now.wallMs,
      endedMs: null,
      summary: null,
      dispatch: {
        needs: needsText(needs),
        dueMs: dueMs({ priority: task.priority, deadlineMs, sentMs: now.wallMs }),
        wakeMs: null,
        deadlineMs,
        tokenBudget: task.token_budget,
        attempts: 0,
        failures: 0,
        reason: waits === undefined ? null : JSON.stringify({ why: `waits for ${waits}`, depends_on: waits }),
      },
    }
    rows.putTask(queued)
    rows.putContract(task.task_id, text)
    record({ type: 'TASK_QUEUED', task: task.task_id, payload: { title, priority: task.priority, trace } })
    return queued
  })
}
