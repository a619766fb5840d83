// The brief as the agent reads it: what it is to do, and what it has to know of the contract to choose its depth.
import type { TaskDispatch } from '../messages.ts'
import type { RuntimeName } from '../runner/order.ts'

const DEPTH = {
  urgent: 'Answer fast: do what is asked, verify only what could do harm, and summarise.',
  high: 'Do it soon, and verify what you change.',
  normal: 'Verify what you change.',
  low: 'Take the time to verify everything.',
} as const

const REPLY = {
  prose: 'Reply in prose.',
  structured:
    'Reply with the structured result that was asked for: status (done, partial, error or blocked), summary, next_steps, remaining, blocked_reason, pr.',
  json: 'Reply with JSON that conforms to the schema that was given.',
} as const

/** The contract comes first and is marked as ours; what stands in the brief is material, whatever it says of results. */
export function promptFor(
  { task, deadline, brief }: TaskDispatch,
  { runtime, hasWorktree }: { readonly runtime: RuntimeName; readonly hasWorktree: boolean },
): string {
  return [
    `TASK ${task.task_id}`,
    `priority: ${task.priority}. ${DEPTH[task.priority]}`,
    ...(task.token_budget === null
      ? []
      : [
          `token budget: ${task.token_budget} of output and uncached input${runtime === 'command' ? '' : '; past it you are stopped, so plan for less'}.`,
        ]),
    ...(deadline === null ? [] : [`deadline: ${deadline}`]),
    ...(task.scopes.length === 0 ? [] : [`you hold: ${task.scopes.join(', ')}; write nowhere else.`]),
    ...(hasWorktree
      ? [
          'commit: Commit your work with a message that says what changes; if that is not permitted, leave it uncommitted. Do not push.',
        ]
      : []),
    `reply: ${REPLY[task.reply_schema]}`,
    '',
    brief,
  ].join('\n')
}
