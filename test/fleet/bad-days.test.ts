// What a fleet promises on bad days: each answer that got lost is settled as committed once or not at all, silence is the engine's, forks and strange versions are told.
import { expect, onTestFinished, test } from 'vitest'
import type { AgentActor } from '../../src/coordination/change.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { releaseClaims } from '../../src/coordination/claims/held.ts'
import { waitForClaim } from '../../src/coordination/claims/queue.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { inbox, sendNote } from '../../src/coordination/notes.ts'
import { heartbeat } from '../../src/coordination/who/registration.ts'
import type { Store } from '../../src/coordination/store.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { onEngine } from '../../src/fleet/membership.ts'
import { keepIfDue } from '../../src/fleet/snapshots.ts'
import { scaled } from '../support/scale.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { wants } from '../coordination/room.ts'
import { asOwner, box, enter, type Made, stateOf } from './box.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()

const head = (store: Store): number => store.read((rows) => rows.head())

test('two machines that claim at once: one is granted, the other is told who holds it, and both have the same rows', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const [amber, cobalt] = [await enter(one.room, 'amber-otter'), await enter(two.room, 'cobalt-harbor')]
  for (let round = 0; round < scaled(15, 2_000); round += 1) {
    const [a, b] = await Promise.all([
      claimScopes(one.room, amber, wants(one.room, `src/${round}`)),
      claimScopes(two.room, cobalt, wants(two.room, `src/${round}/x.ts`)),
    ])
    expect([a.granted, b.granted].filter(Boolean)).toHaveLength(1)
  }
  await Promise.all([one.room.store.catchUp(), two.room.store.catchUp()])
  expect(stateOf(one.path)).toEqual(stateOf(two.path))
})

async function line(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(engine.server.port)
  onTestFinished(() => proxy.close())
  return proxy
}

/** A change that is tried with a broken line, and how often others see that it has happened. */
interface Change {
  make(room: Coordination, actor: AgentActor, subject: string): Promise<'done' | 'refused'>
  seen(room: Coordination, subject: string): number
}

const CLAIM: Change = {
  make: async (room, actor, subject) =>
    (await claimScopes(room, actor, wants(room, subject))).granted ? 'done' : 'refused',
  seen: ({ store }, subject) =>
    store.read((rows) =>
      rows.claims({ state: 'active' }).filter((claim) => claim.scopes.some(({ raw }) => raw === subject)),
    ).length,
}

/** Decided a second time, a claim is found to be held; a note is sent twice. */
const NOTE: Change = {
  async make(room, actor, subject) {
    await sendNote(room, actor, { to: 'witness', task: 'T-1', category: 'INFO', subject, body: 'once' })
    return 'done'
  },
  seen: (room, subject) => inbox(room, { agent: 'witness' }).filter((note) => note.subject === subject).length,
}

interface Cutting {
  readonly made: Made
  readonly change: Change
  /** On other machines, before each. */
  readonly before: (n: number) => Promise<unknown>
}

/** Cuts the line at this byte of the exchange of one change, mends it, and says what became of the change. */
async function cutAt(
  proxy: TcpProxy,
  { made, change, before }: Cutting,
  { side, bytes, n }: { readonly side: 'questions' | 'answers'; readonly bytes: number; readonly n: number },
) {
  const far = box(made, `far-${side}-${n}`, { port: proxy.port, answerMs: 20_000 })
  const actor = await enter(far.room, `cut-${side}-${n}`)
  await before(n)
  proxy.mend()
  proxy.cutAfter(side, bytes)
  const subject = `${side}/${n}`
  const outcome = change.make(far.room, actor, subject).catch((error: { code: string }) => error.code)
  // The line is mended while the command still tries.
  const timer = bytes === Infinity ? undefined : setTimeout(() => proxy.mend(), 30)
  const said = await outcome
  clearTimeout(timer)
  // Mending counts anew: of a line that was never cut this is all of it.
  const passed = { questions: proxy.passed('questions'), answers: proxy.passed('answers') }
  proxy.mend()
  return { said, room: far.room, subject, passed }
}

/** As the server has counted them: the cut is in a turn only if there is one. */
const callsOf = (made: Made, name: string): Promise<number> =>
  asOwner(made, async (sql) => {
    const [row] = await sql`SELECT calls::int AS n FROM pg_stat_user_functions WHERE funcname = ${name}`
    return (row?.['n'] as number | undefined) ?? 0
  })

/** At every byte of both sides of one exchange. */
async function cutEverywhere(cutting: Cutting): Promise<void> {
  const proxy = await line()
  const witness = box(cutting.made, 'witness')
  await enter(witness.room, 'witness')
  const { passed: lengths, said: uncut } = await cutAt(proxy, cutting, { side: 'answers', bytes: Infinity, n: 0 })
  expect(uncut).toBe('done')
  expect(Math.min(lengths.questions, lengths.answers)).toBeGreaterThan(50)
  let n = 0
  for (const side of ['questions', 'answers'] as const) {
    const step = Math.max(1, Math.floor(lengths[side] / scaled(7, lengths[side])))
    for (let bytes = 0; bytes <= lengths[side]; bytes += step) {
      n += 1
      const { said, room, subject } = await cutAt(proxy, cutting, { side, bytes, n })
      // Whatever was in doubt is settled by the next command.
      await room.store.catchUp()
      room.store.close()
      await witness.room.store.catchUp()
      const seen = cutting.change.seen(witness.room, subject)
      const due = said === 'done' ? 1 : said === 'OUTCOME_UNKNOWN' ? Math.min(1, seen) : 0
      expect([side, bytes, said, seen]).toEqual([side, bytes, said, due])
    }
  }
}

test.each([
  ['claim', CLAIM],
  ['note', NOTE],
] as const)(
  'an answer to a %s that is lost at any byte ends as committed once or not at all, and the caller is told the truth',
  async (_, change) => {
    await cutEverywhere({ made: await engine.project(), change, before: async () => undefined })
  },
)

test('so does one that is lost at any byte of a turn, and the turn goes to the next one', async () => {
  const made = await engine.project()
  const near = box(made, 'near')
  const amber = await enter(near.room, 'amber-otter')
  // Somebody has written since the far machine last did: too late once, it stands in line, and decides in its turn.
  const before = (n: number) => claimScopes(near.room, amber, wants(near.room, `near/${n}`))
  await asOwner(made, (sql) => sql.unsafe(`ALTER ROLE ${new URL(made.url).username} SET track_functions = 'pl'`))
  await cutEverywhere({ made, change: CLAIM, before })
  await expect.poll(() => callsOf(made, 'take_turn')).toBeGreaterThan(14)
  // Nobody is left in a turn: the next claim is granted without a wait for one to fall silent.
  expect(await claimScopes(near.room, amber, wants(near.room, 'after'))).toMatchObject({ granted: true })
})

test('an engine that stops answering: OUTCOME_UNKNOWN never grants twice, and goes on where it stood', async () => {
  const made = await engine.project()
  const proxy = await line()
  const [near, far] = [box(made, 'near'), box(made, 'far', { port: proxy.port, answerMs: 300 })]
  const [amber, cobalt] = [await enter(near.room, 'amber-otter'), await enter(far.room, 'cobalt-harbor')]
  proxy.stop()
  const claiming = claimScopes(far.room, cobalt, wants(far.room, 'src'))
  // Meanwhile the near machine takes the place in the log that the far one has asked for.
  expect(await claimScopes(near.room, amber, wants(near.room, 'src/a.ts'))).toMatchObject({ granted: true })
  proxy.mend()
  expect(await claiming).toMatchObject({ granted: false })
  await near.room.store.catchUp()
  expect(stateOf(near.path)).toEqual(stateOf(far.path))
})

test('liveness is the engine’s: a beating owner is safe from clocks hours apart, a silent one is taken over, and not once it has spoken', async () => {
  const made = await engine.project()
  const hour = 3_600_000
  const [one, two] = [box(made, 'one'), box(made, 'two', { aheadMs: 30 * hour })]
  const [amber, cobalt] = [await enter(one.room, 'amber-otter'), await enter(two.room, 'cobalt-harbor')]
  await claimScopes(one.room, amber, wants(one.room, 'src'))
  const takeover = { takeover: 'stale' as const }
  expect(await claimScopes(two.room, cobalt, wants(two.room, 'src', takeover))).toMatchObject({ granted: false })
  // By the engine's clock the owner has been silent for an hour, and this machine has just heard of it.
  const silence = (): Promise<unknown> =>
    asOwner(
      made,
      (sql) => sql`UPDATE heimdall.signs SET at = at - interval '1 hour', count = count + 1
      WHERE project = ${made.project} AND who = ${amber.haid}`,
    )
  await silence()
  // Counted from the engine's own start, which was moments ago: nobody could be heard before it.
  expect(await claimScopes(two.room, cobalt, wants(two.room, 'src', takeover))).toMatchObject({ granted: false })
  // Observed for as long as it takes, the owner is taken for silent. But it has spoken elsewhere meanwhile.
  two.clock.advance(2 * hour)
  await claimScopes(one.room, amber, wants(one.room, 'docs'))
  expect(await claimScopes(two.room, cobalt, wants(two.room, 'src', takeover))).toMatchObject({ granted: false })
  two.clock.advance(2 * hour)
  // A sign of life alone is in no entry: the engine refuses what was decided without it.
  one.clock.advance(hour)
  await heartbeat(one.room, amber)
  expect(await claimScopes(two.room, cobalt, wants(two.room, 'src', takeover))).toMatchObject({ granted: false })
  two.clock.advance(2 * hour)
  expect(await claimScopes(two.room, cobalt, wants(two.room, 'src', takeover))).toMatchObject({ granted: true })
  // The displaced holder is fenced off on its own machine.
  await expect(releaseClaims(one.room, amber, { scopes: ['src'], cwd: one.room.project.root })).rejects.toMatchObject({
    code: expect.stringMatching(/CLAIM_FENCED|RELEASE_FORBIDDEN|RESERVATION_NOT_FOUND/) as string,
  })
})

test('who waits on one machine is woken by a release on another', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const [amber, cobalt] = [await enter(one.room, 'amber-otter'), await enter(two.room, 'cobalt-harbor')]
  await claimScopes(one.room, amber, wants(one.room, 'src'))
  const queued = new Promise<void>((resolve) => {
    void waitForClaim(two.room, cobalt, wants(two.room, 'src'), { timeoutMs: 600_000, onQueued: () => resolve() }).then(
      (result) => results.push(result.granted),
    )
  })
  const results: boolean[] = []
  await queued
  // Whoever only follows hears of those who wait, by the engine's clock.
  const three = box(made, 'three')
  const signs = () => asOwner(made, (sql) => sql`SELECT FROM heimdall.signs WHERE who LIKE 'ticket:%'`.execute())
  await expect.poll(signs).toHaveLength(1)
  for (let n = 0; n < 3; n += 1) await three.room.store.catchUp()
  await releaseClaims(one.room, amber, { scopes: ['src'], cwd: one.room.project.root })
  await expect.poll(() => results).toEqual([true])
})

test('an engine that lost entries is told by number and id, and nothing is decided on either side of the fork', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const amber = await enter(one.room, 'amber-otter')
  await claimScopes(one.room, amber, wants(one.room, 'src'))
  const at = head(one.room.store)
  // A failover to a standby that had not got the last entry.
  await asOwner(made, async (sql) => {
    await sql`DELETE FROM heimdall.entries WHERE project = ${made.project} AND seq = ${at}`
    await sql`UPDATE heimdall.projects SET seq = ${at - 1}, entry_id = (SELECT id FROM heimdall.entries
      WHERE project = ${made.project} AND seq = ${at - 1}) WHERE id = ${made.project}`
  })
  const forked = { code: 'STORE_FORKED' }
  await expect(claimScopes(one.room, amber, wants(one.room, 'docs'))).rejects.toMatchObject(forked)
  // Another machine writes to the same number: the number alone would look right.
  await enter(two.room, 'cobalt-harbor')
  expect(head(two.room.store)).toBe(at)
  await expect(claimScopes(one.room, amber, wants(one.room, 'docs'))).rejects.toMatchObject(forked)
  await expect(one.room.store.catchUp()).rejects.toMatchObject(forked)
})

test('a member a version behind is refused, and its copy stops at what it does not know', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const amber = await enter(one.room, 'amber-otter')
  await asOwner(made, (sql) => sql`UPDATE heimdall.projects SET rules = 9 WHERE id = ${made.project}`)
  await expect(claimScopes(one.room, amber, wants(one.room, 'src'))).rejects.toMatchObject({ code: 'FLEET_NEWER' })
  await asOwner(made, async (sql) => {
    await sql`UPDATE heimdall.projects SET rules = 1 WHERE id = ${made.project}`
    await sql`UPDATE heimdall.entries SET format = 9 WHERE project = ${made.project} AND seq = 1`
  })
  await expect(two.room.store.catchUp()).rejects.toMatchObject({ code: 'FLEET_NEWER' })
  expect(head(two.room.store)).toBe(0)
})

test('members call functions and read their own project; tables, other projects and owners’ doors stay shut', async () => {
  const [mine, other] = [await engine.project(), await engine.project()]
  const own = box(mine, 'one')
  await enter(own.room, 'amber-otter')
  const sql = await connect({ url: mine.url, isPooled: false })
  onTestFinished(() => sql.end())
  const denied = { code: '42501' }
  await expect(
    sql`INSERT INTO heimdall.entries (project, seq, id, format, member, body) VALUES (${mine.project}, 2, 'x', 1, 'm', '{}')`,
  ).rejects.toMatchObject(denied)
  await expect(sql`UPDATE heimdall.projects SET seq = 0`).rejects.toMatchObject(denied)
  await expect(sql`DELETE FROM heimdall.entries`).rejects.toMatchObject(denied)
  await expect(sql`SELECT heimdall.sign(${mine.project}, 'm', ARRAY['x'])`).rejects.toMatchObject(denied)
  await expect(
    sql`SELECT * FROM heimdall.append(${other.project}, 'm', 0, '', 'x', '{}', 1, 1, '{}', '{}', '{}', 10, 1000)`,
  ).rejects.toMatchObject(denied)
  await expect(
    sql`SELECT * FROM heimdall.take_turn(${other.project}, 'm', 0, '', 10, 1000, 1000)`,
  ).rejects.toMatchObject(denied)
  expect(await sql`SELECT id FROM heimdall.projects`).toEqual([{ id: mine.project }])
  expect(await sql`SELECT DISTINCT project FROM heimdall.entries`).toEqual([{ project: mine.project }])
})

test('bodies below the second newest snapshot go; whoever was away for longer is told, and how to come back', async () => {
  const made = await engine.project()
  const near = box(made, 'near')
  const away = box(made, 'away')
  const ana = await enter(near.room, 'ana')
  const keep = (): Promise<boolean> =>
    onEngine({ url: made.url, isPooled: false }, (ask) => keepIfDue(ask, made.project, near.path, 1))
  expect(await keep()).toBe(true)
  expect(await keep()).toBe(false)
  await claimScopes(near.room, ana, wants(near.room, ['a/**']))
  expect(await keep()).toBe(true)
  await expect(away.room.store.catchUp()).rejects.toMatchObject({
    code: 'FOLLOW_TOO_OLD',
    hint: expect.stringContaining('fleet join --rebuild'),
  })
})

test('an engine that is read-only, as a standby is, grants nothing and is told', async () => {
  const made = await engine.project()
  const before = box(made, 'before')
  const ana = await enter(before.room, 'ana')
  await asOwner(made, (sql) =>
    sql.unsafe(`ALTER ROLE ${new URL(made.url).username} SET default_transaction_read_only = on`),
  )
  const after = box(made, 'after')
  await expect(enter(after.room, 'ben')).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    hint: expect.stringContaining('read-only'),
  })
  // Whoever is connected already goes on: the setting is for new connections.
  expect(await claimScopes(before.room, ana, wants(before.room, ['a/**']))).toMatchObject({ granted: true })
})
