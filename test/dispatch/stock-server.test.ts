// Our orchestrator and the stock server of the SDK with a trivial executor, in 1.0 and in 0.3: it gets text, and what it says is read as text.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Role, TaskState } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { A2aPeer } from '../../src/dispatch/a2a/a2a-peer.ts'
import { parseDispatch, type TaskDispatch } from '../../src/dispatch/messages.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { showTask } from '../../src/dispatch/tasks.ts'
import { openRoom } from '../coordination/room.ts'
import { until } from '../support/wait.ts'
import { stockServer } from './stock-server.ts'
import { ownWorker } from './worker-in-process.ts'

/** Says back what it was told, and shows the extension only if it is asked to. */
class Echo implements AgentExecutor {
  readonly heard: string[] = []

  execute: AgentExecutor['execute'] = async ({ taskId, contextId, userMessage }, bus) => {
    const text = userMessage.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : '[data]'))
      .join('|')
    this.heard.push(text)
    const base = { id: taskId, contextId, artifacts: [], history: [], metadata: undefined }
    bus.publish(
      AgentEvent.task({
        ...base,
        status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
      }),
    )
    const message = {
      messageId: 'a',
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [
        {
          content: { $case: 'text' as const, value: `heard: ${text}` },
          metadata: undefined,
          filename: '',
          mediaType: '',
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    }
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: { state: TaskState.TASK_STATE_COMPLETED, message, timestamp: undefined },
        metadata: undefined,
      }),
    )
    bus.finished()
  }

  cancelTask: AgentExecutor['cancelTask'] = async () => undefined
}

const contract = (taskId: string, more: Partial<TaskDispatch> = {}): TaskDispatch =>
  parseDispatch({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: { task_id: taskId, reply_schema: 'structured' },
    requirements: {},
    brief: 'say something',
    ...more,
  })

test.each(['1.0', '0.3'] as const)(
  'a stock server of %s gets hints and brief as text, and its words are a result of source text',
  async (version) => {
    const echo = new Echo()
    const { url } = await stockServer(version, false, echo)
    const room = openRoom({ clock: systemClock })
    const peer = new A2aPeer({ name: 'stock', url, token: () => undefined, clock: systemClock, note: () => undefined })
    const orchestrator = new Orchestrator({
      room,
      peers: () => new Map([['stock', { peer, url }]]),
      note: () => undefined,
    })
    const running = orchestrator.run()
    await sendTask(room, { contract: contract('S-1'), title: 'S-1' })
    await sendTask(room, {
      contract: contract('S-2', {
        requirements: {
          required_mcp: [],
          required_capabilities: ['terminal'],
          min_model_tier: null,
          writes: false,
          repository: [],
        },
      }),
      title: 'S-2',
    })
    await until('the task to end', () => showTask(room, 'S-1').task.state === 'done')
    expect(echo.heard[0]).toMatch(/^TASK DISPATCH \(inline\)\n[^]*reply_schema: structured\nBrief: say something$/)
    const { attempts } = showTask(room, 'S-1')
    expect(JSON.parse(attempts[0]?.result ?? '{}')).toMatchObject({
      status: 'done',
      source: 'text',
      schema_valid: false,
      tokens_spent: null,
      usage: { source: 'unknown' },
    })
    // Nothing that requires anything goes to a peer of which nothing is known.
    expect(showTask(room, 'S-2').attempts).toEqual([])
    orchestrator.stop()
    await running
  },
)

test('a peer that shows the extension and does not answer under it is plain from then on, and what requires something is withdrawn', async () => {
  const { url } = await stockServer('1.0', true, new Echo())
  const notes: string[] = []
  const peer = new A2aPeer({
    name: 'stock',
    url,
    token: () => undefined,
    clock: systemClock,
    note: (line) => notes.push(line),
  })
  const signal = new AbortController().signal
  const reply = await peer.send(
    contract('S-3', {
      requirements: {
        required_mcp: ['trek'],
        required_capabilities: [],
        min_model_tier: null,
        writes: false,
        repository: [],
      },
    }),
    [],
    signal,
  )
  expect(reply).toMatchObject({ kind: 'ended', result: { status: 'blocked', blocked: { class: 'capability' } } })
  expect(notes.join()).toContain('taken as plain')
  expect(await peer.pull(signal)).toMatchObject({ speaks: 'plain' })
})

test('text is no result of a worker that speaks the extension', async () => {
  const { serve, end } = ownWorker()
  const real = await serve()
  // Passes everything on to the worker, but answers itself how the task stands.
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      const rpc = (body === '' ? {} : JSON.parse(body)) as { method?: string; id?: number }
      if (rpc.method === 'GetTask') {
        const artifacts = [{ artifactId: 'a', parts: [{ text: 'all done' }] }]
        const result = { id: 'x', status: { state: 'TASK_STATE_COMPLETED' }, artifacts }
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }))
      }
      const { connection: _, host: __, 'content-length': ___, ...headers } = request.headers
      const answer = await fetch(`${real}${request.url}`, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(body === '' ? {} : { body }),
      })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      return response.end((await answer.text()).replaceAll(real, url))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const room = openRoom({ clock: systemClock })
  const peer = new A2aPeer({ name: 'w', url, token: () => 'boss', clock: systemClock, note: () => undefined })
  const orchestrator = new Orchestrator({ room, peers: () => new Map([['w', { peer, url }]]), note: () => undefined })
  const running = orchestrator.run()
  await sendTask(room, { contract: contract('T'), title: 'T' })
  await until('the task to end', () => showTask(room, 'T').task.endedMs !== null)
  const { task, attempts } = showTask(room, 'T')
  expect(task.state).toBe('failed')
  expect(JSON.parse(attempts[0]?.result ?? '{}')).toMatchObject({
    status: 'error',
    error: { code: 'wrong_result', side_effects: 'possible' },
  })
  end('T')
  orchestrator.stop()
  await running
})

test('a peer that hangs is let go, one that refuses is said to', async () => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const of = (at: string): A2aPeer =>
    new A2aPeer({ name: 'x', url: at, token: () => undefined, clock: systemClock, note: () => undefined })
  expect(await of(url).send(contract('H-1'), [], AbortSignal.timeout(300))).toMatchObject({ kind: 'refused' })
  expect(await of('http://127.0.0.1:9').send(contract('H-2'), [], AbortSignal.timeout(5_000))).toMatchObject({
    kind: 'refused',
  })
})
