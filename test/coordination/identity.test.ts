// Identities: one holder per live session, secrets that prove, epochs that fence, revocation in one place.
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { claimScopes, listClaims } from '../../src/coordination/claims/claims.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { startTask } from '../../src/coordination/tasks.ts'
import { adopt, findEvidence } from '../../src/coordination/who/adoption.ts'
import { actAs, caller } from '../../src/coordination/who/caller.ts'
import { joinAsClient } from '../../src/coordination/who/clients.ts'
import { endSession, type Enrolled } from '../../src/coordination/who/enrol.ts'
import { keysOf, readKey } from '../../src/coordination/who/key-files.ts'
import { heartbeat, register, registerHaid } from '../../src/coordination/who/registration.ts'
import { hm } from '../hm/hm.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { ownTerminal, type OwnTerminal } from '../support/own-terminal.ts'
import { type Ending, launcher } from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { BIN, Shell, shellIn } from '../support/shell.ts'
import { needs } from '../support/needs.ts'
import { enter, MINUTE, openRoom, wants } from './room.ts'
import { silence } from './silence.ts'

const actorOf = ({ agent, secret }: Enrolled): AgentActor => ({ kind: 'agent', haid: agent.haid, secret })

test('two live clients of one human on one machine are two holders, and collide (coordination-origin §0.5)', async () => {
  const room = openRoom({ fateOf: () => 'alive' })
  const cursor = await joinAsClient(room, { client: 'cursor', process: 'p11' })
  const copilot = await joinAsClient(room, { client: 'copilot', process: 'p12' })
  const second = await joinAsClient(room, { client: 'cursor', process: 'p13' })
  expect(cursor.agent.haid).toBe(`${room.rootHaid}/cursor`)
  expect(second.agent.haid).toMatch(new RegExp(`^${room.rootHaid}/cursor-[0-9a-f]{4}$`))
  expect((await claimScopes(room, actorOf(cursor), wants(room, 'src/a/**'))).granted).toBe(true)
  for (const other of [copilot, second])
    expect((await claimScopes(room, actorOf(other), wants(room, 'src/a/x.ts'))).granted).toBe(false)
})

test('a name is free again when its session ended or its process is gone, unless it still holds something', async () => {
  const gone = new Set<string>()
  const room = openRoom({ fateOf: (ref) => (gone.has(ref) ? 'gone' : 'alive') })
  const first = await joinAsClient(room, { client: 'cursor', process: 'p11' })
  await claimScopes(room, actorOf(first), wants(room, 'src'))
  gone.add('p11')
  // Its claim would go with the name, and that would be adoption without evidence.
  expect((await joinAsClient(room, { client: 'cursor', process: 'p12' })).agent.haid).not.toBe(first.agent.haid)
  expect((await endSession(room, actorOf(first))).released).toHaveLength(1)
  const again = await joinAsClient(room, { client: 'cursor', process: 'p13' })
  expect([again.agent.haid, again.agent.runtime.epoch]).toEqual([first.agent.haid, 2])
  await expect(async () => heartbeat(room, actorOf(first))).rejects.toThrow(
    expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }),
  )
})

test('ending a session releases its claims and closes its secret', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  await claimScopes(room, amber, wants(room, 'src'))
  await claimScopes(room, amber, wants(room, 'docs'))
  expect((await endSession(room, amber)).released).toHaveLength(2)
  expect(listClaims(room)).toEqual([])
  await expect(async () => heartbeat(room, amber)).rejects.toThrow(expect.objectContaining({ code: 'IDENTITY_ENDED' }))
})

test('adoption gives the next epoch, keeps the claims, and fences the session before it', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const amber = await enter(room, 'amber-otter')
  await claimScopes(room, amber, wants(room, 'src', { task: 'T-9' }))
  expect(findEvidence(room, 'amber-otter')).toBeUndefined()
  await startTask(room, amber, { taskId: 'T-1', title: 'Parser' })
  // It has beaten just now, and no evidence helps.
  await expect(async () => adopt(room, 'amber-otter')).rejects.toThrow(
    expect.objectContaining({ code: 'ADOPTION_REJECTED' }),
  )
  clock.advance(15 * MINUTE)
  const adopted = await adopt(room, 'amber-otter')
  // Seed 002 §3.4, §6.1: with the beads of what comes along, and addressed.
  const events = listEvents(room)
  expect(events.filter((event) => event.event_type === 'RESUME')).toMatchObject([
    { to_agent: 'amber-otter', bead_id: 'T-1', payload: { tasks: ['T-1', 'T-9'] } },
  ])
  for (const event of events) if (event.actor_kind === 'agent') expect(event.to_agent).not.toBeNull()
  expect([adopted.agent.runtime.epoch, adopted.evidence?.reason]).toEqual([2, 'in_progress_ownership'])
  await expect(async () => claimScopes(room, amber, wants(room, 'docs'))).rejects.toThrow(
    expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }),
  )
  expect((await claimScopes(room, actorOf(adopted), wants(room, 'src'))).granted).toBe(true)
})

test('no evidence helps while the process of the session runs; a person may confirm without evidence, on record', async () => {
  const running = openRoom({ fateOf: () => 'alive' })
  const busy = await register(running, { name: 'amber-otter', role: 'agent', process: 'p99' })
  await startTask(running, actorOf(busy), { taskId: 'T-1', title: 'Parser' })
  await expect(async () => adopt(running, 'amber-otter')).rejects.toThrow(/process of its session is running/)
  expect((await adopt(running, 'amber-otter', { confirmedBy: 'ana' })).agent.runtime.epoch).toBe(2)
  const room = openRoom()
  await enter(room, 'amber-otter')
  await adopt(room, 'amber-otter', { confirmedBy: 'ana' })
  expect(room.store.read((rows) => rows.events({ types: ['RESUME'] }))).toMatchObject([
    {
      actorKind: 'human',
      payload: { resume_reason: 'in_progress_ownership', confirmed_by_human: true, confirmed_by: 'ana' },
    },
  ])
})

test('silence is no end: a client whose process runs keeps its label, the next one gets another', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock, fateOf: () => 'alive' })
  const first = await joinAsClient(room, { client: 'claude-code', process: 'p11' })
  clock.advance(30 * MINUTE)
  const { agent } = await joinAsClient(room, { client: 'claude-code', process: 'p12' })
  expect(agent.haid).toMatch(/\/claude-code-[0-9a-f]{4}$/)
  expect(room.store.read((rows) => rows.agent(first.agent.haid)?.runtime.epoch)).toBe(1)
})

test('HAIDs that come without a name get one that is an agent id and free', async () => {
  const room = openRoom()
  const ids: string[] = []
  for (const haid of [room.rootHaid, `${room.rootHaid}/ab`, `${room.rootHaid}/cursor`, 'haid:eve.other-00ff/cursor'])
    ids.push((await registerHaid(room, haid))?.agent.agentId ?? '')
  expect(new Set(ids).size).toBe(4)
  for (const id of ids) expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
  expect(await registerHaid(room, room.rootHaid)).toBeUndefined()
})

test('a key that others could read is no key', () => {
  const room = openRoom()
  const { project, rootHaid } = room
  expect(readKey(project, rootHaid)).toBeUndefined()
  keysOf(room).keep(rootHaid, 'secret')
  const path = join(project.coordinationDir, 'keys', `${rootHaid.replaceAll(/[/:]/g, '_')}.key`)
  expect([readKey(project, rootHaid), statSync(path).mode & 0o777]).toEqual(['secret', 0o600])
  chmodSync(path, 0o640)
  expect(() => readKey(project, rootHaid)).toThrow(expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }))
})

test('whoever is killed between the commit and the keeping of its key has locked nobody out', async () => {
  const room = openRoom({ fateOf: () => 'gone' })
  const { agent } = await register(
    room,
    { name: 'amber-otter', role: 'agent' },
    {
      ...keysOf(room),
      keep: () => undefined,
    },
  )
  const asking = { env: {}, place: undefined, named: 'amber-otter' }
  expect(caller(room, asking)).toMatchObject({ haid: agent.haid, proof: 'key' })
  expect(await heartbeat(room, await actAs(room, asking, caller(room, asking)))).toMatchObject({ haid: agent.haid })
})

test('a change that is refused replaces no key and leaves none behind', async () => {
  const room = openRoom({ fateOf: () => 'gone' })
  const { agent, secret } = await register(room, { name: 'amber-otter', role: 'agent' }, keysOf(room))
  const again = register(room, { name: 'amber-otter', role: 'agent' }, keysOf(room))
  await expect(again).rejects.toMatchObject({ code: 'DUPLICATE_AGENT_ID' })
  expect(readKey(room.project, agent.haid, agent.runtime.secretHash)).toBe(secret)
  expect(readdirSync(join(room.project.coordinationDir, 'keys', 'offered'))).toEqual([])
})

test('a key of another user is none, and the attempt is on record', async () => {
  needs('root')
  const room = openRoom({ fateOf: () => 'alive' })
  const { agent } = await register(room, { name: 'amber-otter', role: 'agent' }, keysOf(room))
  const key = join(room.project.coordinationDir, 'keys', `${agent.haid.replaceAll(/[/:]/g, '_')}.key`)
  chownSync(key, 12_345, 12_345)
  const asking = { env: {}, place: undefined, named: 'amber-otter' }
  const found = caller(room, asking)
  expect(found).toMatchObject({ proof: 'none', refused: { error: { message: expect.stringContaining('user 12345') } } })
  await expect(actAs(room, asking, found)).rejects.toThrow(expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }))
  expect(room.store.read((rows) => rows.events({ types: ['REFUSED'] }))).toMatchObject([
    { actor: null, to: 'amber-otter' },
  ])
})

// Claims and agents by id.
test('a claim is named by its id, and another’s is refused as another’s', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])
  await project.run('heimdall', ['claim', 'src', '--agent', 'amber-otter'])
  const list = await project.run('heimdall', ['claim', 'list', '--json'])
  const [{ claim_id: id }] = (JSON.parse(list.stdout) as { data: [{ claim_id: string }] }).data
  for (const verb of ['release', 'renew'])
    expect(await project.run('heimdall', ['claim', verb, id, '--agent', 'cobalt-harbor', '--json'])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('RELEASE_FORBIDDEN'),
    })
  for (const verb of ['renew', 'release'])
    expect(await project.run('heimdall', ['claim', verb, id, '--agent', 'amber-otter'])).toMatchObject({ code: 0 })
})

test('an agent is revoked by its id as by its HAID', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const revoke = ownTerminal([...launcher('heimdall'), 'agent', 'revoke', 'amber-otter'], {
    cwd: project.root,
    env: project.env,
  })
  expect([await revoke.ended, revoke.written()]).toEqual([0, expect.stringMatching(/^haid:.*amber-otter revoked/)])
})

test('a baseline of no tokens is refused', async () => {
  const project = temporaryProject()
  const refused = await project.run('heimdall', ['tokens', 'baseline', '--role', 'x', '--tokens', '0'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('a baseline must be more than 0 tokens') })
})

test('whoever holds a path that another has claimed as well is told so by a check', async () => {
  const project = temporaryProject()
  for (const [name, scope] of [
    ['amber-otter', 'src/api.ts'],
    ['cobalt-harbor', 'src/**/*.test.ts'],
  ] as const) {
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])
    expect(await project.run('heimdall', ['claim', scope, '--agent', name])).toMatchObject({ code: 0 })
  }
  const path = 'src/api.ts/x.test.ts'
  expect(await project.run('heimdall', ['claim', 'check', path, '--agent', 'amber-otter'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`cobalt-harbor also claimed ${path}`),
  })
})

// Two sessions or terminals of one human are two holders (seed 000 T-1, T-2).
function terminal(project: TemporaryProject, name: string): Shell {
  const env = { ...project.env, PATH: `${BIN}:${process.env['PATH'] ?? ''}` }
  const opened: OwnTerminal = ownTerminal(['/bin/sh'], { cwd: project.root, env })
  return new Shell(project, name, (line) => opened.type(`${line}\r`))
}

test('two terminals share a HAID until they meet; then the second has a name of its own, keeps what it held, and collides', async () => {
  const project = temporaryProject()
  const [first, second] = [terminal(project, 'first'), terminal(project, 'second')]
  expect(await first.run(`heimdall-claim claim 'docs/**' --task T-1`)).toMatchObject({ code: 0 })
  expect(await second.run('heimdall-claim claim lib --task T-2')).toMatchObject({ code: 0 })
  const root = (await first.whoami()).haid
  expect((await second.whoami()).haid).toBe(root)
  // The same task from elsewhere is the same work.
  expect(await second.run(`heimdall-claim claim 'docs/**' --task T-1`)).toMatchObject({ code: 0 })

  expect(await second.run('heimdall-claim check docs/x')).toMatchObject({ code: 3 })
  const met = await second.run('heimdall-claim claim docs/x --task T-2')
  expect(met).toMatchObject({ code: 3, text: expect.stringMatching(/^note: another process tree already works as /m) })
  expect(met.text).toContain(`COLLISION: docs/x overlaps docs/**`)
  const own = await second.whoami()
  expect(own).toMatchObject({ proof: 'process', holds: [{ claimed_surfaces: ['lib'] }] })
  expect(own.haid).toMatch(new RegExp(`^${root}/p\\d+$`))
  expect(await first.whoami()).toMatchObject({ haid: root, holds: [{ claimed_surfaces: ['docs/**'] }] })
  expect(await first.run('heimdall-claim claim lib/x --task T-1')).toMatchObject({ code: 3 })
})

test('each session is somebody by itself: it collides with the others, no variable makes it another, and the guard knows it', async () => {
  const project = temporaryProject()
  const sessions = hm()
  project.write('docs/x', 'x')
  await project.run('heimdall', ['guard', 'install'])
  const [one, two] = [await shellIn(sessions, project, 'one'), await shellIn(sessions, project, 'two')]

  expect(await one.run(`heimdall-claim claim 'docs/**'`)).toMatchObject({ code: 0 })
  expect(await two.run('heimdall-claim claim docs/x')).toMatchObject({ code: 3 })
  expect(await one.whoami()).toMatchObject({ proof: 'process', session: 'one', haid: expect.stringMatching(/\/one$/) })
  expect((await two.run('heimdall-haid current')).text).toMatch(/\/two\n$/)

  // Forged variables change nothing: processes say which session it is.
  const forged = await two.run('env -u HEIMDALL_SESSION_ID HEIMDALL_SESSION_ID=one heimdall-claim release')
  expect(forged).toMatchObject({ code: 0, text: expect.stringMatching(/no active claim for .*\/two/) })
  expect(await two.run('BB_AGENT=one heimdall claim release')).toMatchObject({ code: 4 })
  expect(await two.run('heimdall claim release --agent one')).toMatchObject({ code: 4 })
  // From outside nobody acts for a session that runs.
  const outside = await project.run('heimdall', ['claim', 'release', '--agent', 'one', '--json'])
  expect(outside).toMatchObject({ code: 5, stdout: expect.stringContaining('IDENTITY_HELD') })

  expect(await two.run('git add docs/x && git commit -qm two')).toMatchObject({ code: 1 })
  expect(await one.run('git commit -qm one')).toMatchObject({ code: 0 })
  expect(project.git('log', '-1', '--format=%B')).toMatch(/^Heimdall-Agent: .*\/one$/m)

  // An agent of the session's name is another, also before the session has done anything.
  await project.run('bb', ['agent', 'register', '--name', 'three', '--role', 'ui'])
  await project.run('bb', ['agent', 'reserve', '--agent', 'three', '--scope', 'web'])
  const three = await shellIn(sessions, project, 'three')
  expect((await three.whoami()).haid).toMatch(/\/three-[0-9a-f]{4}$/)
  expect(await three.run('heimdall claim check web')).toMatchObject({ code: 5 })
  expect(await three.run('bb agent release --agent three --scope web')).toMatchObject({ code: 1 })

  // What is registered in a session belongs to it (seed 002 §7), and to nobody else.
  expect(await two.run('bb agent register --name amber-otter --role ui')).toMatchObject({ code: 0 })
  expect(await two.run('bb agent reserve --agent amber-otter --scope lib')).toMatchObject({ code: 0 })
  expect(await one.run('bb agent release --agent amber-otter --scope lib')).toMatchObject({
    code: 1,
    text: expect.stringContaining('IDENTITY_BORROWED'),
  })
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  const refused = (JSON.parse(stdout) as { data: { from_agent: string | null; to_agent: string }[] }).data
  expect(refused.map((event) => [event.from_agent, event.to_agent])).toEqual([
    ['two', 'one'],
    ['two', 'one'],
    [null, 'one'],
    [expect.stringMatching(/^haid:.*\/three-/), 'three'],
    ['one', 'amber-otter'],
  ])
})

test('a session whose process is gone holds nothing against the flag (seed 002 §4.4)', async () => {
  const project = temporaryProject()
  const line = `env PATH='${BIN}:'"$PATH" heimdall-claim claim 'docs/**' --task T-1`
  const ran = await hm().run(
    ['run', '--id', 'brief', '--detach', '--wait', '--workdir', project.root, '--', '/bin/sh', '-c', line],
    { env: project.env },
  )
  expect(ran).toMatchObject({ code: 0 })
  const list = await project.run('heimdall-claim', ['list', '--all', '--json'])
  expect(JSON.parse(list.stdout)).toMatchObject([{ agent_id: 'brief', liveness: 'evicted', lease: 'live' }])
  expect(await project.run('heimdall-claim', ['claim', 'docs/x', '--task', 'T-2'])).toMatchObject({ code: 3 })
  expect(await project.run('heimdall', ['claim', 'takeover', 'docs/x', '--task', 'T-2'])).toMatchObject({ code: 0 })
})

// The stale threshold belongs to the repository: an environment can only raise it for itself (seed 002 §4.1).
const heimdall = (project: TemporaryProject, line: string, env: Record<string, string> = {}): Promise<Ending> =>
  project.run('heimdall', [...line.split(' '), '--json'], { env })

async function withSilentOwner(
  minutes: number,
): Promise<{ project: TemporaryProject; fallSilent: () => Promise<void> }> {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor']) await heimdall(project, `agent add ${name} --role ui`)
  await heimdall(project, 'claim src --agent amber-otter')
  const fallSilent = async (): Promise<void> => {
    const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
    await silence(room, room.store.read((rows) => rows.agentById('amber-otter')?.haid) ?? '', minutes)
  }
  await fallSilent()
  return { project, fallSilent }
}

const TAKE = 'claim takeover src --agent cobalt-harbor'
const value = async (project: TemporaryProject, env: Record<string, string> = {}): Promise<unknown> => {
  const { stdout } = await heimdall(project, 'config get agent_stale_minutes', env)
  return (JSON.parse(stdout) as { data: unknown }).data
}

test('a short threshold of one’s own frees nothing, in a variable or in a file', async () => {
  const { project } = await withSilentOwner(2)
  const impatient = { BB_AGENT_STALE_MINUTES: '1' }
  expect(await heimdall(project, TAKE, impatient)).toMatchObject({
    code: 5,
    stdout: expect.stringContaining('"granted":false'),
  })
  project.write('heimdall.toml', 'agent_stale_minutes = 1\n')
  expect(await heimdall(project, TAKE)).toMatchObject({ code: 5 })
  expect(await value(project, impatient)).toMatchObject({ value: 15, origin: 'repository' })
})

test('a long one makes the caller more patient, and nobody else', async () => {
  const { project } = await withSilentOwner(20)
  const patient = { BB_AGENT_STALE_MINUTES: '60' }
  expect(await heimdall(project, TAKE, patient)).toMatchObject({ code: 5 })
  expect(await value(project, patient)).toMatchObject({ value: 60, origin: 'env BB_AGENT_STALE_MINUTES' })
  expect(await heimdall(project, TAKE)).toMatchObject({ code: 0 })
})

test('the first change settles it, and only a person changes it', async () => {
  const project = temporaryProject()
  await heimdall(project, 'agent add amber-otter --role ui', { BB_AGENT_STALE_MINUTES: '40' })
  expect(await value(project)).toMatchObject({ value: 40, origin: 'repository' })
  expect(await heimdall(project, 'config set agent_stale_minutes 5', { BB_AGENT: 'amber-otter' })).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('PERSON_REQUIRED'),
  })
  const person = ownTerminal([...launcher('heimdall'), 'config', 'set', 'agent_stale_minutes', '5'], {
    cwd: project.root,
    env: project.env,
  })
  expect(await person.ended, person.written()).toBe(0)
  expect(await value(project)).toMatchObject({ value: 5, origin: 'repository' })
  const { stdout } = await heimdall(project, 'claim history --type SETTING --type REFUSED')
  expect((JSON.parse(stdout) as { data: unknown[] }).data).toMatchObject([
    { event_type: 'REFUSED', from_agent: 'amber-otter', payload: { code: 'PERSON_REQUIRED' } },
    { event_type: 'SETTING', actor_kind: 'human', payload: { value: 5, was: 40, by: expect.any(String) } },
  ])
})
