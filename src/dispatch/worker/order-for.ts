// What the process of a task is told: the contract, as the runtime that carries it out needs it.
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment } from '../../coordination/dispatched.ts'
import { parseDispatch, type TaskDispatch } from '../messages.ts'
import type { Order } from '../runner/order.ts'
import { conversationIn } from '../runner/so-far.ts'
import { STRUCTURED_SCHEMA } from '../runner/turn-result.ts'
import { promptFor } from './prompt.ts'

/** What an attempt continues: the folder and the contract of the attempt before it. */
export interface EarlierTurn {
  readonly dir: string
  readonly contract: TaskDispatch
}

export function earlierTurn(
  { store }: Coordination,
  folderOf: (assignment: Assignment) => string,
  { taskId, workerId, from, attempt }: Assignment,
  { task: { continues } }: TaskDispatch,
): EarlierTurn | undefined {
  if (continues === undefined) return undefined
  return store
    .read((rows) => rows.assignments({ taskId, workerId }))
    .filter((one) => one.from === from && one.attempt < attempt && one.runId !== null)
    .map((one) => ({ dir: folderOf(one), contract: parseDispatch(JSON.parse(one.contract)) }))
    .findLast(({ contract }) => contract.attempt === continues || contract.task.continues === continues)
}

export function orderFor(
  { taskId, attempt }: Assignment,
  contract: TaskDispatch,
  by: Pick<Order, 'runtime' | 'command' | 'from'> & {
    readonly earlier: EarlierTurn | undefined
    readonly hasWorktree: boolean
  },
): Order {
  const { task, deadline, requirements, trace } = contract
  const { earlier, runtime } = by
  const conversation = earlier === undefined ? null : conversationIn(earlier.dir, runtime)
  // A runtime that cannot take the conversation up again is given what it was told before.
  const brief =
    earlier === undefined || conversation !== null
      ? contract.brief
      : `${earlier.contract.brief}\n\nWhat was done so far is in the working tree. What is wanted now:\n\n${contract.brief}`
  return {
    v: 1,
    taskId,
    attempt,
    runtime,
    command: by.command,
    from: by.from,
    prompt: promptFor({ ...contract, brief }, by),
    replySchema: task.reply_schema,
    jsonSchema: schemaOf(task),
    tokenBudget: task.token_budget,
    requiredMcp: requirements.required_mcp,
    deadlineMs: deadline === null ? null : Date.parse(deadline),
    resumeMs: task.resume_s === undefined ? null : task.resume_s * 1_000,
    hasWorktree: by.hasWorktree,
    conversation,
    trace: trace ?? null,
  }
}

function schemaOf(task: TaskDispatch['task']): Order['jsonSchema'] {
  if (task.reply_schema === 'json') return task.json_schema ?? { type: 'object' }
  return task.reply_schema === 'structured' ? STRUCTURED_SCHEMA : null
}
