// Five workers with different capabilities and one dying MCP server, over real A2A, under faults: each task ends once, none at a worker that lacked something, tokens add up (seed 003).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { A2aPeer } from '../../src/dispatch/a2a/a2a-peer.ts'
import { agentCard, legacyCard, liveCard, workerFacts } from '../../src/dispatch/a2a/card.ts'
import { type A2aServer, serveA2a } from '../../src/dispatch/a2a/http-server.ts'
import { workerMethods } from '../../src/dispatch/a2a/worker-methods.ts'
import {
  type Announce,
  parseAnnounce,
  parseDispatch,
  resultOf,
  type TaskDispatch,
} from '../../src/dispatch/messages.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { listDispatched, showTask } from '../../src/dispatch/tasks.ts'
import { WorkerDesk } from '../../src/dispatch/worker/worker-desk.ts'
import { openRoom } from '../coordination/room.ts'
import { scaled } from '../support/scale.ts'

const TASKS = scaled(15, 200)
const TOKEN = 'token-of-the-fleet'

interface Kind {
  readonly servers: readonly string[]
  readonly tools: readonly string[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  w0: { servers: ['a', 'b'], tools: ['x'] },
  w1: { servers: ['a'], tools: ['x', 'y'] },
  w2: { servers: ['b'], tools: [] },
  w3: { servers: [], tools: ['y'] },
  w4: { servers: ['a', 'b'], tools: ['x', 'y'] },
}

/** A worker with a store of its own, as on another machine; its tasks are real processes. */
class Worker {
  readonly name: string
  readonly room: Coordination
  readonly dead = new Set<string>()
  readonly ran: string[] = []
  server: A2aServer | undefined
  #instance = 0

  constructor(name: string) {
    this.name = name
    this.room = openRoom({ clock: systemClock })
  }

  profile(): Omit<Announce, 'state' | 'seq' | 'running'> {
    const { servers, tools } = KINDS[this.name] ?? { servers: [], tools: [] }
    return parseAnnounce({
      type: 'SESSION_ANNOUNCE',
      protocol_version: '2.0',
      worker: { agent_id: this.name, model: '', model_tier: 'sonnet', context_window: 0 },
      capabilities: { tools, mcp_servers: servers },
      mcp_health: Object.fromEntries(servers.map((name) => [name, this.dead.has(name) ? 'failed' : 'ok'])),
      session: { context_id: '', active_tasks: 0, repo_state: { branch: null, clean: true }, session_fresh: true },
      instance_id: `i${String(this.#instance).padStart(4, '0')}`,
      max_concurrent: 3,
    })
  }

  async start(port = 0): Promise<void> {
    this.#instance += 1
    const desk = new WorkerDesk({
      room: this.room,
      workerId: this.name,
      instanceId: `i${String(this.#instance).padStart(4, '0')}`,
      maxConcurrent: 3,
      execution: {
        start: async ({ taskId, attempt }, contract) => {
          this.check(contract)
          this.ran.push(`${taskId}#${attempt}`)
          return { runId: 'r' }
        },
        ended: async ({ taskId, attempt }) => {
          await once(spawn('true'), 'close')
          return resultOf({ task_id: taskId, attempt, status: 'done', tokens_spent: 5, usage: { source: 'runtime' } })
        },
        stop: async () => undefined,
      },
      profile: async () => this.profile(),
      newId: this.room.newId,
      note: () => undefined,
    })
    const facts = (url: string) => workerFacts(parseAnnounce(this.profile()), url, '1')
    this.server = await serveA2a({
      host: '127.0.0.1',
      port,
      methods: (url) =>
        workerMethods({ desk, card: agentCard(facts(url)), url, liveCard: (live) => liveCard(facts(url), live) }),
      legacyCard: (url) => legacyCard(facts(url)),
      authenticate: (token) => (token === TOKEN ? 'fleet' : undefined),
      note: () => undefined,
    })
    desk.recover()
  }

  /** What is begun here is met here, at this moment. */
  check({ requirements }: TaskDispatch): void {
    const { mcp_health: health, capabilities } = this.profile()
    for (const name of requirements.required_mcp)
      expect([this.name, name, health[name]]).toEqual([this.name, name, 'ok'])
    for (const tool of requirements.required_capabilities) expect(capabilities.tools).toContain(tool)
  }

  get port(): number {
    return Number(new URL(this.server?.url ?? 'http://x:0').port)
  }
}

test(
  'every task ends exactly once, at a worker that could do it',
  { timeout: scaled(600_000, 3_600_000) },
  async () => {
    const room = openRoom({ clock: systemClock })
    const workers = Object.keys(KINDS).map((name) => new Worker(name))
    for (const worker of workers) await worker.start()
    onTestFinished(async () => {
      for (const worker of workers) await worker.server?.close()
    })
    const peers = () =>
      new Map(
        workers.map(({ name, server }) => {
          const url = server?.url ?? ''
          return [
            name,
            { url, peer: new A2aPeer({ name, url, token: () => TOKEN, clock: systemClock, note: () => undefined }) },
          ]
        }),
      )
    const orchestrate = (): { stop: () => Promise<void> } => {
      const orchestrator = new Orchestrator({ room, peers, note: () => undefined })
      const done = orchestrator.run()
      return {
        stop: async () => {
          orchestrator.stop()
          await done
        },
      }
    }
    let running = orchestrate()
    for (let i = 0; i < TASKS; i += 1) {
      const required =
        [{ required_mcp: ['a'] }, { required_mcp: ['b'] }, { required_capabilities: ['y'] }, {}][i % 4] ?? {}
      const contract = parseDispatch({
        type: 'TASK_DISPATCH',
        protocol_version: '2.0',
        task: { task_id: `T-${i}`, token_budget: 100, idempotent: true },
        requirements: { writes: false, ...required },
        brief: 'do it',
      })
      await sendTask(room, { contract, title: `T-${i}` })
    }
    const ended = (): number => listDispatched(room).filter(({ endedMs }) => endedMs !== null).length
    /** However long it takes: a task that is stuck is the end of the whole test. */
    const atLeast = async (count: number): Promise<void> => {
      const enough = new AbortController()
      const from = room.store.read((rows) => rows.head())
      if (ended() >= count) return
      for await (const { puts } of room.store.follow(from, enough.signal))
        if (puts.some(({ table }) => table === 'tasks') && ended() >= count) break
      enough.abort()
    }
    await atLeast(TASKS / 10)
    // An MCP server dies: what needs it goes elsewhere.
    workers[0]?.dead.add('a')
    await atLeast(TASKS / 4)
    // A worker is killed, and comes back as another instance with its books.
    const [killed] = workers.slice(1)
    const port = killed?.port
    await killed?.server?.close()
    await atLeast(TASKS / 3)
    await running.stop()
    await killed?.start(port)
    running = orchestrate()
    // A network that refuses for a while.
    const [cut] = workers.slice(4)
    await cut?.server?.close()
    await atLeast(TASKS / 2)
    await cut?.start(cut.port)
    await atLeast(TASKS)
    await running.stop()
    const ends = room.store.read((rows) => rows.events({ types: ['TASK_END'] }))
    expect(ends.map(({ task }) => String(task)).sort()).toEqual(
      Array.from({ length: TASKS }, (_, i) => `T-${i}`).sort(),
    )
    const shown = listDispatched(room).map(({ taskId }) => showTask(room, taskId))
    expect(shown.filter(({ task }) => task.state !== 'done').map(({ task }) => [task.taskId, task.state])).toEqual([])
    // No attempt was run twice, and what was measured is what was settled.
    const ran = workers.flatMap((worker) => worker.ran)
    expect(new Set(ran).size).toBe(ran.length)
    for (const { attempts, reservations } of shown)
      for (const { number, state, result } of attempts)
        if (state === 'done' && result !== null)
          expect(reservations.find(({ attempt }) => attempt === number)?.settled).toBe(5)
  },
)
