// What the session of a task asks of a person.
import type { TaskQuestion } from '../../coordination/dispatched.ts'
import type { StateEvent } from '../../sessions/keeper.ts'
import { noticeIn } from '../../spine/fleet/wait-kind.ts'

/** What a policy or a changed tool asks is allowed by a person where the worker runs; anything else can be typed. */
export function questionOf(
  { value, evidence }: StateEvent['needs_input'],
  pause?: Pick<TaskQuestion, 'question' | 'partial'>,
): TaskQuestion | undefined {
  if (!value) return undefined
  // In its own words, and with what there is so far.
  if (pause !== undefined) return { ...pause, isAuth: false }
  return { question: evidence ?? 'it waits for input', isAuth: noticeIn(evidence) !== undefined }
}
