// Lines of a result that people read travel far: what looks like a secret is taken out of them, whoever wrote them.
import { createRedact } from '../events/redact.ts'
import type { TaskResult } from './messages.ts'

const redact = createRedact()

export const redactText = (text: string): string => redact(text)

/** The reply is what was asked for, and stays as it is. */
export function redacted(result: TaskResult): TaskResult {
  return {
    ...result,
    blocked_reason: result.blocked_reason === null ? null : redact(result.blocked_reason),
    error: result.error === null ? null : { ...result.error, summary: redact(result.error.summary) },
    next_steps: result.next_steps.map((step) => redact(step)),
    remaining: result.remaining.map((step) => redact(step)),
  }
}
