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
  /** The numbered list on its screen; none where there is none, or nobody has looked. */
  readonly shown: readonly ShownChoice[]
}

/** One of a numbered list on a screen. */
export interface ShownChoice {
  /** The number that takes it, there as here. */
  readonly key: string
  readonly label: string
  /** A line is read below the list: the number counts when Enter follows. */
  readonly isLine: boolean
}

/** Choices of a host that are passed on by their number. */
const HOST_CHOICES = [1, 2, 3]

/** A line that is answered with one of two words, as package tools, ssh and scripts ask. */
const YES_OR_NO = /\b(?<yes>y(?:es)?)\/(?<no>no?)\b/i

export function choicesOf({ kind, evidence, asks }: Wait, from: AnsweredFrom): Choice[] {
  const { hasSession, showsPin, shown } = from
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
    return first(
      choice('approve_pin', 'Approve the new definition', 'approve_pin', { asksFirst: true }),
      // It is refused until somebody approves it: leaving it so asks for nothing but that the question rests.
      choice('wait', 'Leave it refused', 'wait'),
    )
  if (kind === 'collision')
    return first(
      choice('wait', 'Let it wait', 'wait'),
      choice('ask_holder', 'Ask the holder to pass it on', 'ask_holder'),
    )
  if (!hasSession) return []
  const { yes, no } = (evidence.source === 'screen' ? YES_OR_NO.exec(asks)?.groups : undefined) ?? {}
  // Neither is the one to offer: what it leads to is not known here.
  if (yes !== undefined && no !== undefined)
    return [choice(`say_${yes.toLowerCase()}`, 'Yes', 'type'), choice(`say_${no.toLowerCase()}`, 'No', 'type'), ...type]
  if (kind === 'permission' || kind === 'question') {
    // The choices as they stand on its screen: a number here is the same number there.
    if (shown.length > 0)
      return first(
        ...shown.map(({ key, label, isLine }) => choice(isLine ? `say_${key}` : `key_${key}`, label, 'type')),
        ...type,
      )
    // A hook, or the program itself, asks as hosts do, which number their choices. A line on a screen may be anybody's.
    if (evidence.source !== 'screen')
      return first(...HOST_CHOICES.map((key) => choice(`key_${key}`, `Its choice ${key}`, 'type')), ...type)
  }
  return first(...type)
}

/** What has to be allowed is allowed where the worker runs; from here such a task can only be given up. */
function choicesOfTask(kind: Wait['kind']): Choice[] {
  const giveUp = choice('cancel_task', 'Give the task up', 'cancel_task', { asksFirst: true })
  if (kind === 'question') return [choice('answer_task', 'Answer it', 'answer_task', { needsText: true }), giveUp]
  return kind === 'permission' ? [giveUp] : [choice('retry_task', 'Send it again', 'retry_task'), giveUp]
}

interface Typed {
  readonly text: string
  /** Enter follows. */
  readonly isLine: boolean
}

/** What a choice types into the session by itself; nothing of one that needs words, or types nothing. */
export function typedBy(choiceId: string): Typed | undefined {
  const [, how, text] = /^(key|say)_([a-z0-9]+)$/.exec(choiceId) ?? []
  return text === undefined ? undefined : { text, isLine: how === 'say' }
}

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
