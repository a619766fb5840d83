// What a plain peer said, read as leniently as can be (phases 1 and 3 of the seed): marked as text, and never a reply of the schema.
import { TaskState } from '@a2a-js/sdk'
import { DISPATCH_REPLY_BYTES_MAX } from '../../limits.ts'
import { RESULT_STATUSES, resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import { objectsIn } from './json-in-text.ts'

export function resultFromText(text: string, { task, attempt }: TaskDispatch, state: TaskState): TaskResult {
  const common = {
    task_id: task.task_id,
    attempt,
    tokens_spent: null,
    usage: { source: 'unknown' as const },
    source: 'text' as const,
    ...(task.reply_schema === 'prose' ? {} : { schema_valid: false }),
  }
  if (state === TaskState.TASK_STATE_REJECTED)
    return resultOf({
      ...common,
      tokens_spent: 0,
      status: 'blocked',
      blocked_reason: lineOf(text, 'the peer rejected it'),
      blocked: { class: 'capability', code: 'tool_missing', missing: [] },
    })
  if (state === TaskState.TASK_STATE_FAILED || state === TaskState.TASK_STATE_CANCELED)
    return resultOf({
      ...common,
      status: 'error',
      error: { summary: lineOf(text, 'the peer failed and gave no reason'), phase: 'run' },
    })
  const said = saidIn(text, task.task_id)
  return resultOf({ ...common, reply: text.slice(0, DISPATCH_REPLY_BYTES_MAX), ...said, ...statusOf(said, text) })
}

/** Of the last object that may be a result of this task, what is plainly there. */
function saidIn(
  text: string,
  taskId: string,
): Pick<TaskResult, 'next_steps' | 'remaining' | 'artifacts'> & { reply?: unknown } {
  const own = objectsIn(text).findLast(
    ({ type, task_id: id }) => (type === undefined || type === 'TASK_RESULT') && (id === undefined || id === taskId),
  )
  const { next_steps: steps, remaining, artifacts } = own ?? {}
  return {
    next_steps: linesOf(steps),
    remaining: linesOf(remaining),
    artifacts: typeof artifacts === 'object' && artifacts !== null ? artifactsOf({ ...artifacts }) : {},
    ...(own === undefined ? {} : { reply: own }),
  }
}

/** Words of a peer can make a result worse than its state says, and never better. */
function statusOf(
  { reply, remaining }: { readonly reply?: unknown; readonly remaining: readonly string[] },
  text: string,
): Pick<Parameters<typeof resultOf>[0], 'status' | 'blocked_reason' | 'error' | 'remaining'> {
  const said = (reply ?? {}) as { status?: unknown; blocked_reason?: unknown; error?: { summary?: unknown } | null }
  const status = RESULT_STATUSES.find((one) => one === said.status) ?? 'done'
  if (status === 'blocked') return { status, blocked_reason: lineOf(said.blocked_reason, lineOf(text, 'blocked')) }
  if (status === 'error')
    return { status, error: { summary: lineOf(said.error?.summary, lineOf(text, 'error')), phase: 'run' } }
  if (status === 'partial')
    return { status, remaining: remaining.length > 0 ? [...remaining] : [lineOf(text, 'partial')] }
  return { status }
}

const lineOf = (value: unknown, otherwise: string): string =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, 16_000) : otherwise

const linesOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value
        .filter((line) => typeof line === 'string')
        .map((line) => line.slice(0, 16_000))
        .slice(0, 64)
    : []

function artifactsOf({ pr, files_changed: files }: Record<string, unknown>): TaskResult['artifacts'] {
  return {
    ...(typeof pr === 'string' ? { pr: pr.slice(0, 2_048) } : {}),
    ...(Array.isArray(files) ? { files_changed: files.filter((file) => typeof file === 'string') } : {}),
  }
}
