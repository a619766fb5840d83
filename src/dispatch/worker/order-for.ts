// What the process of a task is told: the contract, as the runtime that carries it out needs it.
import type { Assignment } from '../../coordination/dispatched.ts'
import type { TaskDispatch } from '../messages.ts'
import type { Order } from '../runner/order.ts'
import { STRUCTURED_SCHEMA } from '../runner/turn-result.ts'
import { promptFor } from './prompt.ts'

export function orderFor(
  { taskId, attempt }: Assignment,
  contract: TaskDispatch,
  by: Pick<Order, 'runtime' | 'command' | 'from'>,
): Order {
  const { task, deadline, requirements, trace } = contract
  return {
    v: 1,
    taskId,
    attempt,
    runtime: by.runtime,
    command: by.command,
    from: by.from,
    prompt: promptFor(contract),
    replySchema: task.reply_schema,
    jsonSchema: schemaOf(task),
    tokenBudget: task.token_budget,
    requiredMcp: requirements.required_mcp,
    deadlineMs: deadline === null ? null : Date.parse(deadline),
    resumeMs: task.resume_s === undefined ? null : task.resume_s * 1_000,
    trace: trace ?? null,
  }
}

function schemaOf(task: TaskDispatch['task']): Order['jsonSchema'] {
  if (task.reply_schema === 'json') return task.json_schema ?? { type: 'object' }
  return task.reply_schema === 'structured' ? STRUCTURED_SCHEMA : null
}
