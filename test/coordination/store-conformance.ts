// What every implementation of the coordination store must do; run on each of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Agent, Claim, NewEvent, Store } from '../../src/coordination/store.ts'
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
  session: { epoch: 1, secretHash: 'ab', client: null, process: null, tree: null, startedMs: 1, endedMs: null },
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

export function conformsToStore(open: OpenStore): void {
  const amber = someAgent('amber-otter')

  test('what a change wrote is there for every other reader, whole', () => {
    const [one, two] = [open('a'), open('a')]
    const agent = someAgent('amber-otter', {
      seen: { boot: 'b', count: 3, monoMs: 1.5, ageMs: 2 },
      session: { epoch: 4, secretHash: null, client: 'cursor', process: 'p7', tree: 'p3', startedMs: 5, endedMs: 6 },
      revokedMs: 9,
    })
    one.write((rows) => rows.putAgent(agent))
    expect(two.read((rows) => [rows.agent(agent.haid), rows.agentById('AMBER-OTTER'), rows.agents()])).toEqual([
      agent,
      agent,
      [agent],
    ])
    expect(two.read((rows) => [rows.agentsOfTree('p3'), rows.agentsOfTree('p7')])).toEqual([[agent], []])
  })

  test('a change that throws leaves nothing behind', () => {
    const store = open('b')
    const fail = (): void =>
      store.write((rows) => {
        rows.putAgent(amber)
        rows.addEvent(someEvent('e1'))
        throw new Error('half way')
      })
    expect(fail).toThrow('half way')
    expect(store.read((rows) => [rows.agents(), rows.lastSeq()])).toEqual([[], 0])
  })

  test('agent ids are unique without regard to case', () => {
    const store = open('c')
    store.write((rows) => rows.putAgent(amber))
    const twin = { ...someAgent('AMBER-OTTER'), haid: 'haid:ana.box-1f2e/other' }
    expect(() => store.write((rows) => rows.putAgent(twin))).toThrow()
  })

  test('events have one order, are found by it, and cannot be changed or repeated', () => {
    const [one, two] = [open('d'), open('d')]
    one.write((rows) => rows.addEvent(someEvent('e1')))
    two.write((rows) =>
      rows.addEvent(someEvent('e2', { type: 'RELEASE', claimId: 'c1', to: 'cobalt-harbor', task: 'T-2' })),
    )
    one.write((rows) => rows.addEvent(someEvent('e3')))
    expect(one.write((rows) => rows.addEvent(someEvent('e2')))).toBeUndefined()
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

  test('epochs only ever go up, across claims and after they end', () => {
    const store = open('e')
    const epochs = store.write((rows) => {
      rows.putAgent(amber)
      const first = rows.addClaim(someClaim('c1', amber, 'src'))
      rows.putClaim({ ...first, state: 'released', endedMs: 2 })
      const second = rows.addClaim(someClaim('c2', amber, 'src'))
      return [first.epoch, second.epoch]
    })
    expect(epochs[1]).toBeGreaterThan(epochs[0] ?? 0)
    expect(store.read((rows) => rows.claims({ state: 'active' })).map(({ claimId }) => claimId)).toEqual(['c2'])
  })

  test('candidates lie at, above or below a base, in both directions, and never beside it', () => {
    const store = open('f')
    store.write((rows) => {
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

  test('a reader sees one moment, whatever is written meanwhile', () => {
    const [reader, writer] = [open('g'), open('g')]
    writer.write((rows) => rows.putAgent(amber))
    reader.read((rows) => {
      expect(rows.agents()).toHaveLength(1)
      writer.write((changes) => changes.putAgent(someAgent('cobalt-harbor')))
      expect(rows.agents()).toHaveLength(1)
    })
    expect(reader.read((rows) => rows.agents())).toHaveLength(2)
  })

  test('what was read before is never older than the last commit, of others or of its own', () => {
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
    const claim = one.write((rows) => {
      rows.putAgent(amber)
      rows.putSetting('k', '1')
      return rows.addClaim(someClaim('c1', amber, 'src'))
    })
    bothSee([1, ['c1'], ['c1'], '1'])
    two.write((rows) => {
      rows.beat(amber.haid, moment(2))
      rows.putSetting('k', '2')
      rows.putClaim({ ...claim, state: 'released', endedMs: 2 })
    })
    bothSee([2, [], [], '2'])
    // A change that fails leaves the readers of its own store with what was there before it.
    const fail = (): void =>
      one.write((rows) => {
        rows.putSetting('k', '3')
        throw new Error('half way')
      })
    expect(fail).toThrow('half way')
    bothSee([2, [], [], '2'])
  })

  test('known and unknown answers of one read are of the same moment', () => {
    const [reader, writer] = [open('k'), open('k')]
    const put = (value: string): void =>
      writer.write((rows) => {
        rows.putSetting('left', value)
        rows.putSetting('right', value)
      })
    put('1')
    expect(reader.read((rows) => rows.setting('left'))).toBe('1')
    let isWritten = false
    const both = reader.read((rows) => {
      const left = rows.setting('left')
      if (!isWritten) put('2')
      isWritten = true
      return [left, rows.setting('right')]
    })
    expect(both).toEqual(['2', '2'])
  })

  test('whoever is given a list cannot change what the next one is given', () => {
    const store = open('l')
    store.write((rows) => {
      rows.putAgent(amber)
      rows.addClaim(someClaim('c1', amber, 'src'))
    })
    const first = store.read((rows) => rows.claims({ state: 'active' }))
    expect(() => first.pop()).toThrow(TypeError)
    expect(store.read((rows) => rows.claims({ state: 'active' }))).toHaveLength(1)
  })

  test('random changes and reads on three connections agree with a store that is opened for each read', () => {
    const step = fc.record({
      by: fc.nat(2),
      act: fc.constantFrom('claim', 'end', 'beat', 'setting', 'fail', 'read', 'read', 'read'),
      n: fc.nat(3),
    })
    let round = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
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
            expect(() =>
              store.write((rows) => {
                rows.putSetting(`k${n}`, 'never')
                throw new Error('half way')
              }),
            ).toThrow('half way')
          else
            store.write((rows) => {
              const [oldest] = rows.claims({ state: 'active' })
              if (act === 'setting') rows.putSetting(`k${n}`, String(claims))
              else if (act === 'end' && oldest !== undefined) rows.putClaim({ ...oldest, state: 'expired' })
              else if (act === 'beat') rows.beat(amber.haid, moment(claims))
              else if (act === 'claim') {
                rows.putAgent(amber)
                rows.addClaim(someClaim(`c${(claims += 1)}`, amber, `src/${n}`))
              }
            })
        }
        for (const store of stores) store.close()
      }),
      { numRuns: scaled(20, 500) },
    )
  })

  test('the version tells that somebody else has written', () => {
    const [one, two] = [open('h'), open('h')]
    const before = one.version()
    expect(one.version()).toBe(before)
    two.write((rows) => rows.putSetting('k', 'v'))
    expect(one.version()).not.toBe(before)
    expect(one.read((rows) => rows.setting('k'))).toBe('v')
  })

  test('notes, incursions, tickets and tasks come back as they were put', () => {
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
    } as const
    const task = {
      taskId: 'T-1',
      owner: amber.haid,
      state: 'in_progress',
      title: 't',
      startedMs: 1,
      endedMs: null,
      summary: null,
    } as const
    const incursion = { pair: 'p', since: moment(3), count: 2, eventId: 'e' }
    store.write((rows) => {
      rows.putNote(note)
      rows.putNote({ ...note, messageId: 'm2', state: 'acked', ackedBy: 'human' })
      rows.putTask(task)
      rows.putIncursion(incursion)
      const first = rows.addTicket({ holder: 'a', scopes: [], refreshed: moment(1) })
      rows.addTicket({ holder: 'b', scopes: [], refreshed: moment(2) })
      rows.refreshTicket(first, moment(9))
      expect(rows.tickets().map(({ holder, refreshed }) => [holder, refreshed.monoMs])).toEqual([
        ['a', 9],
        ['b', 2],
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
}
