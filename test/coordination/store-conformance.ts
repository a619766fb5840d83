// What every implementation of the coordination store must do; run on each of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/coordination/log-entry.ts'
import type { Assignment, Attempt, Worker } from '../../src/coordination/dispatched.ts'
import type { Agent, Claim, NewEvent, Store, Task, TaskState, Writer } from '../../src/coordination/store.ts'
import { scopeOfPath } from '../../src/scopes/scope.ts'
import { scaled } from '../support/scale.ts'

/** Opens a store; the same name again opens the same store a second time. Closing it twice is no error. */
export type OpenStore = (name: string) => Store

const moment = (monoMs: number) => ({ boot: 'boot-1', monoMs, wallMs: monoMs })

export const someAgent = (agentId: string, more: Partial<Agent> = {}): Agent => ({
  haid: `haid:ana.box-1f2e/${agentId}`,
  agentId,
  displayName: agentId,
  role: 'agent',
  tool: 'unknown',
  toolVersion: 'unknown',
  origin: 'local',
  version: 1,
  createdMs: 1,
  revokedMs: null,
  beat: { count: 1, at: moment(1) },
  seen: null,
  runtime: { epoch: 1, secretHash: 'ab', client: null, process: null, tree: null, startedMs: 1, endedMs: null },
  ...more,
})

const someClaim = (claimId: string, holder: Agent, ...paths: string[]): Omit<Claim, 'epoch'> => ({
  claimId,
  holder: holder.haid,
  task: 'T-1',
  intent: null,
  worktree: '/repo',
  ttlMinutes: 60,
  state: 'active',
  createdMs: 1,
  granted: moment(1),
  endedMs: null,
  endedReason: null,
  displacedBy: null,
  tree: null,
  toldMs: null,
  origin: 'local',
  scopes: paths.map((path) => scopeOfPath(path, { caseSensitive: true, kind: 'dir' })),
})

const someEvent = (id: string, more: Partial<NewEvent> = {}): NewEvent => ({
  id,
  type: 'CLAIM',
  actor: 'amber-otter',
  actorKind: 'agent',
  to: null,
  task: null,
  scope: null,
  claimId: null,
  wallMs: 1,
  payload: { n: 1 },
  origin: 'haid:ana.box-1f2e',
  ...more,
})

function putWhole(rows: Writer, agent: Agent): void {
  rows.putAgent(agent)
  rows.putBeat(agent.haid, agent.beat)
  if (agent.seen !== null) rows.putSighting(agent.haid, agent.seen)
}

/** The next `count` entries after `afterSeq`. */
export async function entriesOf(store: Store, afterSeq: number, count: number): Promise<Entry[]> {
  const found: Entry[] = []
  const enough = new AbortController()
  if (count === 0) return found
  for await (const entry of store.follow(afterSeq, enough.signal)) {
    found.push(entry)
    if (found.length === count) enough.abort()
  }
  return found
}

export function conformsToStore(open: OpenStore): void {
  const amber = someAgent('amber-otter')

  test('what a change wrote is there for every other reader, whole', async () => {
    const [one, two] = [open('a'), open('a')]
    const agent = someAgent('amber-otter', {
      seen: { boot: 'b', count: 3, monoMs: 1.5, ageMs: 2 },
      runtime: { epoch: 4, secretHash: null, client: 'cursor', process: 'p7', tree: 'p3', startedMs: 5, endedMs: 6 },
      revokedMs: 9,
    })
    await one.change((rows) => putWhole(rows, agent))
    expect(two.read((rows) => [rows.agent(agent.haid), rows.agentById('AMBER-OTTER'), rows.agents()])).toEqual([
      agent,
      agent,
      [agent],
    ])
    expect(two.read((rows) => [rows.agentsOfTree('p3'), rows.agentsOfTree('p7')])).toEqual([[agent], []])
    expect(two.read((rows) => rows.revokedAgents())).toEqual([agent])
  })

  test('a change that throws leaves nothing behind', async () => {
    const store = open('b')
    const fail = (): Promise<void> =>
      store.change((rows) => {
        rows.putAgent(amber)
        rows.addEvent(someEvent('e1'))
        throw new Error('half way')
      })
    await expect(fail()).rejects.toThrow('half way')
    expect(store.read((rows) => [rows.agents(), rows.lastSeq()])).toEqual([[], 0])
  })

  test('agent ids are unique without regard to case', async () => {
    const store = open('c')
    await store.change((rows) => rows.putAgent(amber))
    const twin = { ...someAgent('AMBER-OTTER'), haid: 'haid:ana.box-1f2e/other' }
    await expect(store.change((rows) => rows.putAgent(twin))).rejects.toThrow()
  })

  test('events have one order, are found by it, and cannot be changed or repeated', async () => {
    const [one, two] = [open('d'), open('d')]
    await one.change((rows) => rows.addEvent(someEvent('e1')))
    await two.change((rows) =>
      rows.addEvent(someEvent('e2', { type: 'RELEASE', claimId: 'c1', to: 'cobalt-harbor', task: 'T-2' })),
    )
    await one.change((rows) => rows.addEvent(someEvent('e3')))
    expect(await one.change((rows) => rows.addEvent(someEvent('e2')))).toBeUndefined()
    const ids = (query: Parameters<Parameters<Parameters<Store['read']>[0]>[0]['events']>[0]): string[] =>
      one.read((rows) => rows.events(query)).map(({ id }) => id)
    expect(one.read((rows) => rows.events({})).map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect([ids({ afterSeq: 1 }), ids({ last: 2 }), ids({ types: ['RELEASE'] }), ids({ claimId: 'c1' })]).toEqual([
      ['e2', 'e3'],
      ['e2', 'e3'],
      ['e2'],
      ['e2'],
    ])
    expect([
      ids({ agent: 'cobalt-harbor' }),
      ids({ task: 'T-2', types: ['CLAIM'] }),
      ids({ task: 'T-2', agent: 'amber-otter', afterSeq: 1, last: 5 }),
    ]).toEqual([['e2'], [], ['e2']])
    expect(one.read((rows) => rows.knownEvents(['e3', 'e1', 'e9']))).toEqual(new Set(['e1', 'e3']))
  })

  test('epochs only ever go up, across claims and after they end', async () => {
    const store = open('e')
    const epochs = await store.change((rows) => {
      rows.putAgent(amber)
      const first = rows.addClaim(someClaim('c1', amber, 'src'))
      rows.putClaim({ ...first, state: 'released', endedMs: 2 })
      const second = rows.addClaim(someClaim('c2', amber, 'src'))
      return [first.epoch, second.epoch]
    })
    expect(epochs[1]).toBeGreaterThan(epochs[0] ?? 0)
    expect(store.read((rows) => rows.claims({ state: 'active' })).map(({ claimId }) => claimId)).toEqual(['c2'])
  })

  test('candidates lie at, above or below a base, in both directions, and never beside it', async () => {
    const store = open('f')
    await store.change((rows) => {
      rows.putAgent(amber)
      for (const path of ['src', 'src/lib', 'src/lib/a.ts', 'src/lib-2', 'src0', 'docs', ''])
        rows.addClaim(someClaim(`c:${path}`, amber, path))
      const ended = rows.addClaim(someClaim('c:ended', amber, 'src/lib'))
      rows.putClaim({ ...ended, state: 'expired' })
    })
    const candidates = (...bases: string[]): string[] =>
      store
        .read((rows) => rows.candidates(bases))
        .map(({ claimId }) => claimId.slice(2))
        .sort()
    expect(candidates('src/lib')).toEqual(['', 'src', 'src/lib', 'src/lib/a.ts'])
    expect(candidates('src/lib/a.ts/x')).toEqual(['', 'src', 'src/lib', 'src/lib/a.ts'])
    expect(candidates('src')).toEqual(['', 'src', 'src/lib', 'src/lib-2', 'src/lib/a.ts'])
    expect(candidates('docs', 'src0')).toEqual(['', 'docs', 'src0'])
    expect(candidates('')).toHaveLength(7)
  })

  test('what was read before is never older than the last commit, of others or of its own', async () => {
    const [one, two] = [open('j'), open('j')]
    const seen = (store: Store): unknown[] =>
      store.read((rows) => [
        rows.agent(amber.haid)?.beat.count,
        rows.claims({ state: 'active' }).map(({ claimId }) => claimId),
        rows.candidates(['src']).map(({ claimId }) => claimId),
        rows.setting('k'),
      ])
    const bothSee = (expected: unknown[]): void => expect([seen(one), seen(two)]).toEqual([expected, expected])
    bothSee([undefined, [], [], undefined])
    const claim = await one.change((rows) => {
      putWhole(rows, amber)
      rows.putSetting('k', '1')
      return rows.addClaim(someClaim('c1', amber, 'src'))
    })
    bothSee([1, ['c1'], ['c1'], '1'])
    await two.change((rows) => {
      rows.beat(amber.haid, moment(2))
      rows.putSetting('k', '2')
      rows.putClaim({ ...claim, state: 'released', endedMs: 2 })
    })
    bothSee([2, [], [], '2'])
    // A change that fails leaves the readers of its own store with what was there before it.
    const fail = (): Promise<void> =>
      one.change((rows) => {
        rows.putSetting('k', '3')
        throw new Error('half way')
      })
    await expect(fail()).rejects.toThrow('half way')
    bothSee([2, [], [], '2'])
  })

  test('whoever is given a list cannot change what the next one is given', async () => {
    const store = open('l')
    await store.change((rows) => {
      rows.putAgent(amber)
      rows.addClaim(someClaim('c1', amber, 'src'))
    })
    const first = store.read((rows) => rows.claims({ state: 'active' }))
    expect(() => first.pop()).toThrow(TypeError)
    expect(store.read((rows) => rows.claims({ state: 'active' }))).toHaveLength(1)
  })

  test('random changes and reads on three connections agree with a store that is opened for each read', async () => {
    const step = fc.record({
      by: fc.nat(2),
      act: fc.constantFrom('claim', 'end', 'beat', 'setting', 'fail', 'read', 'read', 'read'),
      n: fc.nat(3),
    })
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        round += 1
        const name = `random-${round}`
        const stores = [open(name), open(name), open(name)]
        const look = (store: Store, n: number): unknown =>
          store.read((rows) => [
            rows.agent(amber.haid),
            rows.setting(`k${n}`),
            rows.candidates([`src/${n}`]),
            rows.claims({ state: 'active', holder: amber.haid }),
          ])
        let claims = 0
        for (const { by, act, n } of steps) {
          const store = stores[by]
          if (store === undefined) continue
          if (act === 'read') {
            const fresh = open(name)
            expect(look(store, n)).toEqual(look(fresh, n))
            fresh.close()
          } else if (act === 'fail')
            await expect(
              store.change((rows) => {
                rows.putSetting(`k${n}`, 'never')
                throw new Error('half way')
              }),
            ).rejects.toThrow('half way')
          else
            await store.change((rows) => {
              const [oldest] = rows.claims({ state: 'active' })
              if (act === 'setting') rows.putSetting(`k${n}`, String(claims))
              else if (act === 'end' && oldest !== undefined) rows.putClaim({ ...oldest, state: 'expired' })
              else if (act === 'beat') rows.beat(amber.haid, moment(claims))
              else if (act === 'claim') {
                putWhole(rows, amber)
                rows.addClaim(someClaim(`c${(claims += 1)}`, amber, `src/${n}`))
              }
            })
        }
        for (const store of stores) store.close()
      }),
      { numRuns: scaled(20, 500) },
    )
  })

  test('notes, incursions, tickets and tasks come back as they were put', async () => {
    const store = open('i')
    const note = {
      messageId: 'm1',
      threadId: 't',
      task: 'none',
      from: 'a',
      to: 'b',
      category: 'INFO',
      subject: 's',
      body: 'b',
      state: 'unread',
      requiresAck: true,
      createdMs: 1,
      readMs: null,
      ackedMs: null,
      ackedBy: null,
      nextAction: 'n',
      requestedAction: null,
      urgency: 'high',
    } as const
    const task = {
      taskId: 'T-1',
      owner: amber.haid,
      state: 'in_progress',
      title: 't',
      startedMs: 1,
      endedMs: null,
      summary: null,
      dispatch: null,
    } as const
    const incursion = { pair: 'p', since: moment(3), count: 2, eventId: 'e' }
    await store.change((rows) => {
      rows.putNote(note)
      rows.putNote({ ...note, messageId: 'm2', state: 'acked', ackedBy: 'human' })
      rows.putTask(task)
      rows.putIncursion(incursion)
      const first = rows.addTicket({ holder: 'a', scopes: [], process: 'p9', refreshed: moment(1) })
      rows.addTicket({ holder: 'b', scopes: [], process: null, refreshed: moment(2) })
      rows.refreshTicket(first, moment(9))
      expect(rows.tickets().map(({ holder, process, refreshed }) => [holder, process, refreshed.monoMs])).toEqual([
        ['a', 'p9', 9],
        ['b', null, 2],
      ])
      rows.removeTicket(first)
    })
    store.read((rows) => {
      expect(rows.notes({ to: 'b' }).map(({ messageId }) => messageId)).toEqual(['m2', 'm1'])
      expect(rows.notes({ unackedOnly: true })).toEqual([note])
      expect(rows.notes({ to: 'b', state: 'unread', unackedOnly: true, limit: 1 })).toEqual([note])
      expect([rows.tasks({ owner: amber.haid, state: 'in_progress' }), rows.task('T-1')]).toEqual([[task], task])
      expect([rows.incursion('p'), rows.incursionCounts(['e', 'x']).get('e')]).toEqual([incursion, 2])
      expect(rows.tickets()).toHaveLength(1)
    })
  })

  test('what dispatch keeps comes back as it was put, and the queue is asked by needs and rank', async () => {
    const store = open('dispatch')
    const dispatch = {
      needs: '{"a":1}',
      dueMs: 5,
      wakeMs: null,
      deadlineMs: 9,
      tokenBudget: 4_000,
      attempts: 0,
      failures: 0,
      reason: null,
    }
    const task = (taskId: string, dueMs: number, needs: string, state: TaskState = 'queued'): Task => ({
      taskId,
      owner: null,
      state,
      title: taskId,
      startedMs: 1,
      endedMs: null,
      summary: null,
      dispatch: { ...dispatch, dueMs, needs },
    })
    const worker: Worker = {
      workerId: 'w1',
      instanceId: 'i1',
      url: 'http://127.0.0.1:1',
      speaks: 'extension',
      state: 'ready',
      profile: '{}',
      ttlSeconds: 45,
      seq: 3,
      renewed: moment(7),
      isHere: true,
    }
    const attempt: Attempt = {
      taskId: 'B-1',
      number: 1,
      workerId: 'w1',
      instanceId: 'i1',
      state: 'sent',
      remoteId: null,
      sentMs: 2,
      acceptedMs: null,
      endedMs: null,
      result: null,
      isLate: false,
    }
    const reservation = { taskId: 'B-1', attempt: 1, reserved: 4_000, settled: null, source: null }
    const assignment: Assignment = {
      assignmentId: 'x1',
      taskId: 'B-1',
      attempt: 1,
      from: 'hub',
      workerId: 'w1',
      instanceId: 'i1',
      contextId: 'c',
      state: 'running',
      contract: '{}',
      runId: 'r',
      acceptedMs: 3,
      endedMs: null,
      result: null,
      asks: '{"question":"which?","isAuth":false}',
    }
    const tasks = [task('A-1', 9, 'a'), task('A-2', 4, 'a'), task('B-1', 3, 'b'), task('C-1', 1, 'c', 'parked')]
    await store.change((rows) => {
      for (const one of tasks) rows.putTask(one)
      rows.putContract('A-1', '{"brief":"x"}')
      rows.putWorker(worker)
      rows.putAttempt(attempt)
      rows.putTokenReservation(reservation)
      rows.putAssignment(assignment)
    })
    store.read((rows) => {
      expect(rows.tasks({ dispatched: true }).map(({ taskId }) => taskId)).toEqual(['A-1', 'A-2', 'B-1', 'C-1'])
      expect(rows.queueHeads()).toEqual([
        { taskId: 'B-1', needs: 'b' },
        { taskId: 'A-2', needs: 'a' },
      ])
      expect(rows.parked()).toEqual([{ taskId: 'C-1', needs: 'c', wakeMs: null }])
      expect([rows.contract('A-1'), rows.contract('A-2')]).toEqual(['{"brief":"x"}', undefined])
      expect([rows.worker('w1'), rows.workers()]).toEqual([worker, [worker]])
      expect([rows.attempts({ open: true }), rows.attempts({ taskId: 'A-1' })]).toEqual([[attempt], []])
      expect(rows.tokenReservations('B-1')).toEqual([reservation])
      expect([rows.assignment('x1'), rows.assignments({ workerId: 'w1', open: true })]).toEqual([
        assignment,
        [assignment],
      ])
    })
    // A renewal is known to one machine alone: it makes no entry.
    const before = store.read((rows) => rows.head())
    await store.change((rows) => rows.putWorker({ ...worker, seq: 4, renewed: moment(8) }))
    expect(store.read((rows) => [rows.head(), rows.worker('w1')?.seq])).toEqual([before, 4])
  })

  test('a change is one entry: numbered without gaps, with every row that it put and every event that it recorded', async () => {
    const store = open('m')
    const by = { sessionId: 'amber-otter', runId: 'run-1' }
    const claim = await store.change((rows) => {
      putWhole(rows, amber)
      rows.signAs(amber.haid)
      rows.putAgent({ ...amber, role: 'backend' })
      rows.addEvent(someEvent('e1'))
      rows.addEvent(someEvent('e2'))
      return rows.addClaim(someClaim('c1', amber, 'src'))
    }, by)
    await store.change((rows) => rows.addTicket({ holder: 'a', scopes: [], process: 'p1', refreshed: moment(1) }))
    await store.change((rows) => rows.removeTicket(1))
    const [first, second, third] = await entriesOf(store, 0, 3)
    expect(first).toMatchObject({
      seq: 1,
      author: { haid: amber.haid, ...by },
      puts: [
        { table: 'agents', row: { haid: amber.haid, role: 'backend' } },
        { table: 'claims', row: { epoch: claim.epoch, claim_id: 'c1', granted_wall_ms: 1 } },
      ],
      events: [
        { id: 'e1', seq: 1 },
        { id: 'e2', seq: 2 },
      ],
    })
    const nobody = { haid: null, sessionId: null, runId: null }
    expect(second).toMatchObject({ seq: 2, author: nobody, puts: [{ table: 'tickets', row: { holder: 'a' } }] })
    expect(third).toMatchObject({ seq: 3, puts: [{ table: 'tickets', removed: 1 }], events: [] })
    expect(new Set([first?.id, second?.id, third?.id]).size).toBe(3)
    expect(store.read((rows) => rows.head())).toBe(3)
  })

  test('what one machine alone knows is in no entry, and alone makes none', async () => {
    const store = open('n')
    await store.change((rows) => {
      putWhole(rows, someAgent('amber-otter', { runtime: { ...amber.runtime, process: 'p7', tree: 'p3' } }))
      rows.addClaim({ ...someClaim('c1', amber, 'src'), tree: 'p3', worktree: '/elsewhere' })
      rows.putIncursion({ pair: 'p', since: moment(3), count: 1, eventId: 'e' })
      rows.addTicket({ holder: 'a', scopes: [], process: 'p9', refreshed: moment(1) })
    })
    const text = JSON.stringify(await entriesOf(store, 0, 1))
    for (const local of ['boot-1', 'p7', 'p3', 'p9', '/elsewhere', 'mono']) expect(text).not.toContain(local)
    await store.change((rows) => rows.beat(amber.haid, moment(5)))
    await store.change((rows) => rows.putSighting(amber.haid, { boot: 'b', count: 1, monoMs: 1, ageMs: 1 }))
    await store.change((rows) => rows.refreshTicket(1, moment(7)))
    await store.change((rows) => rows.putLocalSetting('exported', '9'))
    await store.change((rows) => rows.putAgent({ ...amber, runtime: { ...amber.runtime, tree: 'p4' } }))
    await store.change(() => undefined)
    expect(
      store.read((rows) => [rows.head(), rows.agent(amber.haid)?.beat.count, rows.localSetting('exported')]),
    ).toEqual([1, 2, '9'])
    expect(store.read((rows) => rows.agentsOfTree('p4'))).toHaveLength(1)
  })

  test('processes of a session say nothing of the next one', async () => {
    const store = open('o')
    await store.change((rows) => {
      putWhole(rows, someAgent('amber-otter', { runtime: { ...amber.runtime, process: 'p7', tree: 'p3' } }))
      rows.putAgent({ ...amber, runtime: { ...amber.runtime, epoch: 2 } })
    })
    expect(store.read((rows) => rows.agentsOfTree('p3'))).toEqual([])
  })

  test('a change that fails leaves no entry and gives its number back', async () => {
    const store = open('p')
    const attempt = store.change((rows) => {
      rows.putSetting('k', '1')
      throw new Error('half way')
    })
    await expect(attempt).rejects.toThrow('half way')
    await store.change((rows) => rows.putSetting('k', '2'))
    expect(await entriesOf(store, 0, 1)).toMatchObject([
      { seq: 1, puts: [{ table: 'settings', row: { key: 'k', value: '2' } }] },
    ])
  })

  test('a follower is told of every commit, of its own store and of others, each once and in order', async () => {
    const [one, two, follower] = [open('q'), open('q'), open('q')]
    const over = new AbortController()
    const seen: number[] = []
    const following = (async () => {
      for await (const { seq } of follower.follow(0, over.signal)) {
        seen.push(seq)
        if (seq === 60) over.abort()
      }
    })()
    for (let n = 1; n <= 60; n += 1)
      await [one, two, follower][n % 3]?.change((rows) => rows.putSetting('k', String(n)))
    await following
    expect(seen).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
  })

  test('following ends with the signal and with the store, also while it waits', async () => {
    const [one, two] = [open('r'), open('r')]
    const over = new AbortController()
    const ends = [one, two].map(async (store) => {
      for await (const _ of store.follow(0, over.signal)) throw new Error('there is nothing to follow')
      return 'ended'
    })
    over.abort()
    expect(await ends[0]).toBe('ended')
    const waiting = two.follow(0, new AbortController().signal)[Symbol.asyncIterator]().next()
    two.close()
    expect(await waiting).toMatchObject({ done: true })
  })

  test('a read and its number are one state: whoever follows from there misses and repeats nothing', async () => {
    const [one, two] = [open('s'), open('s')]
    for (let n = 1; n <= 5; n += 1) await one.change((rows) => rows.putSetting('k', String(n)))
    const { value, head } = two.read((rows) => ({ value: rows.setting('k'), head: rows.head() }))
    expect([value, head]).toEqual(['5', 5])
    await one.change((rows) => rows.putSetting('k', '6'))
    expect(await entriesOf(two, head, 1)).toMatchObject([{ seq: 6, puts: [{ row: { value: '6' } }] }])
  })

  test('nobody follows from a number that was never made', async () => {
    await expect(entriesOf(open('t'), 7, 1)).rejects.toMatchObject({ code: 'FOLLOW_AHEAD', details: { seq: 0 } })
  })
}
