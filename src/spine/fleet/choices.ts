// What a person may choose to answer a wait with, in one order: the number that stands before a choice is the same key on the page and in a terminal. Pure.
import type { Wait } from './fleet.ts'

export interface Choice {
  readonly id: string
  readonly label: string
  /** `type`: goes into the session as keys. The others are recorded where the question lies. */
  readonly act:
    | 'type'
    | 'allow'
    | 'deny'
    | 'ack'
    | 'approve_pin'
    | 'wait'
    | 'ask_holder'
    | 'answer_task'
    | 'retry_task'
    | 'cancel_task'
  /** At most one: what is answered mostly. */
  readonly isFirst: boolean
  readonly needsText: boolean
  /** It is asked again before it is done. */
  readonly asksFirst: boolean
}

export interface AnsweredFrom {
  /** Whether there is a session to type into. */
  readonly hasSession: boolean
  /** Whether what has changed of a tool can be shown, and so approved. */
  readonly showsPin: boolean
}

/** Choices of a host that are passed on by their number. */
const HOST_CHOICES = [1, 2, 3]

export function choicesOf({ kind, evidence }: Wait, { hasSession, showsPin }: AnsweredFrom): Choice[] {
  const type = hasSession ? [choice('type', 'Type into the session', 'type', { needsText: true })] : []
  if (evidence.source === 'policy' && kind === 'permission')
    return first(
      choice('allow_once', 'Allow once', 'allow'),
      choice('allow_run', 'Allow for this run', 'allow'),
      choice('deny', 'Deny for this run', 'deny'),
    )
  // Its worker asks, wherever that runs: nothing that is typed here would reach it.
  if (evidence.source === 'task') return first(...choicesOfTask(kind))
  if (evidence.source === 'note') return first(choice('ack', 'Accept in its place', 'ack'), ...type)
  if (evidence.source === 'pins' && showsPin)
    return first(choice('approve_pin', 'Approve the new definition', 'approve_pin', { asksFirst: true }))
  if (kind === 'collision')
    return first(
      choice('wait', 'Let it wait', 'wait'),
      choice('ask_holder', 'Ask the holder to pass it on', 'ask_holder'),
    )
  // The host's own choices, as they stand on its screen: a key here is the same key there.
  if (hasSession && (kind === 'permission' || kind === 'question'))
    return first(...HOST_CHOICES.map((key) => choice(`key_${key}`, `Its choice ${key}`, 'type')), ...type)
  return first(...type)
}

/** What has to be allowed is allowed where the worker runs; from here such a task can only be given up. */
function choicesOfTask(kind: Wait['kind']): Choice[] {
  const giveUp = choice('cancel_task', 'Give the task up', 'cancel_task', { asksFirst: true })
  if (kind === 'question') return [choice('answer_task', 'Answer it', 'answer_task', { needsText: true }), giveUp]
  return kind === 'permission' ? [giveUp] : [choice('retry_task', 'Send it again', 'retry_task'), giveUp]
}

/** The key of the host that a choice stands for. */
export const hostKeyOf = (choiceId: string): string | undefined => /^key_(\d)$/.exec(choiceId)?.[1]

function choice(
  id: string,
  label: string,
  act: Choice['act'],
  more: Partial<Pick<Choice, 'needsText' | 'asksFirst'>> = {},
): Choice {
  return { id, label, act, isFirst: false, needsText: false, asksFirst: false, ...more }
}

const first = (...choices: readonly Choice[]): Choice[] =>
  choices.map((one, index) => (index === 0 ? { ...one, isFirst: true } : one))
