// Why a task could not be started, by code; what class a code is of; and what becomes of the task then.
import type { Blocked, BlockClass } from './messages.ts'

export const BLOCK_CODES = {
  mcp_unavailable: 'capability',
  tool_missing: 'capability',
  model_tier: 'capability',
  context_too_small: 'capability',
  commit_missing: 'capability',
  wrong_repository: 'capability',
  /** It will not have the message at all; another may. */
  message_refused: 'capability',
  max_concurrent: 'overload',
  draining: 'overload',
  rate_limited: 'overload',
  mcp_timeout: 'transient',
  repo_locked: 'transient',
  repo_dirty: 'workspace',
  wrong_branch: 'workspace',
  lease_held: 'workspace',
  dependency: 'dependency',
  needs_input: 'needs_input',
  /** What it is to do lay beside the log, and is not there any more. */
  brief_missing: 'needs_input',
  auth_required: 'auth',
  budget_too_small: 'policy',
  deadline_impossible: 'policy',
  policy: 'policy',
  /** A later attempt at the same task is known: what comes after it is of nobody any more. */
  superseded: 'policy',
} as const satisfies Record<string, BlockClass>

export type BlockCode = keyof typeof BLOCK_CODES

export function blockedBy(
  code: BlockCode,
  missing: readonly string[] = [],
  retryAfterS: number | null = null,
): Blocked {
  return { class: BLOCK_CODES[code], code, missing: [...missing], retry_after_s: retryAfterS, depends_on: null }
}
