// Questions of a worker in the middle of a task: asked of a person, answered once, and passed on to the same task at the worker. The attempt goes on meanwhile.
import { createHash } from 'node:crypto'
import { changeAsOther } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { TaskQuestion, Why } from '../coordination/dispatched.ts'
import { iso } from '../coordination/moment.ts'
import type { Writer } from '../coordination/store.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { DISPATCH_TEXT_CHARS_MAX } from '../limits.ts'
import type { AttemptKey } from './attempts.ts'
import { TOKENS_WANTED, tokensIn } from './more-tokens.ts'
import { type DispatchedTask, isDispatched, readReason } from './parking.ts'
import { redactText } from './redacted.ts'
import { notDispatched } from './tasks.ts'

/** `isAgain`: what was answered did not do, and it asks once more, perhaps with the same words. */
export async function putQuestion(
  room: Coordination,
  key: AttemptKey,
  { question, isAuth, partial }: TaskQuestion,
  isAgain = false,
): Promise<void> {
  const words = redactText(question.slice(0, DISPATCH_TEXT_CHARS_MAX))
  await changeAsOther(room, { kind: 'system' }, ({ rows, now, record }) => {
    const task = underWay(rows, key)
    if (task === undefined) return
    const asked = readReason(task)?.asks
    if (!isAgain && asked?.question === words && asked.isAuth === isAuth) return
    // What there is so far stands at the worker, and comes with the end.
    const stopped = partial === undefined ? {} : { partial: { resume_by: partial.resume_by, needs: partial.needs } }
    say(rows, task, { why: words, asks: { question: words, isAuth, since: iso(now.wallMs), ...stopped } })
    record({
      type: 'TASK_ASKS',
      task: key.taskId,
      payload: {
        attempt: key.number,
        question: words,
        auth: isAuth,
        ...(partial === undefined ? {} : { substate: 'partial', resume_by: partial.resume_by }),
      },
    })
  })
}

/** It goes on: whoever answered it, and wherever. */
export async function dropQuestion(room: Coordination, key: AttemptKey): Promise<void> {
  const isAsked = room.store.read((rows) => {
    const task = rows.task(key.taskId)
    return isDispatched(task) && readReason(task)?.asks !== undefined
  })
  if (!isAsked) return
  await changeAsOther(room, { kind: 'system' }, ({ rows }) => {
    const task = underWay(rows, key)
    if (task !== undefined) say(rows, task, undefined)
  })
}

/** The worker did not take the answer: the question stands, and says so. */
export async function refuseAnswer(room: Coordination, key: AttemptKey, why: string): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, record }) => {
    const task = underWay(rows, key)
    const { asks, answer } = (task === undefined ? undefined : readReason(task)) ?? {}
    if (task === undefined || asks === undefined || answer === undefined) return
    const said = redactText(why.slice(0, DISPATCH_TEXT_CHARS_MAX))
    const given = asks.partial?.needs === 'tokens' ? raised(rows, task, -(tokensIn(answer.text) ?? 0)) : task
    say(rows, given, { why: `${asks.question} (the last answer was not taken: ${said})`, asks })
    record({ type: 'TASK_ANSWER_REFUSED', task: key.taskId, payload: { attempt: key.number, why: said } })
  })
}

export interface AnswerDetails {
  /** Who says it, for the record. */
  readonly by?: string
  /** `asks.since` of the question that was shown: where another is asked by now, the answer is not for that. */
  readonly since?: string
}

/**
 * A person's word to what the worker of a task asks (`readReason(task)?.asks`): what `heimdall task answer` and the
 * page call. Kept until the worker has it, so that it may be given while nobody orchestrates. Refused with
 * TASK_NOT_FOUND, with TASK_FORBIDDEN where nothing is asked, an answer is on its way or another question is asked, and
 * with DISPATCH_INVALID for what is no answer or looks like a secret.
 */
export async function answerTask(
  room: Coordination,
  taskId: string,
  text: string,
  { by, since }: AnswerDetails = {},
): Promise<DispatchedTask> {
  checkAnswer(text)
  const actor = by === undefined ? ({ kind: 'system' } as const) : ({ kind: 'human', name: by } as const)
  return changeAsOther(room, actor, ({ rows, record }) => {
    const task = rows.task(taskId)
    if (!isDispatched(task)) throw notDispatched(taskId, rows)
    const reason = readReason(task)
    if (task.state !== 'in_progress' || reason?.asks === undefined)
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} is ${task.state} and has no open question`, {
        hint: task.state === 'triage' ? `heimdall task retry ${taskId} sends it again` : `heimdall task show ${taskId}`,
      })
    if (reason.cancel !== undefined)
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} is being ended: ${reason.cancel}`)
    if (reason.answer !== undefined)
      throw new HeimdallError(
        'TASK_FORBIDDEN',
        `task ${printable(taskId)} already has an answer that its worker has not received yet`,
      )
    if (since !== undefined && since !== reason.asks.since)
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(taskId)} has another question by now`, {
        hint: `heimdall task show ${taskId}`,
      })
    const given = reason.asks.partial?.needs === 'tokens' ? toppedUp(rows, task, text) : task
    const answered = say(rows, given, { ...reason, answer: { text, id: room.newId() } })
    record({
      type: 'TASK_ANSWERED',
      task: taskId,
      // What was said goes to the worker; for the record it is enough to know which words they were.
      payload: { attempt: task.dispatch.attempts, sha256: createHash('sha256').update(text).digest('hex') },
    })
    return answered
  })
}

/** A person's word raises the budget, by what is set aside for the attempt that goes on with it. */
function toppedUp(rows: Writer, task: DispatchedTask, text: string): DispatchedTask {
  const tokens = tokensIn(text)
  if (tokens === undefined)
    throw new HeimdallError('DISPATCH_INVALID', `${printable(text.slice(0, 80))} is not a number of tokens`, {
      hint: TOKENS_WANTED,
    })
  return raised(rows, task, tokens)
}

/** What a refused answer has given is taken back. */
function raised(rows: Writer, task: DispatchedTask, tokens: number): DispatchedTask {
  const { taskId, dispatch } = task
  if (dispatch.tokenBudget === null) return task
  const out = rows.tokenReservations(taskId).find(({ attempt }) => attempt === dispatch.attempts)
  if (out !== undefined) rows.putTokenReservation({ ...out, reserved: out.reserved + tokens })
  return { ...task, dispatch: { ...dispatch, tokenBudget: dispatch.tokenBudget + tokens } }
}

/** Answers are stored, in a fleet by every member, so they must not contain secrets. */
function checkAnswer(text: string): void {
  if (text.trim() === '' || text.length > DISPATCH_TEXT_CHARS_MAX)
    throw new HeimdallError(
      'DISPATCH_INVALID',
      `the answer has ${text.length} characters, 1 to ${DISPATCH_TEXT_CHARS_MAX} are allowed`,
    )
  if (redactText(text) !== text)
    throw new HeimdallError('DISPATCH_INVALID', 'the answer looks like a secret, and answers are stored', {
      hint: 'set the secret where the worker runs, then answer that it is set',
    })
}

/** The task, as long as this attempt is the one that is out, and nobody wants it ended. */
function underWay(rows: Writer, { taskId, number }: AttemptKey): DispatchedTask | undefined {
  const task = rows.task(taskId)
  if (!isDispatched(task) || task.state !== 'in_progress' || task.dispatch.attempts !== number) return undefined
  return readReason(task)?.cancel === undefined ? task : undefined
}

function say(rows: Writer, task: DispatchedTask, why: Why | undefined): DispatchedTask {
  const said = { ...task, dispatch: { ...task.dispatch, reason: why === undefined ? null : JSON.stringify(why) } }
  rows.putTask(said)
  return said
}
