// Seed 003 §"Open questions" 2: what becomes of a task, on a clock that the test owns, against a model that knows only what was promised.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { acceptAttempt, beginNext, endAttempt } from '../../src/dispatch/attempts.ts'
import type { AttemptOutcome } from '../../src/dispatch/life.ts'
import { parseAnnounce, parseDispatch, resultOf, type TaskResult } from '../../src/dispatch/messages.ts'
import { answerTask, putQuestion, refuseAnswer } from '../../src/dispatch/questions.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { cancelTask, explainTask, overdue, passDeadline, retryTask, showTask } from '../../src/dispatch/tasks.ts'
import { expireWorkers, takeAnnounce } from '../../src/dispatch/workers.ts'
import { openRoom } from '../coordination/room.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { scaled } from '../support/scale.ts'

const WORKERS = ['w0', 'w1', 'w2'] as const
const SERVERS = ['a', 'b'] as const

interface Sending {
  readonly mcp?: readonly string[]
  readonly budget?: number | null
  readonly idempotent?: boolean
  readonly deadlineMs?: number | null
  readonly priority?: string
}

const contract = (taskId: string, of: Sending = {}, nowMs = 0) =>
  parseDispatch({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: {
      task_id: taskId,
      priority: of.priority ?? 'normal',
      token_budget: of.budget ?? null,
      idempotent: of.idempotent ?? false,
    },
    requirements: { required_mcp: of.mcp ?? [] },
    deadline:
      of.deadlineMs === undefined || of.deadlineMs === null ? null : new Date(nowMs + of.deadlineMs).toISOString(),
    brief: 'do it',
  })

const announce = (
  name: string,
  of: { instance?: string; seq?: number; health?: Record<string, string>; slots?: number; state?: string } = {},
) =>
  parseAnnounce({
    type: 'SESSION_ANNOUNCE',
    protocol_version: '2.0',
    worker: { agent_id: name, model: '', model_tier: 'sonnet', context_window: 0 },
    capabilities: { tools: [], mcp_servers: Object.keys(of.health ?? {}) },
    mcp_health: of.health ?? {},
    session: { context_id: '', active_tasks: 0, repo_state: { branch: 'main', clean: true }, session_fresh: true },
    instance_id: of.instance ?? 'i1',
    seq: of.seq ?? 1,
    ttl_s: 45,
    max_concurrent: of.slots ?? 1,
    ...(of.state === undefined ? {} : { state: of.state }),
  })

const hears = (room: Coordination, name: string, of: Parameters<typeof announce>[1] = {}) =>
  takeAnnounce(room, { name, url: null, speaks: 'extension' }, announce(name, of))

const send = (room: Coordination, taskId: string, of: Sending = {}) =>
  sendTask(room, { contract: contract(taskId, of, room.clock.wallMs()), title: taskId })

const said = (taskId: string, attempt: number, of: Partial<TaskResult>): AttemptOutcome => ({
  kind: 'result',
  result: resultOf({ task_id: taskId, attempt, status: 'done', tokens_spent: 0, usage: { source: 'runtime' }, ...of }),
})

const refused = (
  taskId: string,
  attempt: number,
  blocked: { class: string; code: string; missing?: string[] },
): AttemptOutcome =>
  said(taskId, attempt, {
    status: 'blocked',
    blocked_reason: blocked.code,
    blocked: { missing: [], retry_after_s: null, depends_on: null, ...blocked } as NonNullable<TaskResult['blocked']>,
  })

async function begun(room: Coordination): Promise<{ taskId: string; number: number; workerId: string }> {
  const { begun: next } = await beginNext(room)
  if (next === undefined) throw new Error('nothing was begun')
  return next.attempt
}

const stateOf = (room: Coordination, taskId: string) => showTask(room, taskId).task.state

test('blocked for want of a capability: another worker, then parked, woken by a matching announce', async () => {
  const room = openRoom()
  for (const name of ['w0', 'w1']) await hears(room, name, { health: { a: 'ok' } })
  await send(room, 'T', { mcp: ['a'] })
  const first = await begun(room)
  expect(
    await endAttempt(room, first, refused('T', 1, { class: 'capability', code: 'mcp_unavailable', missing: ['a'] })),
  ).toMatchObject({ next: 'queued' })
  const second = await begun(room)
  expect(second.workerId).not.toBe(first.workerId)
  await endAttempt(room, second, refused('T', 2, { class: 'capability', code: 'mcp_unavailable', missing: ['a'] }))
  expect((await beginNext(room)).begun).toBeUndefined()
  expect([stateOf(room, 'T'), showTask(room, 'T').task.dispatch.failures]).toEqual(['parked', 0])
  await hears(room, 'w2', { health: { a: 'ok' } })
  expect(await begun(room)).toMatchObject({ taskId: 'T', number: 3, workerId: 'w2' })
})

test('a worker that refused is asked again once it announces itself as another instance', async () => {
  const room = openRoom()
  await hears(room, 'w0', { health: { a: 'ok' } })
  await send(room, 'T', { mcp: ['a'] })
  await endAttempt(
    room,
    await begun(room),
    refused('T', 1, { class: 'capability', code: 'mcp_unavailable', missing: ['a'] }),
  )
  expect((await beginNext(room)).begun).toBeUndefined()
  await hears(room, 'w0', { instance: 'i2', health: { a: 'ok' } })
  expect(await begun(room)).toMatchObject({ number: 2, workerId: 'w0' })
})

test('overload parks for as long as the worker says and counts for nothing; trouble that passes is tried there once more', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  await hears(room, 'w0')
  await send(room, 'T')
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await endAttempt(room, await begun(room), refused('T', attempt, { class: 'overload', code: 'max_concurrent' }))
    expect((await beginNext(room)).begun).toBeUndefined()
    expect(stateOf(room, 'T')).toBe('parked')
    clock.advance(5_000)
  }
  await endAttempt(room, await begun(room), refused('T', 6, { class: 'transient', code: 'mcp_timeout' }))
  expect((await beginNext(room)).wakeInMs).toBe(2_000)
  clock.advance(2_000)
  expect(await begun(room)).toMatchObject({ number: 7, workerId: 'w0' })
  expect(showTask(room, 'T').task.dispatch.failures).toBe(0)
})

test.each(['needs_input', 'auth', 'policy'])(
  'blocked by %s: a person is asked, and a retry is theirs',
  async (kind) => {
    const room = openRoom()
    await hears(room, 'w0')
    await send(room, 'T', { budget: 100 })
    await endAttempt(room, await begun(room), refused('T', 1, { class: kind, code: kind }))
    expect([stateOf(room, 'T'), (await beginNext(room)).begun]).toEqual(['triage', undefined])
    await retryTask(room, 'T', 200)
    expect(await begun(room)).toMatchObject({ number: 2 })
    expect(showTask(room, 'T').reservations.at(-1)?.reserved).toBe(200)
  },
)

test('where no worker is left, what the last one said is told', async () => {
  const room = openRoom()
  await hears(room, 'w0')
  await send(room, 'T')
  await endAttempt(room, await begun(room), refused('T', 1, { class: 'workspace', code: 'repo_dirty' }))
  expect((await beginNext(room)).begun).toBeUndefined()
  expect(stateOf(room, 'T')).toBe('triage')
  expect(showTask(room, 'T').task.dispatch.reason).toContain('no worker has a workspace for it; w0 said: repo_dirty')
})

test('a task that depends on another waits for its end', async () => {
  const room = openRoom()
  await hears(room, 'w0')
  await send(room, 'first')
  const one = await begun(room)
  await hears(room, 'w1')
  await send(room, 'second')
  const two = await begun(room)
  await endAttempt(
    room,
    two,
    refused('second', 1, { class: 'dependency', code: 'dependency', depends_on: 'first' } as never),
  )
  expect(stateOf(room, 'second')).toBe('parked')
  await endAttempt(room, one, said('first', 1, {}))
  expect([stateOf(room, 'first'), stateOf(room, 'second')]).toEqual(['done', 'queued'])
})

test('an error is tried again only where that does no harm, and never a third time', async () => {
  const room = openRoom()
  await hears(room, 'w0')
  const failed = (side: 'none' | 'known'): Partial<TaskResult> => ({
    status: 'error',
    error: { summary: 'no', side_effects: side },
  })
  await send(room, 'harmful')
  await endAttempt(room, await begun(room), said('harmful', 1, failed('known')))
  expect(stateOf(room, 'harmful')).toBe('failed')
  await send(room, 'harmless')
  await endAttempt(room, await begun(room), said('harmless', 1, failed('none')))
  expect(stateOf(room, 'harmless')).toBe('queued')
  await endAttempt(room, await begun(room), said('harmless', 2, failed('none')))
  expect(showTask(room, 'harmless').task).toMatchObject({ state: 'failed', dispatch: { failures: 2, attempts: 2 } })
})

test('a worker that is gone: its lease ends, an idempotent task goes on, another waits for a person; late results are evidence', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  await hears(room, 'w0', { slots: 2 })
  await send(room, 'again', { idempotent: true, budget: 100 })
  await send(room, 'once')
  const [one, two] = [await begun(room), await begun(room)]
  for (const attempt of [one, two]) await acceptAttempt(room, attempt, `remote-${attempt.taskId}`)
  clock.advance(44_999)
  expect(await expireWorkers(room)).toBe(1)
  clock.advance(1)
  await expireWorkers(room)
  expect(room.store.read((rows) => rows.worker('w0')?.state)).toBe('gone')
  for (const attempt of [one, two]) await endAttempt(room, attempt, { kind: 'lost', why: 'gone' })
  expect([stateOf(room, 'again'), stateOf(room, 'once')]).toEqual(['queued', 'triage'])
  // Nobody measured it: all that was reserved is spent.
  expect(showTask(room, 'again').reservations[0]).toMatchObject({ settled: 100, source: 'unknown' })
  const late = await endAttempt(room, one, said('again', 1, { tokens_spent: 30 }))
  expect(late).toEqual({ kind: 'late' })
  expect(showTask(room, 'again')).toMatchObject({
    task: { state: 'queued' },
    attempts: [{ state: 'lost', isLate: true }],
    reservations: [{ settled: 30 }],
  })
  expect(await endAttempt(room, one, said('again', 1, { tokens_spent: 30 }))).toEqual({ kind: 'repeated' })
  await hears(room, 'w1')
  expect((await beginNext(room)).begun).toMatchObject({
    attempt: { number: 2 },
    contract: { task: { token_budget: 70 } },
  })
})

test('all attempts draw on one budget, and it is never raised by itself', async () => {
  const room = openRoom()
  await hears(room, 'w0')
  await send(room, 'T', { budget: 100, idempotent: true })
  const failed: Partial<TaskResult> = {
    status: 'error',
    tokens_spent: 100,
    error: { summary: 'no', side_effects: 'none' },
  }
  await endAttempt(room, await begun(room), said('T', 1, failed))
  expect((await beginNext(room)).begun).toBeUndefined()
  expect(stateOf(room, 'T')).toBe('triage')
})

test('announces: repeated and reordered ones change nothing, a newer instance takes the place, another name is refused', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  expect(await hears(room, 'w0', { instance: 'i2', seq: 5 })).toMatchObject({ taken: true })
  expect(await hears(room, 'w0', { instance: 'i2', seq: 5 })).toMatchObject({ taken: false })
  expect(await hears(room, 'w0', { instance: 'i2', seq: 4, state: 'draining' })).toMatchObject({ taken: false })
  expect(await hears(room, 'w0', { instance: 'i1', seq: 99 })).toMatchObject({ taken: false })
  expect(room.store.read((rows) => rows.worker('w0'))).toMatchObject({ instanceId: 'i2', seq: 5, state: 'ready' })
  expect(await hears(room, 'w0', { instance: 'i3', seq: 1 })).toMatchObject({ taken: true })
  // Its clock was set back: once the newer one is gone, it is the worker.
  clock.advance(46_000)
  await expireWorkers(room)
  expect(await hears(room, 'w0', { instance: 'i1', seq: 1 })).toMatchObject({ taken: true })
  const forged = takeAnnounce(room, { name: 'w9', url: null, speaks: 'extension' }, announce('w0'))
  await expect(forged).rejects.toMatchObject({ code: 'PEER_FORBIDDEN' })
})

test('on a machine alone, a lease that runs out while nobody orchestrates says nothing of a worker that runs', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  await hears(room, 'w0', { health: { a: 'ok' } })
  await send(room, 'T1', { mcp: ['a'] })
  clock.advance(3_600_000)
  expect(explainTask(room, 'T1')).toMatchObject({ chosen: 'w0' })
  // Who orchestrates has listened, and heard nothing.
  await expireWorkers(room)
  expect(explainTask(room, 'T1').chosen).toBeUndefined()
})

test('what a restarted orchestrator does not know of is told to end; what it knows goes on', async () => {
  const room = openRoom()
  await hears(room, 'w0')
  await send(room, 'T')
  const attempt = await begun(room)
  await acceptAttempt(room, attempt, 'r1')
  const running = [{ dispatch_id: 'T', attempt: 1, a2a_task_id: 'r1', since: '' }]
  const first = await takeAnnounce(
    room,
    { name: 'w0', url: null, speaks: 'extension' },
    { ...announce('w0', { seq: 2 }), running },
  )
  expect(first.cancel).toEqual([])
  await endAttempt(room, attempt, { kind: 'lost', why: 'gone' })
  const second = await takeAnnounce(
    room,
    { name: 'w0', url: null, speaks: 'extension' },
    { ...announce('w0', { seq: 3 }), running },
  )
  expect(second.cancel).toEqual(['r1'])
})

test('deadlines: what waits has failed, what runs is ended, and completion that was quicker counts', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  await expect(send(room, 'past', { deadlineMs: -1 })).rejects.toMatchObject({ code: 'DISPATCH_INVALID' })
  await send(room, 'waits', { deadlineMs: 1_000 })
  await hears(room, 'w0', { slots: 2 })
  await cancelTask(room, 'waits', 'not this one')
  for (const id of ['runs', 'quick']) await send(room, id, { deadlineMs: 1_000 })
  const attempts = [await begun(room), await begun(room)]
  await send(room, 'queued', { deadlineMs: 1_000 })
  clock.advance(1_000)
  expect(overdue(room).now).toHaveLength(3)
  for (const id of overdue(room).now) await passDeadline(room, id)
  expect([stateOf(room, 'queued'), stateOf(room, 'runs')]).toEqual(['failed', 'in_progress'])
  for (const attempt of attempts)
    await endAttempt(room, attempt, attempt.taskId === 'quick' ? said('quick', 1, {}) : { kind: 'lost', why: 'ended' })
  expect([stateOf(room, 'runs'), stateOf(room, 'quick'), stateOf(room, 'waits')]).toEqual([
    'canceled',
    'done',
    'canceled',
  ])
})

test('sent again, the same task is the one that is there; with another contract it is refused', async () => {
  const room = openRoom()
  await send(room, 'T')
  expect((await send(room, 'T')).taskId).toBe('T')
  await expect(send(room, 'T', { mcp: ['a'] })).rejects.toMatchObject({ code: 'DISPATCH_DUPLICATE' })
  await expect(send(room, 'Z', { budget: 0 })).rejects.toMatchObject({ code: 'DISPATCH_INVALID' })
  await expect(send(room, '../x')).rejects.toMatchObject({ code: 'DISPATCH_INVALID' })
})

type Step =
  | { readonly do: 'send'; readonly task: number; readonly of: Sending }
  | {
      readonly do: 'announce'
      readonly worker: number
      readonly health: Record<string, string>
      readonly slots: number
      readonly isNew: boolean
    }
  | { readonly do: 'begin' }
  | { readonly do: 'accept' | 'late'; readonly pick: number }
  | { readonly do: 'end'; readonly pick: number; readonly how: number; readonly tokens: number }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'cancel' | 'retry'; readonly task: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('send' as const),
    task: fc.nat(5),
    of: fc.record({
      mcp: fc.subarray([...SERVERS]),
      budget: fc.constantFrom(null, 10, 100),
      idempotent: fc.boolean(),
      deadlineMs: fc.constantFrom(null, 5_000, 60_000),
      priority: fc.constantFrom('urgent', 'low', 'odd'),
    }),
  }),
  fc.record({
    do: fc.constant('announce' as const),
    worker: fc.nat(2),
    health: fc.dictionary(fc.constantFrom(...SERVERS), fc.constantFrom('ok', 'timeout')),
    slots: fc.integer({ min: 1, max: 2 }),
    isNew: fc.boolean(),
  }),
  fc.record({ do: fc.constant('begin' as const) }),
  fc.record({ do: fc.constantFrom('accept' as const, 'late' as const), pick: fc.nat(9) }),
  fc.record({ do: fc.constant('end' as const), pick: fc.nat(9), how: fc.nat(8), tokens: fc.nat(10) }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1_000, 5_000, 46_000) }),
  fc.record({ do: fc.constantFrom('cancel' as const, 'retry' as const), task: fc.nat(5) }),
)

const ENDS = ['done', 'partial', 'failed', 'canceled']

/** What was promised, kept apart from how it is done. */
class Model {
  readonly ended = new Map<string, string>()
  /** Ends of tasks that were put back into the queue by hand since. */
  readonly earlierEnds = new Map<string, number>()
  readonly profiles = new Map<string, { health: Record<string, string>; slots: number; isAlive: boolean }>()
  seq = 0
  instance = 0

  check(room: Coordination): void {
    const { tasks, open, ends } = room.store.read((rows) => ({
      tasks: rows.tasks({ dispatched: true }),
      open: rows.attempts({ open: true }),
      ends: rows.events({ types: ['TASK_END'] }),
    }))
    for (const { taskId, state, dispatch } of tasks) {
      const before = this.ended.get(taskId)
      // What has ended stays as it ended, and has ended once.
      if (before !== undefined) expect([taskId, state]).toEqual([taskId, before])
      if (ENDS.includes(state)) this.ended.set(taskId, state)
      expect(ends.filter(({ task }) => task === taskId)).toHaveLength(
        (this.earlierEnds.get(taskId) ?? 0) + (ENDS.includes(state) ? 1 : 0),
      )
      expect(dispatch?.failures).toBeLessThanOrEqual(2)
      const own = open.filter((attempt) => attempt.taskId === taskId)
      expect(own.length).toBe(state === 'in_progress' ? 1 : 0)
      const { reservations } = showTask(room, taskId)
      const taken = reservations.reduce((sum, { settled, reserved }) => sum + (settled ?? reserved), 0)
      if (dispatch !== null && dispatch.tokenBudget !== null) expect(taken).toBeLessThanOrEqual(dispatch.tokenBudget)
      expect(reservations.filter(({ settled }) => settled === null)).toHaveLength(own.length)
    }
    for (const [name, { slots }] of this.profiles)
      expect(open.filter(({ workerId }) => workerId === name).length).toBeLessThanOrEqual(Math.max(slots, 2))
  }
}

async function take(room: Coordination, clock: FakeClock, model: Model, one: Step): Promise<void> {
  const open = room.store.read((rows) => rows.attempts({ open: true }))
  const over = room.store
    .read((rows) => rows.attempts({}))
    .filter(({ state }) => state !== 'sent' && state !== 'accepted')
  if (one.do === 'send') await send(room, `T${one.task}`, one.of).catch(expected('DISPATCH_DUPLICATE'))
  if (one.do === 'announce') {
    const name = WORKERS[one.worker] ?? 'w0'
    const isFirst = !model.profiles.has(name)
    if (one.isNew || isFirst) model.instance += 1
    model.seq += 1
    const known = room.store.read((rows) => rows.worker(name))
    const instance =
      one.isNew || isFirst ? `i${String(model.instance).padStart(4, '0')}` : (known?.instanceId ?? 'i0001')
    await hears(room, name, { instance, seq: model.seq, health: one.health, slots: one.slots })
    model.profiles.set(name, { health: one.health, slots: one.slots, isAlive: true })
  }
  if (one.do === 'begin') {
    const { begun: next } = await beginNext(room)
    if (next !== undefined) {
      const profile = model.profiles.get(next.attempt.workerId)
      for (const server of next.contract.requirements.required_mcp) expect(profile?.health[server]).toBe('ok')
      expect(profile?.isAlive).toBe(true)
    }
  }
  const picked = 'pick' in one ? open[one.pick % Math.max(1, open.length)] : undefined
  if (one.do === 'accept' && picked !== undefined) await acceptAttempt(room, picked, 'r')
  if (one.do === 'end' && picked !== undefined)
    await endAttempt(room, picked, outcome(picked.taskId, picked.number, one.how, one.tokens))
  const old = 'pick' in one && one.do !== 'end' ? over[one.pick % Math.max(1, over.length)] : undefined
  // An acceptance that comes behind the end takes nothing up again.
  if (one.do === 'accept' && old !== undefined) await acceptAttempt(room, old, 'late')
  if (one.do === 'late' && old !== undefined)
    expect((await endAttempt(room, old, said(old.taskId, old.number, {}))).kind).not.toBe('ended')
  if (one.do === 'advance') {
    clock.advance(one.ms)
    await expireWorkers(room)
    for (const id of overdue(room).now) await passDeadline(room, id)
    for (const worker of room.store.read((rows) => rows.workers())) {
      const profile = model.profiles.get(worker.workerId)
      if (profile !== undefined && worker.state === 'gone')
        model.profiles.set(worker.workerId, { ...profile, isAlive: false })
    }
  }
  if (one.do === 'cancel')
    await cancelTask(room, `T${one.task}`, 'x').catch(expected('TASK_NOT_FOUND', 'TASK_FORBIDDEN'))
  if (one.do === 'retry') await retry(room, model, `T${one.task}`)
}

/** A human may put a failed task back; what has ended otherwise stays ended. */
async function retry(room: Coordination, model: Model, id: string): Promise<void> {
  try {
    await retryTask(room, id)
  } catch (error) {
    expected('TASK_NOT_FOUND', 'TASK_FORBIDDEN')(error)
    return
  }
  if (model.ended.get(id) !== 'failed') return
  model.ended.delete(id)
  model.earlierEnds.set(id, (model.earlierEnds.get(id) ?? 0) + 1)
}

const expected =
  (...codes: string[]) =>
  (error: unknown): void =>
    expect(codes).toContain((error as { code?: string }).code)

function outcome(taskId: string, attempt: number, how: number, tokens: number): AttemptOutcome {
  const classes = ['capability', 'overload', 'transient', 'workspace', 'policy']
  if (how < classes.length) return refused(taskId, attempt, { class: classes[how] ?? '', code: classes[how] ?? '' })
  if (how === 5) return { kind: 'lost', why: 'x' }
  if (how === 6) return { kind: 'unreached', why: 'x' }
  if (how === 7)
    return said(taskId, attempt, {
      status: 'error',
      tokens_spent: tokens,
      error: { summary: 'x', side_effects: 'none' },
    })
  return said(taskId, attempt, { tokens_spent: tokens })
}

test('whatever happens in whatever order: a task ends once, runs at one worker at a time that can do it, and stays within its budget', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
      const clock = fakeClock()
      const room = openRoom({ clock })
      const model = new Model()
      for (const one of steps) {
        await take(room, clock, model, one)
        model.check(room)
      }
      // Nobody is asked twice for the same: what is explained is what is done.
      for (const task of room.store.read((rows) => rows.tasks({ state: 'queued', dispatched: true })))
        explainTask(room, task.taskId)
      room.store.close()
    }),
    { numRuns: scaled(25, 1_000) },
  )
})

test('tokens that a refused answer has given are taken back, and given once by the next', async () => {
  const room = openRoom({ clock: fakeClock() })
  await hears(room, 'w0')
  await send(room, 'T-1', { budget: 4_000 })
  const attempt = await begun(room)
  await acceptAttempt(room, attempt, 'remote-1')
  const partial = { resume_by: new Date(room.clock.wallMs() + 60_000).toISOString(), needs: 'tokens' as const }
  const budget = (): unknown => {
    const { task } = showTask(room, 'T-1')
    const reserved = room.store.read((rows) => rows.tokenReservations('T-1')).map((one) => one.reserved)
    return [task.dispatch.tokenBudget, reserved]
  }
  await putQuestion(room, attempt, { question: 'How many more tokens?', isAuth: false, partial })
  const before = budget()
  for (const end of ['refused', 'taken'] as const) {
    await answerTask(room, 'T-1', '3000')
    expect(budget()).toEqual([7_000, [7_000]])
    if (end === 'taken') break
    await refuseAnswer(room, attempt, 'nobody is there to read an answer')
    expect(budget()).toEqual(before)
  }
})
