// Tasks over a fleet: workers of three machines take them from the log, whoever orchestrates falls silent and another goes on, and nothing is run twice (part 15's fleet of workers, without anything that listens).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import { peersOf } from '../../src/dispatch/a2a/start-orchestrator.ts'
import { takeLease } from '../../src/dispatch/by-log/lease.ts'
import { LogDesk } from '../../src/dispatch/by-log/log-desk.ts'
import { parseAnnounce, parseDispatch, resultOf } from '../../src/dispatch/messages.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { listDispatched } from '../../src/dispatch/tasks.ts'
import { WorkerDesk } from '../../src/dispatch/worker/worker-desk.ts'
import { fleetDoor } from '../../src/fleet/door.ts'
import { createFleet } from '../../src/fleet/creation.ts'
import { joinFleet } from '../../src/fleet/membership.ts'
import { findProject } from '../../src/paths.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()
const TASKS = scaled(12, 200)
const LEASE_MS = 1_500
/** Longer than any pause of a busy machine, so that only who is gone is taken for gone. */
const TTL_S = scaled(4, 20)

interface Machine {
  readonly name: string
  readonly room: Coordination
  readonly over: AbortController
}

async function fleetOf(names: readonly string[]): Promise<Machine[]> {
  const joining = { isPooled: false, version: '0.0.0' }
  const machines: Machine[] = []
  let joinUrl = ''
  for (const name of names) {
    const env = { USER: 'ana', HOME: temporaryFolder() }
    const options = {
      project: findProject(temporaryFolder(), env),
      env,
      clock: systemClock,
      staleMinutes: 15,
      fleet: fleetDoor,
    }
    if (joinUrl === '')
      joinUrl = (
        await createFleet({ ...joining, options, url: await engine.server.database(), name: 'tasks', machine: name })
      ).joinUrl
    else await joinFleet({ ...joining, options, url: joinUrl, machine: name }, { setsAside: false, rebuilds: false })
    const machine = { name, room: openCoordination(options), over: new AbortController() }
    machines.push(machine)
    const linked = machine.room.store.link(machine.over.signal)
    onTestFinished(async () => {
      machine.over.abort()
      await linked
      machine.room.store.close()
    })
  }
  return machines
}

/** A worker whose tasks are real processes; `ran` has every attempt that any of them has begun. */
function startWorker({ name, room, over }: Machine, ran: string[]): void {
  const workerId = `worker-${name}`
  const desk = new WorkerDesk({
    room,
    workerId,
    instanceId: 'i1',
    maxConcurrent: 2,
    execution: {
      start: async ({ taskId, attempt }) => {
        ran.push(`${taskId}#${attempt}`)
        return { runId: 'r' }
      },
      ended: async ({ taskId, attempt }) => {
        await once(spawn('true'), 'close')
        return resultOf({ task_id: taskId, attempt, status: 'done', tokens_spent: 5, usage: { source: 'runtime' } })
      },
      stop: async () => undefined,
    },
    profile: async () =>
      parseAnnounce({
        type: 'SESSION_ANNOUNCE',
        protocol_version: '2.0',
        worker: { agent_id: workerId, model: '', model_tier: 'sonnet', context_window: 0 },
        capabilities: { tools: [], mcp_servers: [] },
        mcp_health: {},
        session: { context_id: '', active_tasks: 0, repo_state: { branch: null, clean: true }, session_fresh: true },
        instance_id: 'i1',
        max_concurrent: 2,
        ttl_s: TTL_S,
      }),
    newId: room.newId,
    note: () => undefined,
  })
  const inLog = new LogDesk({ room, workerId, instanceId: 'i1', desk, note: () => undefined })
  const beats = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await inLog.announce(await desk.announce())
      await delay((TTL_S * 1_000) / 4, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  const running = Promise.all([inLog.run(over.signal), beats()])
  onTestFinished(async () => {
    over.abort()
    await running
    await desk.settled()
  })
}

/** Stands by until it may; resolves when it orchestrates. */
async function orchestrate({ room, over }: Machine): Promise<void> {
  const note = (): void => undefined
  const orchestrator = new Orchestrator({ room, peers: peersOf({ room, workers: () => [], note }), note })
  const lease = await until('the lease', () =>
    takeLease({ room, note, signal: over.signal, leaseMs: LEASE_MS, onLost: () => orchestrator.stop() }),
  )
  expect(lease).toBeDefined()
  const done = orchestrator.run()
  over.signal.addEventListener('abort', () => orchestrator.stop())
  onTestFinished(async () => {
    orchestrator.stop()
    await done
    // With the renewal that may be under way: the folder goes when this has ended.
    await lease.release()
  })
}

test(
  'every task ends once, and no attempt is begun twice, though a machine dies with worker and orchestrator',
  { timeout: scaled(300_000, 1_200_000) },
  async () => {
    const [first, second, third] = (await fleetOf(['one', 'two', 'three'])) as [Machine, Machine, Machine]
    const ran: string[] = []
    for (const machine of [first, second, third]) startWorker(machine, ran)
    await orchestrate(first)
    // The lease is another machine's.
    expect(
      await takeLease({
        room: second.room,
        note: () => undefined,
        signal: second.over.signal,
        onLost: () => undefined,
      }),
    ).toBeUndefined()
    for (let i = 0; i < TASKS; i += 1) {
      const contract = parseDispatch({
        type: 'TASK_DISPATCH',
        protocol_version: '2.0',
        // Without a budget: of what is lost, all of it would count as spent.
        task: { task_id: `T-${i}`, idempotent: true },
        requirements: { writes: false },
        brief: 'do it',
      })
      await sendTask(third.room, { contract, title: `T-${i}` })
    }
    const ended = (): number => listDispatched(third.room).filter(({ endedMs }) => endedMs !== null).length
    const states = (): string =>
      JSON.stringify(listDispatched(third.room).map(({ taskId, state, dispatch }) => [taskId, state, dispatch]))
    const atLeast = (count: number) =>
      until(`${count} tasks to end`, () => ended() >= count, { waitMs: scaled(120_000, 420_000), context: states })
    await atLeast(TASKS / 4)
    first.over.abort()
    await orchestrate(second)
    await atLeast(TASKS)
    const shown = listDispatched(third.room)
    expect(shown.filter(({ state }) => state !== 'done')).toEqual([])
    const ends = third.room.store.read((rows) => rows.events({ types: ['TASK_END'] }))
    expect(ends.map(({ task }) => String(task)).sort()).toEqual(shown.map(({ taskId }) => taskId).sort())
    expect(new Set(ran).size).toBe(ran.length)
    const workers = third.room.store.read((rows) => rows.assignments({})).map(({ workerId }) => workerId)
    expect(new Set(workers).size).toBeGreaterThan(1)
  },
)
