// Peers that answer a task with a message and not with a task: most have done it by then; those in the manner of Hermes have only queued it, and answer later on the same context.
import { TaskState } from '@a2a-js/sdk'
import { blockedBy } from '../blocked.ts'
import { resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import type { PeerReply } from '../peer.ts'
import { resultFromText } from './plain-result.ts'

/** A plain peer knows no ids of ours: an attempt is known by its conversation. */
export const contextOf = (taskId: string, attempt: number): string => `${taskId}-${attempt}`

export function attemptIn(contextId: string): { readonly taskId: string; readonly number: number } | undefined {
  const [, taskId, number] = /^(.+)-(\d{1,4})$/.exec(contextId) ?? []
  return taskId === undefined || number === undefined ? undefined : { taskId, number: Number(number) }
}

const LATER = 'context:'

export const isLater = (remoteId: string): boolean => remoteId.startsWith(LATER)

export function replyInWords(text: string, contract: TaskDispatch): PeerReply {
  const remoteId = `${LATER}${contextOf(contract.task.task_id, contract.attempt)}`
  if (text.trim().startsWith('[queued]')) return { kind: 'later', remoteId }
  return { kind: 'ended', remoteId, result: resultInWords(text, contract), isProse: true }
}

/** Its own vocabulary of ends, in brackets; anything else is what it has to say. */
export function resultInWords(text: string, contract: TaskDispatch): TaskResult {
  const words = text.trim()
  const { task, attempt } = contract
  if (words.startsWith('[busy]'))
    return resultOf({
      task_id: task.task_id,
      attempt,
      status: 'blocked',
      tokens_spent: 0,
      usage: { source: 'runtime' },
      blocked_reason: words,
      blocked: blockedBy('max_concurrent'),
      source: 'text',
    })
  const hasFailed = /^\[(?:error|no reply produced)/.test(words)
  return resultFromText(words, contract, hasFailed ? TaskState.TASK_STATE_FAILED : TaskState.TASK_STATE_COMPLETED)
}
