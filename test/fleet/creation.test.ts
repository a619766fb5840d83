// Making a fleet when something fails on the way: nothing is left on the engine, or the next try takes it up.
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { CoordinationOptions } from '../../src/coordination/coordination.ts'
import { membershipIn } from '../../src/coordination/membership.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { createFleet } from '../../src/fleet/creation.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { findProject } from '../../src/paths.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import { enter } from './box.ts'
import { testEngine } from './engine.ts'
import { machine } from './machines.ts'

const engine = testEngine()

async function asked<T>(url: string, question: (sql: Awaited<ReturnType<typeof connect>>) => Promise<T>): Promise<T> {
  const sql = await connect({ url, isPooled: false })
  try {
    return await question(sql)
  } finally {
    await sql.end()
  }
}

/** Projects in the database, and roles of members on the whole server. */
const leftIn = (url: string): Promise<{ projects: number; roles: number }> =>
  asked(url, async (sql) => {
    const [there] = await sql`SELECT FROM pg_namespace WHERE nspname = 'heimdall'`
    const [projects] = there === undefined ? [] : await sql`SELECT count(*)::int AS n FROM heimdall.projects`
    const [roles] = await sql`SELECT count(*)::int AS n FROM pg_roles WHERE rolname LIKE 'heimdall\\_%'`
    return { projects: Number(projects?.['n'] ?? 0), roles: Number(roles?.['n']) }
  })

const through = (url: string, port: number): string => {
  const other = new URL(url)
  other.port = String(port)
  return other.href
}

/** A machine alone that has done something. */
async function alone(): Promise<{
  options: CoordinationOptions
  create: (url: string) => ReturnType<typeof createFleet>
}> {
  const root = temporaryFolder()
  const env = { HOME: root, USER: 'ana' }
  const options = { project: findProject(root, env), env, clock: systemClock, staleMinutes: 15 }
  const room = openCoordination(options)
  await enter(room, 'amber-otter')
  room.store.close()
  const joining = { options, isPooled: false, version: '0.0.0', name: 'shop', machine: 'box' }
  return { options, create: (url) => createFleet({ ...joining, url }) }
}

const isMember = (options: CoordinationOptions): boolean => {
  const room = openCoordination(options)
  try {
    return membershipIn(room.store) !== undefined
  } finally {
    room.store.close()
  }
}

test('a pooler that does not know the role of members: it is said so, nothing is left, and the server itself takes it', async () => {
  const url = await engine.server.database()
  const before = await leftIn(url)
  const pooler = await startTransactionPooler(engine.server.port, ['owner'])
  onTestFinished(() => pooler.close())
  const box = machine('ana')
  for (const flags of ['', ' --pooler'])
    expect(await box.heimdall(`fleet create${flags}`, through(url, pooler.port))).toMatchObject({
      error: {
        code: 'ENGINE_REFUSED',
        message: expect.stringMatching(/made for members is not let in.*no such user/) as string,
        hint: expect.stringContaining('auth_query') as string,
      },
    })
  expect(await leftIn(url)).toEqual(before)
  expect(await box.bb('agent register --name amber-otter --role backend')).toMatchObject({ ok: true })
  expect(await box.heimdall('fleet create', url)).toMatchObject({ ok: true })
  expect(await leftIn(url)).toEqual({ projects: 1, roles: before.roles + 1 })
})

test('an engine that refuses midway keeps what it had before, and nothing of the one that failed', async () => {
  const url = await engine.server.database()
  await (await alone()).create(url)
  const before = await leftIn(url)
  await asked(url, (sql) =>
    sql.unsafe(`CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk AFTER INSERT ON heimdall.snapshots FOR EACH ROW EXECUTE FUNCTION public.full()`),
  )
  const { options, create } = await alone()
  await expect(create(url)).rejects.toMatchObject({ code: 'ENGINE_REFUSED' })
  expect(await leftIn(url)).toEqual(before)
  expect(isMember(options)).toBe(false)
})

async function line(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(engine.server.port)
  onTestFinished(() => proxy.close())
  return proxy
}

test('a line that is cut at any byte: nothing is left, or the next create takes it up, and there is one project', async () => {
  const whole = await line()
  await (await alone()).create(through(await engine.server.database(), whole.port))
  for (const side of ['questions', 'answers'] as const) {
    const step = Math.ceil(whole.passed(side) / scaled(4, 80))
    for (let [bytes, n] = [step - 1, 0]; bytes < whole.passed(side); [bytes, n] = [bytes + step, n + 1]) {
      const url = await engine.server.database()
      const before = await leftIn(url)
      const { options, create } = await alone()
      const proxy = await line()
      // The line is there again at once, or it is gone, and with it the way to clean up.
      const isBack = n % 2 === 0
      proxy.cutAfter(side, bytes, () => (isBack ? proxy.mend() : proxy.close()))
      const said = await create(through(url, proxy.port)).then(
        () => 'made',
        ({ code }: { code: string }) => code,
      )
      // While it is still at the door the driver tries again, and when all is said it does not matter.
      expect([side, bytes, said, isMember(options)]).toEqual([side, bytes, said, said === 'made'])
      if (said !== 'made' && isBack) expect([side, bytes, said, await leftIn(url)]).toEqual([side, bytes, said, before])
      if (said !== 'made') await create(url)
      const left = { projects: 1, roles: before.roles + 1 }
      expect([side, bytes, said, await leftIn(url)]).toEqual([side, bytes, said, left])
    }
  }
})

test('owners are told whose the fleets of a database are, and what an owner needs', async () => {
  const url = await engine.server.database()
  const database = new URL(url).pathname.slice(1)
  await asked(url, (sql) =>
    sql.unsafe(`CREATE ROLE first LOGIN CREATEROLE; CREATE ROLE second LOGIN CREATEROLE; CREATE ROLE nobody LOGIN;
      GRANT CREATE ON DATABASE ${database} TO first, second`),
  )
  const as = (role: string): string => url.replace('owner@', `${role}@`)
  await expect((await alone()).create(as('nobody'))).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    hint: expect.stringContaining('CREATEROLE') as string,
  })
  await (await alone()).create(as('first'))
  await expect((await alone()).create(as('second'))).rejects.toMatchObject({
    code: 'ENGINE_REFUSED',
    message: expect.stringMatching(/belong to role "?first"?, and this URL is of "?second"?/) as string,
    hint: expect.stringContaining('another database') as string,
  })
  expect(await (await alone()).create(as('first'))).toMatchObject({ machine: 'box' })
})
