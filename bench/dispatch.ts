// Dispatch to acceptance against a bare `SendMessage` of the SDK on the same machine; how routing grows with workers and a decision with the queue.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentCard, Role, TaskState } from '@a2a-js/sdk'
import { DatabaseSync } from '@photostructure/sqlite'
import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import { systemClock } from '../src/clock.ts'
import { type Coordination, openCoordination } from '../src/coordination/coordination.ts'
import { A2aPeer } from '../src/dispatch/a2a/a2a-peer.ts'
import { agentCard, legacyCard, liveCard, workerFacts } from '../src/dispatch/a2a/card.ts'
import { serveA2a } from '../src/dispatch/a2a/http-server.ts'
import { workerMethods } from '../src/dispatch/a2a/worker-methods.ts'
import { beginNext, endAttempt } from '../src/dispatch/attempts.ts'
import { type Announce, parseAnnounce, parseDispatch, resultOf, type TaskDispatch } from '../src/dispatch/messages.ts'
import { needsOf } from '../src/dispatch/needs.ts'
import { type Candidate, choose } from '../src/dispatch/routing.ts'
import { sendTask } from '../src/dispatch/send-task.ts'
import { WorkerDesk } from '../src/dispatch/worker/worker-desk.ts'
import { takeAnnounce } from '../src/dispatch/workers.ts'
import { findProject } from '../src/paths.ts'
import { runBench, type Side } from './support/bench.ts'

const SENDS = 40
const TOKEN = 'token-of-the-bench'

const announceOf = (name: string, slots = 1_000_000): Announce =>
  parseAnnounce({
    type: 'SESSION_ANNOUNCE',
    protocol_version: '2.0',
    worker: { agent_id: name, model: '', model_tier: 'sonnet', context_window: 0 },
    capabilities: { tools: ['terminal'], mcp_servers: ['a'] },
    mcp_health: { a: 'ok' },
    session: { context_id: '', active_tasks: 0, repo_state: { branch: 'main', clean: true }, session_fresh: true },
    instance_id: '1',
    seq: 1,
    max_concurrent: Math.min(1_000, slots),
  })

const contractOf = (taskId: string): TaskDispatch =>
  parseDispatch({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: { task_id: taskId },
    requirements: { required_mcp: ['a'], required_capabilities: ['terminal'] },
    brief: 'do it',
  })

function open(folder: string, name: string): Coordination {
  const env = { HOME: folder, USER: 'bench', HEIMDALL_PLANNING_DIR: join(folder, name) }
  return openCoordination({ project: findProject(folder, env), env, clock: systemClock })
}

/**
 * A worker of ours that is idle when a task comes. What a task writes later, while it starts and ends, is not its
 * acceptance: it begins when the answer is there, for client and worker share one thread here, as they do at the peers.
 */
async function ours(folder: string): Promise<Side & { close(): Promise<void> }> {
  const room = open(folder, 'worker')
  const announce = announceOf('w')
  /** Starts that wait for their answer to be there. */
  const starts: (() => void)[] = []
  const desk = new WorkerDesk({
    room,
    workerId: 'w',
    instanceId: '1',
    maxConcurrent: 1_000_000,
    execution: {
      start: async () => {
        await new Promise<void>((resolve) => starts.push(resolve))
        return { runId: 'r' }
      },
      ended: async ({ taskId, attempt }) => resultOf({ task_id: taskId, attempt, status: 'done', tokens_spent: 0 }),
      stop: async () => undefined,
    },
    profile: async () => announce,
    newId: room.newId,
    note: () => undefined,
  })
  const server = await serveA2a({
    host: '127.0.0.1',
    port: 0,
    methods: (url) => {
      const facts = workerFacts(announce, url, '1')
      return workerMethods({ desk, card: agentCard(facts), url, liveCard: (live) => liveCard(facts, live) })
    },
    legacyCard: (url) => legacyCard(workerFacts(announce, url, '1')),
    authenticate: (token) => (token === TOKEN ? 'bench' : undefined),
    note: () => undefined,
  })
  const peer = new A2aPeer({
    name: 'w',
    url: server.url,
    token: () => TOKEN,
    clock: systemClock,
    note: () => undefined,
  })
  const signal = new AbortController().signal
  let number = 0
  // As the orchestrator has it when it has chosen a worker: read and checked.
  const made = (): TaskDispatch => {
    number += 1
    return contractOf(`T-${number}`)
  }
  let next = made()
  return {
    name: 'dispatch to acceptance',
    measure: () =>
      p50(
        async () => {
          const { kind } = await peer.send(next, [], signal)
          if (kind !== 'working') throw new Error(`the worker answered ${kind}`)
        },
        async () => {
          // One turn of the loop, so that it has come to its start.
          while (starts.length === 0) await new Promise((resolve) => setImmediate(resolve))
          starts.shift()?.()
          await desk.settled()
          next = made()
        },
      ),
    async close() {
      await server.close()
      room.store.close()
    },
  }
}

/**
 * The SDK's own server with an executor that begins and never ends, on the same transport. `keep` is done before it
 * answers: with one commit that is on disk, it has the least that an acceptance which survives a power cut can cost.
 */
async function bare(
  name: string,
  keep: (taskId: string, message: string) => void = () => undefined,
): Promise<Side & { close(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const card = agentCard({ name: 'bare', description: '', url, version: '1', tags: [], params: {} })
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), {
    execute: ({ taskId, contextId, userMessage }, bus) => {
      keep(taskId, JSON.stringify(userMessage))
      const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined }
      bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [], metadata: undefined }))
      return new Promise(() => undefined)
    },
    cancelTask: async () => undefined,
  })
  const transport = new JsonRpcTransportHandler(handler)
  server.on('request', (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'GET') return void response.end(JSON.stringify(AgentCard.toJSON(card)))
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
      void transport
        .handle(body, new ServerCallContext({ requestedVersion: '1.0' }))
        .then((answer) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer)))
    })
  })
  const client = await new ClientFactory({ transports: [new JsonRpcTransportFactory()] }).createFromAgentCard(card)
  let number = 0
  return {
    name,
    measure: () =>
      p50(async () => {
        number += 1
        await client.sendMessage({
          tenant: '',
          message: {
            messageId: `m-${number}`,
            contextId: '',
            taskId: '',
            role: Role.ROLE_USER,
            parts: [{ content: { $case: 'text', value: 'do it' }, metadata: undefined, filename: '', mediaType: '' }],
            metadata: undefined,
            extensions: [],
            referenceTaskIds: [],
          },
          configuration: {
            acceptedOutputModes: [],
            returnImmediately: true,
            historyLength: undefined,
            taskPushNotificationConfig: undefined,
          },
          metadata: undefined,
        })
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** One row for each task, durable when it returns: the settings of our own stores, and nothing else of ours. */
function rowKeeper(folder: string): { keep: (taskId: string, message: string) => void; close: () => void } {
  const db = new DatabaseSync(join(folder, 'peer.db'))
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE tasks (id TEXT PRIMARY KEY, message TEXT)',
  )
  const insert = db.prepare('INSERT INTO tasks VALUES (?, ?)')
  return { keep: (taskId, message) => void insert.run(taskId, message), close: () => db.close() }
}

/** `settle` is outside of the time. */
async function p50(act: () => Promise<void>, settle = (): Promise<void> => Promise.resolve()): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < SENDS; i += 1) {
    const start = performance.now()
    await act()
    times.push(performance.now() - start)
    await settle()
  }
  return times.sort((one, other) => one - other)[SENDS >> 1] ?? Number.NaN
}

function routing(workers: number): Side {
  const needs = needsOf(contractOf('T'), { briefTokens: 100, not: [], only: null })
  const all = Array.from({ length: workers }, (_, i): Candidate => ({
    workerId: `w${i}`,
    speaks: 'extension',
    state: 'ready',
    profile: announceOf(`w${i}`),
    active: i % 7,
    near: 0,
  }))
  return {
    name: `${workers} workers`,
    measure() {
      const start = performance.now()
      for (let i = 0; i < 200; i += 1) choose(needs, all)
      return ((performance.now() - start) / 200) * 1_000
    },
  }
}

/** Each decision takes one task; it is done at once, and another is put in its place. */
async function decisions(folder: string, queued: number): Promise<Side & { close(): void }> {
  const room = open(folder, `queue-${queued}`)
  for (let i = 0; i < 10; i += 1)
    await takeAnnounce(room, { name: `w${i}`, url: null, speaks: 'extension' }, announceOf(`w${i}`))
  let number = 0
  const add = async (): Promise<void> => {
    number += 1
    await sendTask(room, { contract: contractOf(`T-${number}`), title: 'x' })
  }
  for (let i = 0; i < queued; i += 1) await add()
  return {
    name: `${queued} tasks queued`,
    async measure() {
      let took = 0
      for (let i = 0; i < 20; i += 1) {
        const start = performance.now()
        const { begun } = await beginNext(room)
        took += performance.now() - start
        if (begun === undefined) throw new Error('nothing was begun')
        const { taskId, number: attempt } = begun.attempt
        await endAttempt(room, begun.attempt, {
          kind: 'result',
          result: resultOf({ task_id: taskId, attempt, status: 'done', tokens_spent: 0 }),
        })
        await add()
      }
      return took / 20
    },
    close: () => room.store.close(),
  }
}

await runBench({
  name: 'dispatch',
  about: 'a task from the orchestrator to its acceptance, and how choosing grows',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
    const rows = rowKeeper(folder)
    const own = await ours(folder)
    const stock = await bare('bare SendMessage of @a2a-js/sdk')
    const durable = await bare('the same with one durable commit of SQLite', rows.keep)
    const [few, many] = [await decisions(folder, 10), await decisions(folder, 10_000)]
    return {
      comparisons: [
        {
          what: 'dispatch to acceptance, p50',
          unit: 'ms',
          rounds: 15,
          ours: own,
          peers: [{ ...stock, goal: { atMost: 1.5 } }, durable],
        },
        { what: 'a choice among workers', unit: 'µs', rounds: 15, ours: routing(1_000), peers: [routing(10)] },
        // The logarithm of 10,000 is four times that of 10.
        { what: 'a decision', unit: 'ms', rounds: 15, ours: many, peers: [{ ...few, goal: { atMost: 4 } }] },
      ],
      async cleanup() {
        few.close()
        many.close()
        await own.close()
        await stock.close()
        await durable.close()
        rows.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
})
