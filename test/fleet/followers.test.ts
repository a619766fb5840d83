// Programs that follow their fleet for hours: what is taken from them meanwhile ends none of them, and they take up what comes back.
import { cpSync, renameSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { HeimdallError } from '../../src/errors.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { CERTIFICATE, startTlsFront } from '../support/tls-front.ts'
import { until } from '../support/wait.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { box } from './box.ts'
import { testEngine } from './engine.ts'
import { type Machine, machine } from './machines.ts'

const engine = testEngine()

function started({ name, project }: Machine, ...args: string[]): Program {
  const program = startProgram([...launcher('heimdall'), ...args], {
    cwd: project.root,
    env: { ...project.env, USER: name },
  })
  onTestFinished(() => void program.child.kill('SIGKILL'))
  return program
}

test('a certificate that is gone for a while ends nobody who follows, and when it is back the log is heard again', async () => {
  const front = await startTlsFront(engine.server.port)
  onTestFinished(() => front.close())
  const [one, two] = [machine('ana'), machine('ben')]
  const ca = one.project.path('ca.crt')
  cpSync(CERTIFICATE, ca)
  const direct = await engine.server.database()
  const encrypted = new URL(`${direct}?sslmode=verify-full&sslrootcert=${ca}`)
  encrypted.hostname = 'localhost'
  encrypted.port = String(front.port)
  const { data } = await one.heimdall('fleet create --machine one', encrypted.href)
  const line = new URL(String(data['join']))
  const plain = new URL(direct)
  ;[plain.username, plain.password] = [line.username, line.password]
  expect(await two.heimdall('fleet join --machine two', plain.href)).toMatchObject({ ok: true })

  renameSync(ca, `${ca}.away`)
  const watch = started(one, 'watch', '--json')
  await until('the watch to begin', () => watch.stdout().includes('following'), { context: () => watch.stderr() })
  expect(await one.bb('agent register --name amber-otter --role backend')).toMatchObject({
    error: { code: 'CONFIG_INVALID', message: expect.stringContaining('ca.crt') as string },
  })
  await two.bb('agent register --name jade-heron --role backend')
  renameSync(`${ca}.away`, ca)
  await until('the watch to hear of it', () => watch.stdout().includes('jade-heron'), { context: () => watch.stderr() })
  watch.child.kill('SIGTERM')
  await watch.ended
})

test('with a new line the bell is heard by its role, and nobody knocks with the old one', async () => {
  const owner = await engine.server.database()
  const one = machine('ana')
  await one.heimdall('fleet create --machine one', owner)
  const link = started(one, 'fleet', 'link')
  const sql = await connect({ url: owner, isPooled: false })
  onTestFinished(() => sql.end())
  const listening = async (): Promise<unknown[]> => {
    const rows = await sql`SELECT usename AS role FROM pg_stat_activity
      WHERE datname = current_database() AND query ILIKE 'listen%'`
    return rows.map(({ role }) => role as unknown)
  }
  const roleOf = async (): Promise<unknown> =>
    (await sql`SELECT member_role AS role FROM heimdall.projects`)[0]?.['role']
  const first = await roleOf()
  await expect.poll(listening).toEqual([first])
  expect(await one.heimdall('fleet invite', owner)).toMatchObject({ ok: true })
  const second = await roleOf()
  expect(second).not.toBe(first)
  await expect.poll(listening).toEqual([second])
  link.child.kill('SIGTERM')
  expect(await link.ended).toMatchObject({ signal: null })
})

test('whoever closes its store follows no more, and what failed on the way fails nobody else', async () => {
  const one = box(await engine.project(), 'one')
  const following = one.room.store.link(new AbortController().signal)
  one.room.store.close()
  await following
  // The log cannot be opened, and the store is closed before that is known.
  const other = openCoordination({
    project: one.room.project,
    env: {},
    clock: one.clock,
    staleMinutes: 15,
    fleet: {
      openLog: () => Promise.reject(new HeimdallError('FLEET_NOT_JOINED', 'it has left')),
      isJoined: () => true,
    },
  })
  const told: string[] = []
  const linked = other.store.link(new AbortController().signal, ({ code }) => told.push(code))
  await expect.poll(() => told).toEqual(['FLEET_NOT_JOINED'])
  other.store.close()
  await linked
})
