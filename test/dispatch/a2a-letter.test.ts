// A2A 1.0 to the letter where the SDK leaves it to the server: discovery (section 8), errors of HTTP+JSON (section 11), repeated messages, caching.
import { AgentCard } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { expect, test } from 'vitest'
import { PEER_ANSWER_BYTES_MAX } from '../../src/limits.ts'
import { boundedAnswer } from '../../src/dispatch/a2a/bounded-answer.ts'
import { failureOf } from '../../src/dispatch/a2a/peer-failure.ts'
import { parseDispatch } from '../../src/dispatch/messages.ts'
import { ownWorker } from './worker-in-process.ts'

type Card = Record<string, unknown> & { readonly securitySchemes: Record<string, object> }
const V1 = { 'A2A-Version': '1.0', Authorization: 'Bearer ana', 'Content-Type': 'application/json' }

async function asked(url: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, { headers: V1, ...init })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
  }
}

const plain = (text: string, messageId = 'm-1') => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text }] },
  configuration: { returnImmediately: true },
})
const send = (url: string, text: string) =>
  asked(url, '/message:send', { method: 'POST', body: JSON.stringify(plain(text)) })

test('discovery without a version: one card with all that 1.0 and 0.3 require, read by the stock parsers of both', async () => {
  const url = await ownWorker().serve()
  const at = `${url}/.well-known/agent-card.json`
  const response = await fetch(at)
  const card = (await response.json()) as Card
  const cardOf = async (version: string) =>
    (await (await fetch(at, { headers: { 'A2A-Version': version } })).json()) as Card
  const [current, legacy] = [await cardOf('1.0'), await cardOf('0.3')]
  expect(AgentCard.fromJSON(card)).toEqual(AgentCard.fromJSON(current))
  expect(card).toMatchObject({
    url: legacy['url'],
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
    security: legacy['security'],
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', httpAuthSecurityScheme: { scheme: 'bearer' } } },
    supportsAuthenticatedExtendedCard: true,
  })
  expect(Object.keys(legacy).filter((key) => !(key in card))).toEqual([])
  for (const legacyCompat of [{ enabled: true }, { enabled: false }])
    expect((await new DefaultAgentCardResolver({ legacyCompat }).resolve(url)).supportedInterfaces[0]).toMatchObject({
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
    })
  // Section 8.6: a client that has the card is told so.
  const tag = response.headers.get('etag') ?? ''
  const again = await fetch(at, { headers: { 'If-None-Match': tag } })
  expect([tag.length > 10, again.status, await again.text()]).toEqual([true, 304, ''])
})

test('HTTP+JSON: errors before the first event of a stream, and of push notifications, have their status and body', async () => {
  const url = await ownWorker().serve()
  const unknown = await asked(url, '/tasks/nothing:subscribe', { method: 'POST' })
  expect(unknown).toMatchObject({ status: 404, type: expect.stringContaining('json'), body: { error: { code: 404 } } })
  const bad = await asked(url, '/message:stream', { method: 'POST', body: '{"message": {"parts": []}}' })
  expect(bad).toMatchObject({ status: 400, body: { error: { code: 400 } } })
  const notJson = await asked(url, '/message:stream', { method: 'POST', body: '{' })
  expect(notJson.status).toBe(400)
  for (const [path, method] of [
    ['/tasks/x/pushNotificationConfigs', 'GET'],
    ['/tasks/x/pushNotificationConfigs', 'POST'],
    ['/tasks/x/pushNotificationConfigs/y', 'GET'],
    ['/tasks/x/pushNotificationConfigs/y', 'DELETE'],
  ] as const)
    expect(await asked(url, path, { method, ...(method === 'POST' ? { body: '{}' } : {}) })).toMatchObject({
      status: 400,
    })
})

test('a message that is repeated is the same task; its id with another text is another one', async () => {
  const { serve, started } = ownWorker({ slots: 3 })
  const url = await serve()
  const idOf = ({ body }: Awaited<ReturnType<typeof send>>) => (body as { task: { id: string } }).task.id
  const first = idOf(await send(url, 'one'))
  expect(idOf(await send(url, 'one'))).toBe(first)
  const other = idOf(await send(url, 'two'))
  expect(other).not.toBe(first)
  expect(idOf(await send(url, 'two'))).toBe(other)
  expect(started.length).toBeLessThanOrEqual(2)
})

test('an answer above the limit ends the attempt: it is never read, however often it is asked for', async () => {
  const large = new Response('', { headers: { 'content-length': String(PEER_ANSWER_BYTES_MAX + 1) } })
  const error = await boundedAnswer('w', large).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  expect(failureOf(error as Error, true)).toMatchObject({ kind: 'rejected', how: 'too_large' })
  expect(failureOf(new Error('parse failed', { cause: error }), true)).toMatchObject({ how: 'too_large' })
})

test.each([
  [{ task: { task_id: 'T' } }, 'brief is missing'],
  [{ task: { task_id: 'T', token_budget: 'many' }, brief: 'x' }, 'task.token_budget is not of type number'],
  [
    { task: { task_id: 'T', scopes: Array.from({ length: 65 }, () => 'a') }, brief: 'x' },
    'task.scopes is above the limit of 64',
  ],
  [{ task: { task_id: 'T' }, brief: 'x', deadline: 'soon' }, 'deadline does not have the form of a time with a zone'],
])('what a validator finds is a sentence: %j', (more, sentence) => {
  expect(() => parseDispatch({ type: 'TASK_DISPATCH', protocol_version: '2.0', ...more })).toThrow(sentence)
})
