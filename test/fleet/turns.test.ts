// Machines that contend for one log: each gets its turn, in order, and none waits for a turn that nobody uses.
import { expect, onTestFinished, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import type { Append, EntryPlace } from '../../src/coordination/shared-log.ts'
import type { HeimdallError } from '../../src/errors.ts'
import { connect, type Sql } from '../../src/fleet/engine-connection.ts'
import { placeIn } from '../../src/coordination/sqlite/places.ts'
import { FORMAT, RULES } from '../../src/fleet/log-version.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { wants } from '../coordination/room.ts'
import { asOwner, box, enter, stateOf } from './box.ts'
import { logOf, testEngine } from './engine.ts'

const engine = testEngine()

test('machines that contend all get theirs, and none of them is in the way of one that has its turn', async () => {
  const made = await engine.project()
  const boxes = ['one', 'two', 'three', 'four', 'five'].map((name) => box(made, name))
  const actors: AgentActor[] = []
  for (const [i, { room }] of boxes.entries()) actors.push(await enter(room, `agent-${i}`))
  await Promise.all(
    boxes.map(async ({ room }, i) => {
      for (let n = 0; n < 12; n += 1)
        expect(await claimScopes(room, actors[i] as AgentActor, wants(room, `own-${i}/${n}`))).toMatchObject({
          granted: true,
        })
    }),
  )
  await Promise.all(boxes.map(({ room }) => room.store.catchUp()))
  const [first, ...others] = boxes.map(({ path }) => stateOf(path))
  for (const other of others) expect(other).toEqual(first)
  // With its connection a backend tells what it has counted. Two that wait for each other cost a second each time.
  for (const { room } of boxes) room.store.close()
  const deadlocks = await asOwner(made, async (sql) => {
    for (;;) {
      const [busy] = await sql`SELECT FROM pg_stat_activity WHERE usename = ${new URL(made.url).username}`
      if (busy === undefined) break
    }
    const [row] = await sql`SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()`
    return row?.['n'] as number
  })
  expect(deadlocks).toBe(0)
})

test('whoever has the turn has what it lacks with it, and others stand in line until it is used, given back, or taken from one that fell silent', async () => {
  const made = await engine.project()
  const { room } = box(made, 'one')
  await enter(room, 'amber-otter')
  const head = room.store.read((rows) => rows.head())
  const logs = [await logOf(made, 'far')(), await logOf(made, 'near')()] as const
  onTestFinished(() => Promise.all(logs.map((log) => log.close())).then(() => undefined))
  const [far, near] = logs
  const after = (at: EntryPlace, id: string): Append => ({ at, id, body: '{}', signs: ['"a\\b"'], silent: [] })
  const stands = () =>
    asOwner(made, (sql) =>
      sql`SELECT pid FROM pg_locks WHERE NOT granted AND locktype IN ('tuple', 'transactionid')`.execute(),
    )

  const turn = await far.takeTurn({ seq: 0, id: '' })
  const last = turn?.entries.at(-1)
  expect(turn?.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, n) => n + 1))
  // The place is right, and it is another's turn: who has not met others yet is told so at once, and nobody stands in line.
  expect(await near.append(after({ seq: head, id: last?.id ?? '' }, 'at-once'), false)).toEqual({ kind: 'wait' })
  const waiting = near.append(after({ seq: head, id: last?.id ?? '' }, 'of-near'), true)
  await expect.poll(stands).toHaveLength(1)
  expect(await turn?.append(after({ seq: head, id: last?.id ?? '' }, 'of-far'))).toEqual({ kind: 'accepted' })
  expect(await waiting).toMatchObject({ kind: 'behind', entries: [{ seq: head + 1, id: 'of-far' }] })

  // Given back unused, it is the next one's.
  const unused = await near.takeTurn({ seq: head + 1, id: 'of-far' })
  expect(unused?.entries).toEqual([])
  const next = far.append(after({ seq: head + 1, id: 'of-far' }, 'second'), true)
  await expect.poll(stands).toHaveLength(1)
  await unused?.end()
  expect(await next).toEqual({ kind: 'accepted' })

  // Whoever falls silent in its turn loses it. That nothing was sent it knows once it has heard that it was hung up on; until
  // then what it sends is in doubt. Sent again without a turn, both are settled.
  const silent = await near.takeTurn({ seq: head + 2, id: 'second' })
  expect(await far.append(after({ seq: head + 2, id: 'second' }, 'third'), true)).toEqual({ kind: 'accepted' })
  const said = await silent?.append(after({ seq: head + 2, id: 'second' }, 'late')).then(
    ({ kind }) => kind,
    (error: unknown) => (error as HeimdallError).code,
  )
  expect(['wait', 'OUTCOME_UNKNOWN']).toContain(said)
  expect(await near.append(after({ seq: head + 2, id: 'second' }, 'late'), true)).toMatchObject({ kind: 'behind' })
})

test('those who stand in line are served in the order in which they came, though each turn moves the head', async () => {
  const made = await engine.project()
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const members = await Promise.all(names.map(() => connect({ url: made.url, isPooled: false })))
  onTestFinished(() => Promise.all(members.map((sql) => sql.end())).then(() => undefined))
  const inLine = () =>
    asOwner(made, (sql) =>
      sql`SELECT DISTINCT pid FROM pg_locks WHERE NOT granted AND locktype IN ('tuple', 'transactionid')`.execute(),
    )
  // With all the time of the world: how long a member waits is not what is asked here.
  const long = 600_000
  const served: string[] = []
  const serve = (sql: Sql, name: string, useTurn: () => Promise<unknown>): Promise<unknown> =>
    sql.begin(async (turn) => {
      const [head] =
        await turn`SELECT seq, id FROM heimdall.take_turn(${made.project}, ${name}, 0, '', 500, ${long}, ${long})
        WHERE kind = 'clock'`
      await useTurn()
      await turn`SELECT heimdall.append(${made.project}, ${name}, ${String(head?.['seq'])}, ${String(head?.['id'])},
        ${name}, '{}', ${FORMAT}, ${RULES}, '{}', '{}', '{}', 500, ${long})`
      served.push(name)
    })
  let begin = (): void => undefined
  const all: Promise<unknown>[] = []
  const everybodyStands = new Promise<void>((resolve) => (begin = resolve))
  await new Promise<void>((hasTurn) => all.push(serve(members[0] as Sql, 'a', () => (hasTurn(), everybodyStands))))
  for (const [i, sql] of members.slice(1).entries()) {
    all.push(serve(sql, names[i + 1] ?? '', () => Promise.resolve()))
    await expect.poll(inLine).toHaveLength(i + 1)
  }
  begin()
  await Promise.all(all)
  expect(served).toEqual(names)
})

test('processes of one machine stand in line like everybody else, and are served in the order in which they came', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const rooms = [one.room, one.another(), two.room, one.another()]
  const actors: AgentActor[] = []
  for (const [i, room] of rooms.entries()) actors.push(await enter(room, `agent-${i}`))
  const claims = await asOwner(made, (sql) =>
    sql.begin(async (first) => {
      await first`SELECT FROM heimdall.lines WHERE project = ${made.project} FOR UPDATE`
      const claiming: Promise<unknown>[] = []
      for (const [i, room] of rooms.entries()) {
        claiming.push(claimScopes(room, actors[i] as AgentActor, wants(room, `own-${i}`)))
        await expect
          .poll(() => first`SELECT DISTINCT pid FROM pg_locks WHERE NOT granted`.execute())
          .toHaveLength(i + 1)
      }
      return { claiming }
    }),
  ).then(({ claiming }) => Promise.all(claiming))
  expect(claims).toMatchObject(rooms.map(() => ({ granted: true })))
  // By the log: an answer may arrive after that of the next in line.
  const entries = await asOwner(made, (sql) =>
    sql<{ body: string }[]>`SELECT body FROM heimdall.entries WHERE project = ${made.project} ORDER BY seq`.execute(),
  )
  const served = entries.flatMap(({ body }) => /own-\d/.exec(body) ?? [])
  expect(served).toEqual(rooms.map((_, i) => `own-${i}`))
  await Promise.all([one, two].map(({ room }) => room.store.catchUp()))
  expect(stateOf(one.path)).toEqual(stateOf(two.path))
  expect([one, two].map(({ path }) => placeIn(path).pending)).toEqual([undefined, undefined])
})

test('what one process has in doubt is in nobody’s way, and is settled by whoever hears of it', async () => {
  const made = await engine.project()
  const proxy = await startTcpProxy(engine.server.port)
  onTestFinished(() => proxy.close())
  const one = box(made, 'one', { answerMs: 1_000 })
  const far = one.another(proxy.port)
  const [amber, cobalt] = [await enter(one.room, 'amber-otter'), await enter(far, 'cobalt-harbor')]
  // The engine has the entry, and its sender never hears of it.
  proxy.cutAfter('answers', 1)
  const inDoubt = claimScopes(far, cobalt, wants(far, 'in-doubt'))
  const inLog = () =>
    asOwner(made, (sql) => sql`SELECT FROM heimdall.entries WHERE body LIKE '%in-doubt%' AND project = ${made.project}`)
  await expect.poll(inLog).toHaveLength(1)
  // Another process goes on meanwhile. Told of the entry, it has it settled: what this machine alone knows of it too.
  expect(await claimScopes(one.room, amber, wants(one.room, 'other'))).toMatchObject({ granted: true })
  expect(placeIn(one.path).pending).toBeUndefined()
  const own = one.room.store.read((rows) => rows.claims({}).find(({ scopes: [scope] }) => scope?.raw === 'in-doubt'))
  expect(own).toMatchObject({ worktree: expect.stringMatching(/./) as string })
  proxy.mend()
  expect(await inDoubt).toMatchObject({ granted: true })
  expect(await inLog()).toHaveLength(1)
})
