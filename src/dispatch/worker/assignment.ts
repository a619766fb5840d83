// An assignment as it is taken on, and what every result of one says of itself.
import type { Assignment } from '../../coordination/dispatched.ts'
import type { Reader } from '../../coordination/store.ts'
import { parseDispatch, resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import type { Refusal } from './admission.ts'

export interface OfferedTask {
  readonly contract: TaskDispatch
  readonly from: string
  readonly contextId: string
  /** Asked in the change itself. */
  readonly isOpen?: (rows: Reader) => boolean
}

export function newAssignment(
  asked: Omit<OfferedTask, 'isOpen'>,
  by: { readonly workerId: string; readonly instanceId: string; readonly newId: () => string },
  nowMs: number,
): Assignment {
  const { contract, from, contextId } = asked
  return {
    assignmentId: by.newId(),
    taskId: contract.dispatch_id ?? contract.task.task_id,
    attempt: contract.attempt,
    from,
    workerId: by.workerId,
    instanceId: by.instanceId,
    contextId,
    state: 'accepted',
    contract: JSON.stringify(contract),
    runId: null,
    acceptedMs: nowMs,
    endedMs: null,
    result: null,
    asks: null,
  }
}

export function about({
  taskId,
  attempt,
  runId,
  contract,
}: Assignment): Pick<TaskResult, 'task_id' | 'dispatch_id' | 'attempt' | 'run_id' | 'trace'> {
  const { trace } = parseDispatch(JSON.parse(contract))
  return { task_id: taskId, dispatch_id: taskId, attempt, ...(runId === null ? {} : { run_id: runId }), trace }
}

export const blockedResult = (assignment: Assignment, { blocked, reason }: Refusal): TaskResult =>
  resultOf({
    ...about(assignment),
    status: 'blocked',
    tokens_spent: 0,
    usage: { source: 'runtime' },
    blocked_reason: reason,
    blocked,
    source: 'worker',
  })

/** It ended before anything was done. */
export const notBegun = (
  assignment: Assignment,
  error: { readonly summary: string; readonly code: string },
): Parameters<typeof resultOf>[0] => ({
  ...about(assignment),
  status: 'error',
  tokens_spent: 0,
  usage: { source: 'runtime' },
  error: { ...error, phase: 'start', side_effects: 'none' },
})
