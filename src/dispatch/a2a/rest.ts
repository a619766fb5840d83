// HTTP+JSON of A2A 1.0: paths to methods of the request handler. The SDK has this for Express alone.
import {
  AgentCard,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  Task,
  taskStateFromJSON,
  Message,
} from '@a2a-js/sdk'
import { HTTP_STATUS, PushNotificationNotSupportedError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors'
import type { A2ARequestHandler as Methods } from '@a2a-js/sdk/server'
import { type ServerCallContext, validateVersion } from '@a2a-js/sdk/server'

export type RestStream = AsyncGenerator<unknown, void, undefined>

export interface RestRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
}

export type RestAnswer = { readonly status: number; readonly body: object } | { readonly stream: RestStream }

export async function restAnswer(
  handler: Methods,
  request: RestRequest,
  context: ServerCallContext,
): Promise<RestAnswer> {
  try {
    validateVersion(context.requestedVersion, await handler.getAgentCard(), 'HTTP+JSON')
    return (
      (await routed(handler, request, context)) ?? {
        status: 404,
        body: toRestErrorBody(new Error('no such path'), 404),
      }
    )
  } catch (error) {
    return restError(error)
  }
}

export function restError(error: unknown): { readonly status: number; readonly body: object } {
  if (error instanceof SyntaxError)
    return { status: HTTP_STATUS.BAD_REQUEST, body: toRestErrorBody(new Error('not JSON'), HTTP_STATUS.BAD_REQUEST) }
  const status = restStatusFor(error)
  return { status, body: toRestErrorBody(error, status) }
}

async function routed(
  handler: Methods,
  { method, url, body }: RestRequest,
  context: ServerCallContext,
): Promise<RestAnswer | undefined> {
  const path = url.pathname
  const ok = (answer: unknown): RestAnswer => ({ status: 200, body: answer as object })
  const sent = (): SendMessageRequest => SendMessageRequest.fromJSON(JSON.parse(body))
  if (method === 'GET' && path === '/extendedAgentCard')
    return ok(AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)))
  if (method === 'POST' && path === '/message:send') {
    const answer = await handler.sendMessage(sent(), context)
    return ok('messageId' in answer ? { message: Message.toJSON(answer) } : { task: Task.toJSON(answer) })
  }
  if (method === 'POST' && path === '/message:stream')
    return { stream: events(handler.sendMessageStream(sent(), context)) }
  if (method === 'GET' && path === '/tasks') return ok(await listed(handler, url, context))
  if (/^\/tasks\/[^/]+\/pushNotificationConfigs(?:\/|$)/.test(path)) throw new PushNotificationNotSupportedError()
  const [, id = '', verb = ''] = /^\/tasks\/([^/:]+)(?::([a-z]+))?$/.exec(path) ?? []
  if (id === '') return undefined
  const params = { id: decodeURIComponent(id), tenant: '' }
  if (verb === '' && method === 'GET') return ok(Task.toJSON(await handler.getTask(params, context)))
  if (verb === 'cancel' && method === 'POST')
    return ok(Task.toJSON(await handler.cancelTask({ ...params, metadata: {} }, context)))
  if (verb === 'subscribe') return { stream: events(handler.resubscribe(params, context)) }
  return undefined
}

async function* events(stream: AsyncGenerator<StreamResponse, void, undefined>): RestStream {
  for await (const event of stream) yield StreamResponse.toJSON(event)
}

async function listed(handler: Methods, url: URL, context: ServerCallContext): Promise<unknown> {
  const query = (name: string): string => url.searchParams.get(name) ?? ''
  const answer = await handler.listTasks(
    {
      tenant: '',
      contextId: query('contextId'),
      status: taskStateFromJSON(query('status') === '' ? 0 : query('status')),
      pageSize: query('pageSize') === '' ? undefined : Number(query('pageSize')),
      pageToken: query('pageToken'),
      historyLength: undefined,
      statusTimestampAfter: undefined,
      includeArtifacts: query('includeArtifacts') === 'true',
    },
    context,
  )
  return { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0, ...(ListTasksResponse.toJSON(answer) as object) }
}
