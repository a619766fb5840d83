// What an owner and members do about a fleet afterwards: a new line, a machine that will not come back, an end; and repositories that are none of its.
import { expect, onTestFinished, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { releaseClaims, renewClaims } from '../../src/coordination/claims/held.ts'
import { judgePaths } from '../../src/coordination/guard.ts'
import { placeIn } from '../../src/coordination/sqlite/places.ts'
import { endAgentsOn } from '../../src/coordination/who/expelled.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { FORMAT, RULES } from '../../src/fleet/log-version.ts'
import { wants } from '../coordination/room.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'
import { box, enter } from './box.ts'
import { testEngine } from './engine.ts'
import { type Machine, machine, type Said } from './machines.ts'

const engine = testEngine()

let owners = 0

/** A role that may do what docs/fleet.md says, and nothing else. */
async function ownerOf(url: string): Promise<string> {
  const [role, sql] = [`team${(owners += 1)}`, await connect({ url, isPooled: false })]
  await sql.unsafe(
    `CREATE ROLE ${role} LOGIN CREATEROLE; GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${role}`,
  )
  await sql.end()
  return url.replace('owner@', `${role}@`)
}

async function fleet(...others: string[]): Promise<{ owner: string; line: string; machines: Machine[] }> {
  const owner = await ownerOf(await engine.server.database())
  const first = machine('one')
  const made = await first.heimdall('fleet create --machine one --name shop', owner)
  const line = String(made.data['join'])
  const machines = [first]
  for (const name of others) {
    const other = machine(name)
    expect(await other.heimdall(`fleet join --machine ${name}`, line)).toMatchObject({ ok: true })
    machines.push(other)
  }
  return { owner, line, machines }
}

const membersIn = ({ data }: Said) =>
  (data['members'] as { machine: string; is_gone: boolean }[]).map(({ machine: name, is_gone }) => [name, is_gone])

const textOf = async ({ project }: Machine, ...args: string[]): Promise<string> =>
  (await project.run('heimdall', args)).stdout

test('a new line: the old one is worth nothing at once, and a member runs the new one and goes on where it was', async () => {
  const { owner, line, machines } = await fleet('two')
  const [one, two] = machines as [Machine, Machine]
  await two.bb('agent register --name jade-heron --role backend')
  await two.bb('agent reserve --agent jade-heron --scope lib')
  const connected = await connect({ url: line, isPooled: false })
  onTestFinished(() => connected.end())
  expect(await connected`SELECT name FROM heimdall.projects`).toMatchObject([{ name: 'shop' }])

  const invited = await one.heimdall('fleet invite', owner)
  expect(invited).toMatchObject({ ok: true, data: { name: 'shop' } })
  const fresh = String(invited.data['join'])
  await expect(connected`SELECT name FROM heimdall.projects`).rejects.toMatchObject({ code: '42501' })
  const shut = {
    error: { code: 'ENGINE_REFUSED', hint: expect.stringContaining('heimdall fleet invite') as string },
  }
  expect(await two.bb('agent reserve --agent jade-heron --scope docs')).toMatchObject(shut)
  expect(await machine('three').heimdall('fleet join', line)).toMatchObject(shut)
  // Who has made it has it already.
  expect(await one.bb('agent register --name amber-otter --role backend')).toMatchObject({ ok: true })

  expect(await two.heimdall('fleet join', fresh)).toMatchObject({
    ok: true,
    data: { machine: 'two', set_aside: null, seq: 3 },
  })
  expect(await two.bb('agent reserve --agent jade-heron --scope docs')).toMatchObject({ ok: true })
  expect(await one.bb('agent reserve --agent amber-otter --scope lib')).toMatchObject({ ok: false })
  expect(membersIn(await one.heimdall('fleet status'))).toEqual([
    ['one', false],
    ['two', false],
  ])
  // Another fleet's line is still none of its.
  expect(await two.heimdall('fleet join', (await fleet()).line)).toMatchObject({ error: { code: 'FLEET_JOINED' } })
})

test('a program that runs goes on with the new line of its machine', async () => {
  const { owner, machines } = await fleet()
  const [one] = machines as [Machine]
  const link = startProgram([...launcher('heimdall'), 'fleet', 'link'], { cwd: one.project.root, env: one.project.env })
  await until('the link to follow', () => link.stderr().includes('following'), { context: () => link.stderr() })
  const two = machine('two')
  const invited = await one.heimdall('fleet invite', owner)
  await two.heimdall('fleet join', String(invited.data['join']))
  await two.bb('agent register --name jade-heron --role backend')
  const seq = async (): Promise<unknown> => (await one.heimdall('fleet status')).data['seq']
  await expect.poll(seq).toBe(1)
  link.child.kill('SIGTERM')
  await link.ended
})

test('a machine that was expelled counts no more, its name is free, and it comes back under another', async () => {
  const { line, machines } = await fleet('two')
  const [one, two] = machines as [Machine, Machine]
  expect(await one.heimdall('fleet expel nobody')).toMatchObject({
    error: { code: 'FLEET_UNKNOWN', hint: expect.stringContaining('one, two') as string },
  })
  expect(await one.heimdall('fleet expel one')).toMatchObject({
    error: { code: 'INVALID_ARGS', hint: expect.stringContaining('fleet leave') as string },
  })
  expect(await textOf(one, 'fleet', 'expel', 'two')).toContain('heimdall fleet invite')
  expect(membersIn(await one.heimdall('fleet status'))).toEqual([
    ['one', false],
    ['two', true],
  ])
  expect(await machine('new').heimdall('fleet join --machine two', line)).toMatchObject({ data: { machine: 'two' } })
  expect(await two.heimdall('fleet join', line)).toMatchObject({ ok: true, data: { machine: 'two-2' } })
  expect(await two.heimdall('fleet status')).toMatchObject({ data: { machine: 'two-2' } })
  expect(await two.bb('agent register --name jade-heron --role backend')).toMatchObject({ ok: true })
})

test('what agents of an expelled machine held is free, unless they are active, and it changes nothing any more', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const [amber, jade] = [await enter(one.room, 'amber-otter'), await enter(two.room, 'jade-heron')]
  await claimScopes(two.room, jade, wants(two.room, 'lib'))
  await one.room.store.catchUp()
  const expel = async (isForced: boolean) =>
    endAgentsOn(one.room, { machine: 'two', elsewhere: new Set(), by: 'ana', isForced })
  // Active: it may be at work.
  expect(await expel(false)).toEqual({ freed: [], active: ['jade-heron'] })
  expect(await claimScopes(one.room, amber, wants(one.room, 'lib'))).toMatchObject({ granted: false })
  expect(
    await endAgentsOn(one.room, { machine: 'two', elsewhere: new Set([jade.haid]), by: 'ana', isForced: true }),
  ).toEqual({ freed: [], active: [] })

  const owner = await connect({ url: made.url, isPooled: false })
  onTestFinished(() => owner.end())
  await owner`SELECT heimdall.enter(${made.project}, 'two', 'two', '0', ${FORMAT}, ${RULES})`
  await owner`SELECT heimdall.leave(${made.project}, 'two')`
  one.clock.advance(16 * 60_000)
  const claim = one.room.store.read((rows) => rows.claims({ holder: jade.haid })[0])
  expect(await expel(false)).toEqual({ freed: [claim?.claimId], active: [] })
  const freed = await claimScopes(one.room, amber, wants(one.room, 'lib'))
  expect(freed).toMatchObject({ granted: true })
  if (freed.granted) expect(freed.claim.epoch).toBeGreaterThan(claim?.epoch ?? Infinity)

  // Whatever the machine does now is refused with words, also what it had decided on before it heard.
  const refused = { code: 'FLEET_EXPELLED', hint: expect.stringContaining('heimdall fleet join') as string }
  await expect(claimScopes(two.room, jade, wants(two.room, 'docs'))).rejects.toMatchObject(refused)
  await expect(renewClaims(two.room, jade, { cwd: '.' })).rejects.toMatchObject(refused)
  await expect(releaseClaims(two.room, jade, { cwd: '.' })).rejects.toMatchObject(refused)
  expect(placeIn(two.path).pending).toBeUndefined()
  // Its copy has heard: what it held is another's, and its guard says so.
  const held = two.room.store.read((rows) => rows.claims({ state: 'active' }).map(({ holder }) => holder))
  expect(held).toEqual([amber.haid])
  const committer = { kind: 'agent', haid: jade.haid, agentId: 'jade-heron', isProven: true, isRevoked: false } as const
  expect(judgePaths(two.room, committer, ['lib/a.ts'])).toMatchObject({
    outcome: 'refuse',
    collisions: [{ agentId: 'amber-otter' }],
  })
  // It comes back, and its agents register anew.
  await owner`SELECT heimdall.enter(${made.project}, 'two', 'two', '0', ${FORMAT}, ${RULES})`
  await expect(claimScopes(two.room, jade, wants(two.room, 'docs'))).rejects.toMatchObject({ code: 'IDENTITY_ENDED' })
  expect(await enter(two.room, 'dusky-lynx')).toBeDefined()
})

test('active agents of an expelled machine lose what they hold by the word of a person at a terminal', async () => {
  const { machines } = await fleet('two')
  const [one, two] = machines as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await two.bb('agent register --name jade-heron --role backend')
  await two.bb('agent reserve --agent jade-heron --scope lib')
  expect(await one.heimdall('fleet expel two --force')).toMatchObject({ error: { code: 'PERSON_REQUIRED' } })
  const terminal = ownTerminal([...launcher('heimdall'), 'fleet', 'expel', 'two', '--force'], {
    cwd: one.project.root,
    env: one.project.env,
  })
  await terminal.see('1 claim of its agents was released')
  expect(await terminal.ended).toBe(0)
  expect(await one.bb('agent reserve --agent amber-otter --scope lib')).toMatchObject({ ok: true })
  expect(await two.bb('agent reserve --agent jade-heron --scope docs')).toMatchObject({
    error: { code: 'FLEET_EXPELLED' },
  })
})

test('a project is deleted once it was named, and everybody goes on alone with what they have', async () => {
  const { owner, machines } = await fleet('two')
  const [one, two] = machines as [Machine, Machine]
  await two.bb('agent register --name jade-heron --role backend')
  await two.bb('agent reserve --agent jade-heron --scope lib')
  const stranger = machine('ben')
  await stranger.heimdall('fleet create --name other', owner)
  const outside = machine('cem')
  expect(await outside.heimdall('fleet remove --yes', owner)).toMatchObject({
    error: { code: 'FLEET_UNKNOWN', hint: expect.stringMatching(/"shop".*"other"/) as string },
  })
  expect(await outside.heimdall('fleet remove --project other', owner)).toMatchObject({
    error: { code: 'USAGE', hint: expect.stringContaining('--yes') as string },
  })
  expect(await outside.heimdall('fleet remove --project other --yes', owner)).toMatchObject({
    ok: true,
    data: { name: 'other', left: false },
  })
  expect(await stranger.bb('agent register --name amber-otter --role backend')).toMatchObject({
    error: { code: 'ENGINE_REFUSED' },
  })
  expect(await stranger.heimdall('fleet leave --offline')).toMatchObject({ ok: true })

  expect(await one.heimdall('fleet remove --yes', owner)).toMatchObject({ data: { name: 'shop', left: true } })
  expect(await one.bb('agent register --name dusky-lynx --role backend')).toMatchObject({ ok: true })
  expect(await one.bb('agent reserve --agent dusky-lynx --scope lib')).toMatchObject({ ok: false })
  const sql = await connect({ url: owner, isPooled: false })
  onTestFinished(() => sql.end())
  expect(await sql`SELECT FROM pg_namespace WHERE nspname = 'heimdall'`).toHaveLength(0)
  // And a new one is made in the same place.
  expect(await one.heimdall('fleet create', owner)).toMatchObject({ ok: true })
})

test('a repository that is no clone of the fleet’s is refused, unless it is meant; who cannot know is not asked', async () => {
  const { line, machines } = await fleet()
  const [one] = machines as [Machine]
  const joins = async (project: ReturnType<typeof temporaryProject>, ...more: string[]): Promise<unknown> =>
    JSON.parse((await project.run('heimdall', ['fleet', 'join', '--json', ...more], { stdin: line })).stdout)
  const unrelated = temporaryProject({ startedAt: '2020-02-02T00:00:00Z' })
  expect(await joins(unrelated)).toMatchObject({
    error: { code: 'FLEET_UNRELATED', hint: expect.stringContaining('--unrelated') as string },
  })
  expect(await joins(unrelated, '--unrelated')).toMatchObject({ ok: true })
  expect(await joins(temporaryProject({ git: false }))).toMatchObject({ ok: true })
  // A clone that was cut short has another first commit.
  one.project.git('commit', '--quiet', '--allow-empty', '--message=second')
  const short = temporaryProject({ git: false })
  short.git('clone', '--quiet', '--depth=1', `file://${one.project.root}`, '.')
  expect(await joins(short)).toMatchObject({ ok: true })
})

test('status says the project’s name and when the engine was heard, also where the fleet was made; leave says what stays', async () => {
  const { machines } = await fleet('two')
  const [one, two] = machines as [Machine, Machine]
  const status = await textOf(one, 'fleet', 'status')
  expect(status).toContain('"shop"')
  expect(status).toContain('0 entries behind')
  expect(status).not.toContain('never')
  await two.bb('agent register --name jade-heron --role backend')
  expect(await textOf(one, 'fleet', 'status')).toContain('1 entry behind')
  await two.bb('agent reserve --agent jade-heron --scope lib')
  expect(await textOf(two, 'fleet', 'leave')).toContain('1 claim of its agents stays in the fleet')
})
