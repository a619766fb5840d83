// What a worker does for each method of A2A: tasks are its assignments, in the store, and belong to the peer that sent them.
import { randomUUID } from 'node:crypto'
import { type AgentCard, type Message, type SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk'
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { A2ARequestHandler as Methods, ServerCallContext } from '@a2a-js/sdk/server'
import type { Assignment } from '../../coordination/dispatched.ts'
import { HeimdallError } from '../../errors.ts'
import { readInline } from '../inline.ts'
import { type Announce, parseDispatch, type TaskDispatch } from '../messages.ts'
import { hashText } from '../short-hash.ts'
import { schemaFault } from '../runner/turn-result.ts'
import type { WorkerDesk } from '../worker/worker-desk.ts'
import { dataOf, EXTENSION, textOf } from './extension.ts'
import { type Aside, artifactsOf, isEnded, metadataOf, statusOf, stateOf, taskOf } from './task-view.ts'

export interface WorkerMethodsOptions {
  readonly desk: WorkerDesk
  readonly card: AgentCard
  readonly url: string
  /** The same with what the worker announces at this moment. */
  readonly liveCard: (announce: Announce) => AgentCard
}

export function workerMethods({ desk, card, url, liveCard }: WorkerMethodsOptions): Methods {
  const view = (assignment: Assignment): ReturnType<typeof taskOf> => taskOf(assignment, url)
  /** With the first word to each peer goes what the worker is. */
  const aside = ({ assignmentId }: Assignment, context: ServerCallContext): Aside => ({
    checks: desk.checksOf(assignmentId),
    session_announce: desk.introduction(from(context)),
  })
  const from = (context: ServerCallContext): string => context.user?.userName ?? ''
  const owned = (id: string, context: ServerCallContext): Assignment => {
    const assignment = desk.assignment(id)
    // A task of another peer is as good as none.
    if (assignment?.from !== from(context)) throw new TaskNotFoundError(`no task ${id}`)
    return assignment
  }
  /** A task that asks takes an answer, and no other message. */
  const answered = async (assignment: Assignment, message: Message): Promise<Assignment> => {
    const { assignmentId } = assignment
    const given = await desk.answer(assignmentId, { id: message.messageId, text: textOf(message) })
    if ('why' in given) throw new UnsupportedOperationError(given.why)
    return given.assignment
  }
  const taken = async (request: SendMessageRequest, context: ServerCallContext): Promise<Assignment> => {
    const { message } = request
    if (message === undefined || message.messageId === '')
      throw new RequestMalformedError('message.messageId is required')
    checkMedia(message, request.configuration?.acceptedOutputModes ?? [])
    if (message.taskId !== '') return await answered(owned(message.taskId, context), message)
    const contextId = message.contextId === '' ? randomUUID() : message.contextId
    return await asked(async () => {
      const contract = await contractOf(message)
      const take = (one: TaskDispatch) => desk.take({ contract: one, from: from(context), contextId })
      try {
        return await take(contract)
      } catch (error) {
        const isPlain = dataOf(message.parts, 'TASK_DISPATCH') === undefined
        if (!isPlain || !(error instanceof HeimdallError) || error.code !== 'DISPATCH_DUPLICATE') throw error
        // A client without the extension that uses an id for another text means another task.
        const taskId = `${contract.task.task_id}-${hashText(contract.brief).slice(0, 8)}`
        return await take({ ...contract, task: { ...contract.task, task_id: taskId } })
      }
    })
  }
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: async () => liveCard(await desk.announce()),
    async sendMessage(request, context) {
      const assignment = await taken(request, context)
      const more = aside(assignment, context)
      if (request.configuration?.returnImmediately === true) return taskOf(assignment, url, more)
      return taskOf(await desk.rested(assignment.assignmentId), url, more)
    },
    async *sendMessageStream(request, context) {
      const assignment = await taken(request, context)
      yield* story(desk, assignment, url, aside(assignment, context))
    },
    async getTask({ id }, context) {
      return view(owned(id, context))
    },
    async listTasks({ pageSize = 50, pageToken, status, contextId, includeArtifacts }, context) {
      const all = desk
        .assignments()
        .filter((one) => one.from === from(context) && (contextId === '' || one.contextId === contextId))
        .filter((one) => status === TaskState.TASK_STATE_UNSPECIFIED || stateOf(one) === status)
        .toReversed()
      const at = pageToken === '' ? 0 : all.findIndex(({ assignmentId }) => assignmentId === pageToken) + 1
      const page = all.slice(at, at + Math.min(100, Math.max(1, pageSize)))
      return {
        tasks: page.map((one) => (includeArtifacts === true ? view(one) : { ...view(one), artifacts: [] })),
        nextPageToken: at + page.length < all.length ? (page.at(-1)?.assignmentId ?? '') : '',
        pageSize: page.length,
        totalSize: all.length,
      }
    },
    async cancelTask({ id }, context) {
      const assignment = owned(id, context)
      if (isEnded(stateOf(assignment))) throw new TaskNotCancelableError(`task ${id} has ended`)
      return view(await desk.cancel(id, `${from(context)} cancelled it`))
    },
    async *resubscribe({ id }, context) {
      const assignment = owned(id, context)
      if (isEnded(stateOf(assignment))) throw new UnsupportedOperationError(`task ${id} has ended`)
      yield* story(desk, assignment, url)
    },
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  }
}

/** A result is never pushed: whoever wants it follows the task or asks for it. */
const noPush = (): Promise<never> => Promise.reject(new PushNotificationNotSupportedError())

/** What is sent along and not looked at would be missed by the agent; a reply in another form would be missed by its reader. */
function checkMedia({ parts }: Message, modes: readonly string[]): void {
  const file = parts.find(({ content }) => content?.$case === 'raw' || content?.$case === 'url')
  if (file !== undefined)
    throw new ContentTypeNotSupportedError('a file in a message is not taken: name a path of the repository')
  if (modes.length > 0 && !modes.some((mode) => OUTPUT_MODES.includes(mode.split(';')[0]?.trim().toLowerCase() ?? '')))
    throw new ContentTypeNotSupportedError(`none of ${modes.join(', ')}: replies are text/plain and application/json`)
}

const OUTPUT_MODES: readonly string[] = [
  'text/plain',
  'application/json',
  'text/*',
  'application/*',
  '*/*',
  'text',
  'json',
]

/** A bad message is the sender's mistake, in the protocol's own words. */
async function asked<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof HeimdallError && (error.code === 'DISPATCH_INVALID' || error.code === 'DISPATCH_DUPLICATE'))
      throw new RequestMalformedError(error.message)
    throw error
  }
}

/** The contract of the extension; from peers without it, hints in the text, or the text alone. */
async function contractOf(message: Message): Promise<TaskDispatch> {
  const data = dataOf(message.parts, 'TASK_DISPATCH')
  // The envelope is for gateways: what one of them has put there counts where the contract itself says nothing.
  const { trace } = (message.metadata?.[EXTENSION] ?? {}) as { trace?: unknown }
  if (data !== undefined) return await withSchema(parseDispatch({ trace, ...data }))
  const unknown = message.parts.find(({ content }) => content?.$case === 'data')
  const text = textOf(message)
  if (text.trim() === '')
    throw new RequestMalformedError(
      unknown === undefined ? 'the message has no text' : 'the message has no TASK_DISPATCH',
    )
  return await readInline(text, message.messageId)
}

/** A schema that nothing can be held to is the sender's mistake, and found before it costs anything. */
async function withSchema(contract: TaskDispatch): Promise<TaskDispatch> {
  const { json_schema: schema } = contract.task
  const fault = schema === undefined ? undefined : await schemaFault(schema)
  if (fault !== undefined) throw new RequestMalformedError(`task.json_schema cannot be used: ${fault}`)
  return contract
}

/** The task, each change of its state, and last its artifact and its end. */
async function* story(
  desk: WorkerDesk,
  first: Assignment,
  url: string,
  aside: Aside = {},
): AsyncGenerator<StreamResponse, void, undefined> {
  yield { payload: { $case: 'task', value: taskOf(first, url, aside) } }
  if (isEnded(stateOf(first))) return
  let told = `${first.state} ${first.asks ?? ''}`
  for await (const now of desk.follow(first.assignmentId)) {
    const news = `${now.state} ${now.asks ?? ''}`
    if (news === told) continue
    told = news
    const { assignmentId: taskId, contextId } = now
    for (const artifact of artifactsOf(now, url))
      yield {
        payload: {
          $case: 'artifactUpdate',
          value: { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined },
        },
      }
    yield {
      payload: {
        $case: 'statusUpdate',
        value: { taskId, contextId, status: statusOf(now), metadata: metadataOf(now) },
      },
    }
    if (isEnded(stateOf(now))) return
  }
}
