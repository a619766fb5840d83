// The edge cases of the handshake, one by one: whatever is late, doubled, skewed, forged or too large is settled with the right word, and nothing runs twice.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TaskState } from '@a2a-js/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { A2aPeer } from '../../src/dispatch/a2a/a2a-peer.ts'
import { agentCard, legacyCard } from '../../src/dispatch/a2a/card.ts'
import { EXTENSION } from '../../src/dispatch/a2a/extension.ts'
import { serveA2a } from '../../src/dispatch/a2a/http-server.ts'
import { orchestratorMethods } from '../../src/dispatch/a2a/orchestrator-methods.ts'
import { stateOf } from '../../src/dispatch/a2a/task-view.ts'
import { beginNext, endAttempt } from '../../src/dispatch/attempts.ts'
import { type Announce, resultOf, type TaskResult } from '../../src/dispatch/messages.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { showTask } from '../../src/dispatch/tasks.ts'
import { takeAnnounce } from '../../src/dispatch/workers.ts'
import { openRoom } from '../coordination/room.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'
import { announceOf, contractOf, ownWorker } from './worker-in-process.ts'

const resultIn = ({ result }: { result: string | null }): TaskResult => JSON.parse(result ?? '{}') as TaskResult

test('two orchestrators race for the last slot: the worker is the authority, one is rejected for overload', async () => {
  const { desk, end, started } = ownWorker({ slots: 1 })
  const [one, other] = await Promise.all(
    ['a', 'b'].map((from) => desk.take({ contract: contractOf(`T-${from}`), from, contextId: '' })),
  )
  expect([one?.state, other?.state].map(String).sort()).toEqual(['accepted', 'blocked'])
  const refused = [one, other].find((each) => each?.state === 'blocked')
  if (refused === undefined) throw new Error('nobody was refused')
  expect(resultIn(refused)).toMatchObject({
    tokens_spent: 0,
    blocked: { class: 'overload', code: 'max_concurrent', retry_after_s: 2 },
  })
  expect(stateOf(refused)).toBe(TaskState.TASK_STATE_REJECTED)
  await until('the other to begin', () => started.length === 1)
  end(started[0]?.split('#')[0] ?? '')
})

test('the same attempt again, at the same time or later, is the one that is there, and begins once', async () => {
  const { desk, end, started } = ownWorker({ slots: 4 })
  const asked = { contract: contractOf('T'), from: 'a', contextId: '' }
  const all = await Promise.all([desk.take(asked), desk.take(asked), desk.take(asked)])
  expect(new Set(all.map(({ assignmentId }) => assignmentId)).size).toBe(1)
  await until('it to begin', () => started.length > 0)
  end('T')
  await desk.settled()
  const late = await desk.take(asked)
  expect([late.assignmentId, late.state, started]).toEqual([all[0].assignmentId, 'done', ['T#1']])
  // Of another peer it is another task, and none of its business.
  const theirs = await desk.take({ ...asked, from: 'b' })
  expect(theirs.assignmentId).not.toBe(late.assignmentId)
  await until('theirs to begin', () => started.length === 2)
  end('T')
})

test('a server that answered at the announce and is dead at the dispatch blocks; one that dies in the middle is named', async () => {
  const { desk, end, started, health } = ownWorker({ slots: 4 })
  expect((await desk.announce()).mcp_health).toEqual({ a: 'ok' })
  health['a'] = 'failed'
  const requires = { requirements: { required_mcp: ['a'], writes: false } }
  const blocked = await desk.take({ contract: contractOf('T-1', requires), from: 'a', contextId: '' })
  expect(resultIn(blocked)).toMatchObject({ status: 'blocked', tokens_spent: 0, blocked: { code: 'mcp_unavailable' } })
  health['a'] = 'ok'
  const { assignmentId } = await desk.take({ contract: contractOf('T-2', requires), from: 'a', contextId: '' })
  await until('it to begin', () => started.length === 1)
  health['a'] = 'timeout'
  end('T-2', { status: 'error', error: { summary: 'gave up', side_effects: 'possible' } })
  const ended = await desk.ended(assignmentId)
  expect(resultIn(ended).error).toMatchObject({ code: 'mcp_unavailable', phase: 'run', side_effects: 'possible' })
  expect(resultIn(ended).error?.summary).toMatch(/gave up; .*a$/)
})

test('secrets in the words of a result are taken out', async () => {
  const { desk, end, started } = ownWorker()
  const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB'
  const { assignmentId } = await desk.take({ contract: contractOf('T'), from: 'a', contextId: '' })
  await until('it to begin', () => started.length === 1)
  end('T', {
    status: 'blocked',
    blocked_reason: `push with ${secret} was refused`,
    next_steps: [`export TOKEN=${secret}`],
  })
  const { result } = await desk.ended(assignmentId)
  expect(result).not.toContain(secret)
  expect(result).toContain('was refused')
})

test('cancel and completion: what was quicker counts', async () => {
  const { desk, end, started } = ownWorker({ slots: 2 })
  const taken = async (id: string) => {
    const { assignmentId } = await desk.take({ contract: contractOf(id), from: 'a', contextId: '' })
    await until('it to begin', () => started.includes(`${id}#1`))
    return assignmentId
  }
  const quick = await taken('quick')
  end('quick')
  await desk.ended(quick)
  expect((await desk.cancel(quick, 'too late')).state).toBe('done')
  expect((await desk.cancel(await taken('slow'), 'in time')).state).toBe('canceled')
})

test('a result that is there before its acceptance was seen ends the attempt once', async () => {
  const room = openRoom()
  await takeAnnounce(room, { name: 'w', url: null, speaks: 'extension' }, announceOf('w'))
  await sendTask(room, { contract: contractOf('T'), title: 'T' })
  const { begun } = await beginNext(room)
  if (begun === undefined) throw new Error('nothing was begun')
  expect(begun.attempt.state).toBe('sent')
  const done = { kind: 'result' as const, result: resultOf({ task_id: 'T', status: 'done', tokens_spent: 1 }) }
  expect(await endAttempt(room, begun.attempt, done)).toMatchObject({ kind: 'ended', next: 'done' })
  expect(await endAttempt(room, begun.attempt, done)).toEqual({ kind: 'repeated' })
  // What it suggests is for people: nothing more was queued.
  expect(room.store.read((rows) => rows.tasks({ dispatched: true }))).toHaveLength(1)
})

const peerAt = (url: string, more: Partial<ConstructorParameters<typeof A2aPeer>[0]> = {}): A2aPeer =>
  new A2aPeer({ name: 'w', url, token: () => 'orchestrator', clock: systemClock, note: () => undefined, ...more })

const never = new AbortController().signal

test('acceptance says by what the task was admitted, and the first reply what the worker is; the second no more', async () => {
  const { desk, end, started, serve } = ownWorker({ slots: 4 })
  const url = await serve()
  const heard: [Announce, string][] = []
  const peer = peerAt(url, {
    onAnnounce: async (announce, speaks) => void heard.push([announce, speaks]),
  })
  const requires = { requirements: { required_mcp: ['a'], required_capabilities: ['terminal'], writes: false } }
  for (const id of ['T-1', 'T-2'])
    expect(await peer.send(contractOf(id, requires), [], never)).toMatchObject({ kind: 'working' })
  expect(heard).toMatchObject([[{ type: 'SESSION_ANNOUNCE', instance_id: 'i1', mcp_health: { a: 'ok' } }, 'extension']])
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'A2A-Version': '1.0', 'A2A-Extensions': EXTENSION, Authorization: 'Bearer another' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }, { data: contractOf('T-3', requires) }] },
        configuration: { returnImmediately: true },
      },
    }),
  })
  const { result } = (await answer.json()) as { result: { task: { metadata: Record<string, unknown> } } }
  expect(result.task.metadata[EXTENSION]).toMatchObject({
    dispatch_id: 'T-3',
    session_fresh: true,
    checks: { required_mcp: { a: 'ok' }, required_capabilities: ['terminal'], worktree: false },
    session_announce: { type: 'SESSION_ANNOUNCE' },
  })
  await until('all to begin', () => started.length === 3)
  for (const id of ['T-1', 'T-2', 'T-3']) end(id)
  await desk.settled()
})

test('a worker of 0.3 that has the extension gets the whole contract', async () => {
  const { serve, end, started } = ownWorker()
  const url = await serve()
  // As a host of 0.3: whoever asks for a card gets the old one, whatever it says it speaks.
  const heard: { extensions: string | undefined; method: string }[] = []
  const proxy = await listening(
    createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = []
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
        const body = Buffer.concat(chunks)
        const headers = Object.fromEntries(
          ['authorization', 'content-type', 'x-a2a-extensions', ...(request.method === 'GET' ? [] : ['a2a-version'])]
            .map((name) => [name, request.headers[name]])
            .filter(([, value]) => typeof value === 'string'),
        ) as Record<string, string>
        if (body.length > 0)
          heard.push({
            extensions: headers['x-a2a-extensions'],
            method: (JSON.parse(body.toString()) as { method: string }).method,
          })
        const answer = await fetch(`${url}${request.url}`, {
          method: request.method ?? 'GET',
          headers: request.method === 'GET' ? { ...headers, 'a2a-version': '0.3' } : headers,
          ...(body.length === 0 ? {} : { body }),
        })
        for (const name of ['content-type', 'x-a2a-extensions', 'a2a-extensions']) {
          const value = answer.headers.get(name)
          if (value !== null) response.setHeader(name, value)
        }
        response.end((await answer.text()).replaceAll(url, at(proxy)))
      })()
    }),
  )
  const peer = peerAt(at(proxy))
  expect(await peer.check(never)).toMatchObject({ protocol: '0.3', isExtended: true })
  const contract = contractOf('T', { requirements: { required_mcp: ['a'], writes: false } })
  const reply = await peer.send(contract, [], never)
  expect(reply).toMatchObject({ kind: 'working' })
  expect(heard.find(({ method }) => method === 'message/send')).toEqual({
    method: 'message/send',
    extensions: EXTENSION,
  })
  await until('it to begin', () => started.length === 1)
  end('T', { tokens_spent: 9 })
  // No stream: it is looked at by its id, and the result is the artifact of the extension.
  expect(
    await peer.follow('remoteId' in reply ? reply.remoteId : '', contract, 'working', () => undefined, never),
  ).toMatchObject({
    kind: 'ended',
    result: { status: 'done', tokens_spent: 9 },
  })
})

test('a peer that shows only another version of the extension is plain: it gets text, and nothing that requires anything', async () => {
  const bodies: string[] = []
  const facts = (url: string) => ({ name: 'x', description: 'd', version: '1', tags: [], params: {}, url })
  const server = await listening(
    createServer((request, response) => {
      void (async () => {
        response.setHeader('Content-Type', 'application/json')
        const card = agentCard(facts(at(server)))
        for (const extension of card.capabilities?.extensions ?? []) extension.uri = EXTENSION.replace('/v2', '/v3')
        const { AgentCard } = await import('@a2a-js/sdk')
        if (request.method === 'GET') return response.end(JSON.stringify(AgentCard.toJSON(card)))
        const chunks: Buffer[] = []
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
        bodies.push(Buffer.concat(chunks).toString())
        const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'done it' }] }
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { message } }))
      })()
    }),
  )
  const peer = peerAt(at(server))
  expect(await peer.pull(never)).toMatchObject({ speaks: 'plain' })
  expect(await peer.send(contractOf('T'), [], never)).toMatchObject({ kind: 'ended', result: { source: 'text' } })
  expect(bodies.join()).toContain('TASK DISPATCH (inline)')
  expect(bodies.join()).not.toContain('TASK_DISPATCH')
})

test('a peer in the manner of Hermes queues a task and answers later, on the same context; nobody else can', async () => {
  const room = openRoom({ clock: systemClock })
  const contexts: string[] = []
  // Its card is of no version: the old shape, and says 1.0.
  const hermes = await listening(
    createServer((request, response) => {
      void (async () => {
        response.setHeader('Content-Type', 'application/json')
        if (request.method === 'GET')
          return response.end(
            JSON.stringify({
              ...legacyCard({ name: 'w', description: 'd', version: '1', tags: [], params: {}, url: at(hermes) }),
              protocolVersion: '1.0',
              capabilities: {},
            }),
          )
        const chunks: Buffer[] = []
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
        const { params } = JSON.parse(Buffer.concat(chunks).toString()) as {
          params: { message: { contextId: string } }
        }
        contexts.push(params.message.contextId)
        const message = { contextId: params.message.contextId, parts: [{ text: '[queued]' }] }
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { message } }))
      })()
    }),
  )
  const server = await serveA2a({
    host: '127.0.0.1',
    port: 0,
    methods: (url) =>
      orchestratorMethods({
        room,
        card: agentCard({ name: 'o', description: 'd', version: '1', tags: [], params: {}, url }),
        epoch: 'e',
        urlOf: () => null,
      }),
    legacyCard: () => ({}),
    authenticate: (token) => token,
    note: () => undefined,
  })
  onTestFinished(() => server.close())
  const orchestrator = new Orchestrator({
    room,
    peers: () => new Map([['w', { peer: peerAt(at(hermes)), url: at(hermes) }]]),
    note: () => undefined,
  })
  const running = orchestrator.run()
  await sendTask(room, { contract: contractOf('H', { requirements: {} }), title: 'H' })
  await until('it to be queued there', () => showTask(room, 'H').attempts[0]?.state === 'accepted')
  const answer = async (token: string, contextId: string, text: string): Promise<number | undefined> => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'A2A-Version': '1.0', Authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', contextId, parts: [{ text }] } },
      }),
    })
    return ((await response.json()) as { error?: { code: number } }).error?.code
  }
  expect(contexts).toEqual(['H-1'])
  expect(await answer('somebody', 'H-1', 'forged')).toBe(-32_602)
  expect(await answer('w', 'H-9', 'of no attempt')).toBe(-32_602)
  expect(showTask(room, 'H').task.state).toBe('in_progress')
  expect(await answer('w', 'H-1', 'it is done')).toBeUndefined()
  expect(showTask(room, 'H')).toMatchObject({ task: { state: 'done' }, attempts: [{ state: 'done' }] })
  // Said twice, it counts once.
  expect(await answer('w', 'H-1', 'and again')).toBeUndefined()
  expect(resultIn(showTask(room, 'H').attempts[0] ?? { result: null })).toMatchObject({
    source: 'text',
    reply: 'it is done',
  })
  orchestrator.stop()
  await running
})

test('the answer to an announce says how far apart the clocks are; a lease is by time to live', async () => {
  const room = openRoom()
  const url = 'http://127.0.0.1:1'
  const methods = orchestratorMethods({
    room,
    card: agentCard({ name: 'o', description: 'd', version: '1', tags: [], params: {}, url }),
    epoch: 'e',
    urlOf: () => null,
  })
  const issued = new Date(room.clock.wallMs() + 3_600_000).toISOString()
  const { parts } = (await methods.sendMessage(
    {
      message: {
        messageId: 'm',
        contextId: '',
        parts: [{ content: { $case: 'data', value: announceOf('w', { issued_at: issued }) } }],
      },
    } as never,
    { user: { userName: 'w' } } as never,
  )) as { parts: { content?: { value: unknown } }[] }
  expect(parts[1]?.content?.value).toMatchObject({
    type: 'ANNOUNCE_ACK',
    accepted: true,
    accepted_version: '2.0',
    clock_skew_ms: 3_600_000,
    orchestrator_epoch: 'e',
    cancel: [],
  })
  expect(room.store.read((rows) => rows.worker('w'))).toMatchObject({ state: 'ready', ttlSeconds: 45 })
})

test('a reply that is too large is an artifact with an address, for whoever sent the task and nobody else', async () => {
  const { desk, end, started, serve } = ownWorker()
  const url = await serve()
  const file = join(temporaryFolder(), 'reply')
  writeFileSync(file, 'the whole of it')
  const { assignmentId } = await desk.take({ contract: contractOf('T'), from: 'sender', contextId: '' })
  await until('it to begin', () => started.length === 1)
  end('T', { artifacts: { reply: { bytes: 15, sha256: '', media_type: 'text/plain', file } } })
  await desk.ended(assignmentId)
  const get = (path: string, token: string): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}`, 'A2A-Version': '1.0' } })
  const task = (await (await get(`/tasks/${assignmentId}`, 'sender')).json()) as {
    artifacts: { artifactId: string; parts: { url?: string }[] }[]
  }
  expect(task.artifacts.map((one) => one.artifactId)).toEqual(['task-result', 'reply'])
  const address = new URL(task.artifacts[1]?.parts[0]?.url ?? '').pathname
  expect(await (await get(address, 'sender')).text()).toBe('the whole of it')
  expect((await get(address, 'other')).status).toBe(404)
  expect((await fetch(`${url}${address}`)).status).toBe(401)
})

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

const at = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
