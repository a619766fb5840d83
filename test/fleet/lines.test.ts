// What may stand between a member and its engine, and what the engine itself may lack: a pooler, a certificate that does not verify, a line that breaks all the time, a full disk.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { placeIn } from '../../src/coordination/sqlite/places.ts'
import type { HeimdallError } from '../../src/errors.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { onEngine } from '../../src/fleet/membership.ts'
import { keepIfDue } from '../../src/fleet/snapshots.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { ENGINE_ANSWER_MS } from '../../src/limits.ts'
import { scaled } from '../support/scale.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { CERTIFICATE, startTlsFront } from '../support/tls-front.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import { wants } from '../coordination/room.ts'
import { asOwner, box, enter, stateOf } from './box.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()

test('behind a pooler in transaction mode members work, whether they have said so or not', async () => {
  const made = await engine.project()
  const pooler = await startTransactionPooler(engine.server.port)
  onTestFinished(() => pooler.close())
  const boxes = [
    box(made, 'aware', { port: pooler.port, isPooled: true }),
    box(made, 'unaware', { port: pooler.port }),
    box(made, 'direct'),
  ]
  const actors: AgentActor[] = []
  for (const [i, { room }] of boxes.entries()) actors.push(await enter(room, `agent-${i}`))
  for (let n = 0; n < 6; n += 1)
    for (const [i, { room }] of boxes.entries()) {
      const { granted } = await claimScopes(room, actors[i] as AgentActor, wants(room, `a/${n}`))
      expect([n, i, granted]).toEqual([n, i, i === 0])
    }
  await Promise.all(boxes.map(({ room }) => room.store.catchUp()))
  const [first, ...others] = boxes.map(({ path }) => stateOf(path))
  for (const other of others) expect(other).toEqual(first)
  // Where nothing that was prepared is ever found again, it is said what to do.
  await expect(
    onEngine({ url: made.url, isPooled: false }, (ask) => ask((sql) => sql.unsafe('EXECUTE nothing').execute())),
  ).rejects.toMatchObject({ code: 'ENGINE_REFUSED', hint: expect.stringContaining('--rebuild --pooler') as string })
})

test('a server that cannot prove itself is refused before a password is sent, with what to do', async () => {
  const made = await engine.project()
  const front = await startTlsFront(engine.server.port)
  onTestFinished(() => front.close())
  const at = (host: string, more: string): { url: string; isPooled: false } => {
    const url = new URL(`${made.url}?sslmode=verify-full${more}`)
    url.port = String(front.port)
    return { url: url.href.replace('127.0.0.1', host), isPooled: false }
  }
  const ask = (host: string, more: string): Promise<unknown> =>
    onEngine(at(host, more), (question) => question((sql) => sql`SELECT 1 AS one`.execute()))
  const trusted = `&sslrootcert=${CERTIFICATE}`
  const refused = { code: 'ENGINE_REFUSED', hint: expect.stringContaining('sslrootcert') as string }
  await expect(ask('localhost', '')).rejects.toMatchObject(refused)
  // Somebody else's certificate, however well it is signed.
  await expect(ask('127.0.0.1', trusted)).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    hint: expect.stringContaining('for another name') as string,
  })
  expect(await ask('localhost', trusted)).toMatchObject([{ one: 1 }])
  await expect(ask('localhost', '&sslrootcert=/nowhere.pem')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('/nowhere.pem') as string,
  })
})

test('a server that does not speak TLS is said to be one, and what is asked of it', async () => {
  const { url } = await engine.project()
  await expect(
    onEngine({ url: `${url}?sslmode=verify-full`, isPooled: false }, (ask) => ask((sql) => sql`SELECT`.execute())),
  ).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    message: expect.stringContaining('does not speak TLS') as string,
    hint: expect.stringContaining('verify-full') as string,
  })
})

test('an engine that takes connections and says nothing is told as one that cannot be reached, with TLS as without', async () => {
  const made = await engine.project()
  const askedOf = async (more: string): Promise<unknown> => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const { room, path } = box({ ...made, url: `${made.url}${more}` }, `one${more.length}`, { port })
    const refused = await enter(room, 'amber-otter').catch(({ code }: HeimdallError) => code)
    // Asked once: who does not speak is not asked whether it speaks TLS.
    return { refused, asked: sockets.length, pending: placeIn(path).pending }
  }
  const told = { refused: 'ENGINE_UNREACHABLE', asked: 1, pending: undefined }
  expect(await Promise.all([askedOf(''), askedOf('?sslmode=verify-full')])).toEqual([told, told])
})

test('an engine without room changes nothing, says so, and goes on when it has some', async () => {
  const made = await engine.project()
  const { room } = box(made, 'one')
  const amber = await enter(room, 'amber-otter')
  const head = room.store.read((rows) => rows.head())
  // As the server itself says it, with the entry half written.
  await asOwner(made, (sql) =>
    sql.unsafe(`CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk AFTER INSERT ON heimdall.entries FOR EACH ROW
        WHEN (NEW.project = '${made.project}') EXECUTE FUNCTION public.full()`),
  )
  await expect(claimScopes(room, amber, wants(room, 'src'))).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    hint: expect.stringContaining('no disk') as string,
  })
  await asOwner(made, (sql) => sql.unsafe('DROP TRIGGER full_disk ON heimdall.entries; DROP FUNCTION public.full()'))
  await room.store.catchUp()
  expect(room.store.read((rows) => [rows.head(), rows.claims({}).length])).toEqual([head, 0])
  expect(await claimScopes(room, amber, wants(room, 'src'))).toMatchObject({ granted: true })
})

test('over a line that breaks every few hundred bytes each claim is committed once, and nobody is told otherwise', async () => {
  const made = await engine.project()
  const proxy = await startTcpProxy(engine.server.port)
  onTestFinished(() => proxy.close())
  const [near, far] = [box(made, 'near'), box(made, 'far', { port: proxy.port })]
  const cobalt = await enter(far.room, 'cobalt-harbor')
  const count = scaled(10, 300)
  for (let n = 0; n < count; n += 1) {
    // What is cut is now a question, now an answer, each time at another byte; what comes after it passes until the next claim.
    const side = n % 2 === 0 ? 'questions' : 'answers'
    proxy.delay(n % 3)
    proxy.cutAfter(side, 1 + ((n * 97) % 400))
    const claiming = claimScopes(far.room, cobalt, wants(far.room, `far/${n}`))
    const over = claiming.finally(() => clearInterval(mending))
    const mending = setInterval(() => proxy.mend(), 40)
    expect(await over).toMatchObject({ granted: true, renewed: false })
  }
  await near.room.store.catchUp()
  const scopes = near.room.store.read((rows) => rows.claims({}).map(({ scopes: [scope] }) => scope?.raw))
  expect(scopes).toEqual(Array.from({ length: count }, (_, n) => `far/${n}`))
  const sql = await connect({ url: made.url, isPooled: false })
  onTestFinished(() => sql.end())
  const ids = await sql`SELECT count(*)::int AS n, count(DISTINCT id)::int AS d FROM heimdall.entries`
  expect(ids).toMatchObject([{ n: count + 1, d: count + 1 }])
})

test('what takes several questions may take longer than an answer: a large snapshot goes over a slow line', async () => {
  const made = await engine.project()
  const near = box(made, 'near')
  await enter(near.room, 'ana')
  const clock = fakeClock()
  const waitsFor = (table: string) => () =>
    asOwner(made, (sql) =>
      sql`SELECT FROM pg_locks WHERE NOT granted AND relation = ${`heimdall.${table}`}::regclass`.execute(),
    )
  await asOwner(made, (first) =>
    first.begin(async (project) => {
      await project`LOCK TABLE heimdall.projects IN ACCESS EXCLUSIVE MODE`
      const kept = await asOwner(made, (second) =>
        second.begin(async (snapshots) => {
          await snapshots`LOCK TABLE heimdall.snapshots IN SHARE MODE`
          const keeping = onEngine(
            { url: made.url, isPooled: false },
            (ask) => keepIfDue(ask, made.project, near.path, 1),
            clock,
          )
          await expect.poll(waitsFor('projects')).toHaveLength(1)
          clock.advance(0.6 * ENGINE_ANSWER_MS)
          await project`ROLLBACK`
          await expect.poll(waitsFor('snapshots')).toHaveLength(1)
          clock.advance(0.6 * ENGINE_ANSWER_MS)
          return { keeping }
        }),
      )
      expect(await kept.keeping).toBe(true)
    }),
  )
})
