// Workers of a fleet: a name is one machine's as long as that one lives, and who has fallen silent is shown as gone though nobody orchestrates.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Announcing } from '../../src/dispatch/a2a/announcing.ts'
import { WorkerDesk } from '../../src/dispatch/worker/worker-desk.ts'
import { LogDesk } from '../../src/dispatch/by-log/log-desk.ts'
import { type Announce, parseAnnounce } from '../../src/dispatch/messages.ts'
import { explainNeeds } from '../../src/dispatch/tasks.ts'
import { needsOf } from '../../src/dispatch/needs.ts'
import { tasksNow } from '../../src/hub/facts/task-rows.ts'
import { contractOf } from '../dispatch/worker-in-process.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { type Box, box } from './box.ts'
import { testEngine } from './engine.ts'
import { fleetAt, type Machine, startWorkerOn, workerOn } from './machines.ts'

const engine = testEngine()

const fleetOf = async (...names: [string, ...string[]]): Promise<Machine[]> =>
  fleetAt(await engine.server.database(), ...names)

test('a name that a worker on another machine has is refused with the machine, and free when that one has ended', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  const named = ['--name', 'builder']
  const first = await workerOn(one, 'cat', named)
  const refused = await startWorkerOn(two, 'cat', named).ended
  expect(refused).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('builder is already running on "one"') as string,
  })
  // Under the name of its own machine it is another.
  const other = await workerOn(two, 'cat')
  other.kill('SIGTERM')
  await other.ended
  // The next of the same machine takes the place of one that was killed there.
  first.kill('SIGKILL')
  await first.ended
  const next = await workerOn(one, 'cat', named)
  next.kill('SIGTERM')
  await next.ended
  const last = await workerOn(two, 'cat', named)
  last.kill('SIGTERM')
  await last.ended
})

test('a worker that could not listen has left the log, and its name with it', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  const holder = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void holder.close())
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const named = ['--name', 'builder']
  const refused = await startWorkerOn(one, 'cat', [...named, '--port', String(port)]).ended
  expect(refused.stderr).toContain('cannot listen on')
  // It would be refused as long as the other is taken for one that lives.
  const next = await workerOn(two, 'cat', named)
  next.kill('SIGTERM')
  await next.ended
})

test('whoever sends a task and waits sees its end, though another machine orchestrates', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  const serving = startProgram([...launcher('heimdall'), 'worker', 'serve'], {
    cwd: two.project.root,
    env: { ...two.project.env, USER: 'two' },
  })
  await until('it to orchestrate', () => serving.stderr().includes('announce themselves to'), {
    context: () => serving.stderr(),
  })
  const worker = await workerOn(two, 'echo "done here"')
  expect(await one.heimdall('task add --id T-1 Greet --read-only --wait --timeout 30s')).toMatchObject({
    ok: true,
    data: { task_id: 'T-1', state: 'done' },
  })
  for (const program of [worker, serving]) {
    program.kill('SIGTERM')
    await program.ended
  }
})

const TTL_S = 2

/** A worker that says what it is; what it takes never gets going. */
function workerIn(
  { room }: Box,
  instanceId: string,
): { desk: WorkerDesk; inLog: LogDesk; announce: () => Promise<Announce> } {
  const desk = new WorkerDesk({
    room,
    workerId: 'builder',
    instanceId,
    maxConcurrent: 1,
    execution: {
      start: () => new Promise(() => undefined),
      ended: () => new Promise(() => undefined),
      stop: async () => undefined,
    },
    profile: async () =>
      parseAnnounce({
        type: 'SESSION_ANNOUNCE',
        protocol_version: '2.0',
        worker: { agent_id: 'builder', model: '', model_tier: 'sonnet', context_window: 0 },
        capabilities: { tools: [], mcp_servers: [] },
        mcp_health: {},
        session: { context_id: '', active_tasks: 0, repo_state: { branch: null, clean: true }, session_fresh: true },
        instance_id: instanceId,
        max_concurrent: 1,
        ttl_s: TTL_S,
      }),
    newId: room.newId,
    note: () => undefined,
  })
  return {
    desk,
    inLog: new LogDesk({ room, workerId: 'builder', instanceId, desk, note: () => undefined }),
    announce: () => desk.announce(),
  }
}

const stateIn = ({ room }: Box): unknown => {
  const requirements = {
    required_mcp: [],
    required_capabilities: [],
    min_model_tier: null,
    writes: false,
    repository: [],
  }
  const needs = needsOf({ requirements }, { briefTokens: 1, not: [], only: null })
  const [verdict] = explainNeeds(room, needs).verdicts
  const [shown] = tasksNow(room).workers
  return { shown: shown?.state, lacks: verdict?.lacks.map(({ code }) => code) }
}

test('a worker that ends while a task of it goes on is sent nothing more, and gone with its lease', async () => {
  const one = box(await engine.project(), 'one')
  const { desk, inLog, announce } = workerIn(one, 'i1')
  await inLog.enter(await announce())
  await desk.take({ contract: contractOf('T-1'), from: 'fleet', contextId: 'T-1' })
  // Its last announce was not heard: the engine was away at that moment.
  desk.leave()
  await inLog.leave()
  expect(stateIn(one)).toMatchObject({ shown: 'draining', lacks: expect.arrayContaining(['draining']) as string[] })
  one.clock.advance(TTL_S * 1_000)
  expect(stateIn(one)).toMatchObject({ shown: 'gone' })
})

test('a worker that has fallen silent is gone by its lease, here and elsewhere, though nobody writes that down; then its name is free', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const first = workerIn(one, 'i2')
  await first.inLog.enter(await first.announce())
  await two.room.store.catchUp()
  const there = { shown: 'ready', lacks: [] }
  expect([stateIn(one), stateIn(two)]).toEqual([there, there])
  // By a clock that is behind: its instance looks older than the one that lives.
  const second = workerIn(two, 'i1')
  await expect(second.inLog.enter(await second.announce())).rejects.toMatchObject({ code: 'WORKER_RUNNING' })
  const gone = { shown: 'gone', lacks: ['gone'] }
  one.clock.advance(TTL_S * 1_000)
  expect(stateIn(one)).toEqual(gone)
  // A copy that has not heard of it since does not know.
  two.clock.advance(3_600_000)
  expect(stateIn(two)).toEqual(there)
  await until('its lease to run out', async () => {
    await two.room.store.catchUp()
    return (stateIn(two) as { shown: unknown }).shown === 'gone'
  })
  expect(two.room.store.read((rows) => rows.worker('builder')?.state)).toBe('ready')
  await second.inLog.enter(await second.announce())
  expect(stateIn(two)).toEqual(there)
  // The first comes back: it is told, and the second goes on.
  await expect(first.inLog.enter(await first.announce())).rejects.toMatchObject({
    code: 'WORKER_RUNNING',
    message: expect.stringContaining('on "two"') as string,
  })
})

test('a worker that has ended stays gone, though it was about to announce itself', async () => {
  const one = box(await engine.project(), 'one')
  const { inLog, announce } = workerIn(one, 'i1')
  await inLog.enter(await announce())
  const heard: (number | string)[] = []
  let hurry: () => void = () => undefined
  // A server that is slow to say how it is.
  const probed = new Promise<void>((resolve) => {
    hurry = resolve
  })
  let begin: () => void = () => undefined
  const isAsked = new Promise<void>((resolve) => {
    begin = resolve
  })
  const announcing = new Announcing({
    announce: async () => {
      const said = await announce()
      begin()
      await probed
      return said
    },
    also: async (said) => {
      heard.push(said.seq)
      return inLog.announce(said)
    },
    orchestrators: () => [],
    onCancel: () => undefined,
    clock: one.clock,
    note: () => undefined,
  })
  const started = announcing.start()
  await isAsked
  const left = announcing.stop().then(async () => {
    heard.push('left')
    await inLog.leave()
  })
  hurry()
  await Promise.all([started, left])
  // As for a person who drains it at that moment.
  await announcing.say()
  // The first was with `enter`; the second was not said any more, for the last word came.
  expect(heard).toEqual([3, 'left'])
  expect(one.room.store.read((rows) => rows.worker('builder')?.state)).toBe('gone')
})
