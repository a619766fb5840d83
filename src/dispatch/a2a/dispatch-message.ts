// What is sent to a worker: the dispatch of an attempt, and a person's answer to what it asks.
import { type Message, Role, type SendMessageRequest } from '@a2a-js/sdk'
import { writeInline } from '../inline.ts'
import { DISPATCH_PROTOCOL, type TaskDispatch } from '../messages.ts'
import { hashText } from '../short-hash.ts'
import { dataPart, EXTENSION, textPart } from './extension.ts'
import { contextOf } from './plain-reply.ts'

/** The brief as text always, so that no peer runs an empty prompt; the contract as data where it is understood, as hints elsewhere. */
export function dispatchMessage(contract: TaskDispatch, earlier: readonly string[], isExtended: boolean): Message {
  const { task, attempt, deadline, brief } = contract
  const envelope = { dispatch_id: task.task_id, attempt, priority: task.priority, deadline, trace: contract.trace }
  return {
    messageId: hashText(`${task.task_id}#${attempt}`),
    // A peer that knows no ids of ours is known by the conversation.
    contextId: isExtended ? task.task_id : contextOf(task.task_id, attempt),
    taskId: '',
    role: Role.ROLE_USER,
    parts: isExtended
      ? [textPart(brief), dataPart({ ...contract, protocol_version: DISPATCH_PROTOCOL, dispatch_id: task.task_id })]
      : [textPart(writeInline(contract))],
    metadata: isExtended ? { [EXTENSION]: envelope } : undefined,
    extensions: isExtended ? [EXTENSION] : [],
    referenceTaskIds: isExtended ? [...earlier] : [],
  }
}

/** To the same task at the worker, in the words of a person. */
export const answerMessage = (
  { task, attempt }: TaskDispatch,
  remoteId: string,
  id: string,
  text: string,
  isExtended: boolean,
): Message => ({
  messageId: hashText(`${task.task_id}#${attempt}#${id}`),
  contextId: isExtended ? task.task_id : contextOf(task.task_id, attempt),
  taskId: remoteId,
  role: Role.ROLE_USER,
  parts: [textPart(text)],
  metadata: isExtended ? { [EXTENSION]: { dispatch_id: task.task_id, attempt } } : undefined,
  extensions: isExtended ? [EXTENSION] : [],
  referenceTaskIds: [],
})

export const configurationFor = ({ task }: TaskDispatch): NonNullable<SendMessageRequest['configuration']> => ({
  acceptedOutputModes: task.reply_schema === 'prose' ? ['text/plain'] : ['application/json', 'text/plain'],
  returnImmediately: true,
  historyLength: undefined,
  taskPushNotificationConfig: undefined,
})
