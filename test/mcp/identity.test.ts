// Identity over MCP: who is who, who collides with whom, and that a name opens nothing.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { startTask } from '../../src/coordination/tasks.ts'
import { joinAsClient } from '../../src/coordination/who/clients.ts'
import type { Enrolled } from '../../src/coordination/who/enrol.ts'
import { keysOf } from '../../src/coordination/who/key-files.ts'
import { register, registerHaid, setRevoked } from '../../src/coordination/who/registration.ts'
import { findProject } from '../../src/paths.ts'
import { MINUTE, openRoom } from '../coordination/room.ts'
import { silence } from '../coordination/silence.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { join, RawSession } from './session.ts'

async function inRoom<T>(project: TemporaryProject, act: (room: Coordination) => T | Promise<T>): Promise<T> {
  const { env } = project
  const room = openCoordination({ project: findProject(project.root, env), env, clock: systemClock, staleMinutes: 15 })
  try {
    return await act(room)
  } finally {
    room.store.close()
  }
}

test('Cursor and Copilot on one machine are two holders and collide', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  const held = await cursor.call('make_claim', { surfaces: ['src/a/**'], task: 'T-1' })
  expect(held).toMatchObject({ isError: false, data: { haid: expect.stringMatching(/\/cursor$/) } })
  const refused = await copilot.call('make_claim', { surfaces: ['src/a/x.ts'], task: 'T-2' })
  expect(refused).toMatchObject({
    isError: true,
    data: {
      error: 'collision',
      haid: expect.stringMatching(/\/copilot$/),
      conflicts: [
        { haid: held.data['haid'], held: 'src/a/**', wanted: 'src/a/x.ts', witness: 'src/a/x.ts', liveness: 'active' },
      ],
    },
  })
  expect((await copilot.call('check_claim', { surfaces: ['src/b/**'] })).data).toMatchObject({
    clear: true,
    conflicts: [],
  })
  expect((await copilot.call('check_claim', { surfaces: ['src/*/x.ts'] })).data).toMatchObject({ clear: false })
  expect(await inRoom(project, (room) => listEvents(room, { types: ['INCURSION'] }))).toHaveLength(1)

  expect((await cursor.call('release_claim')).data).toMatchObject({ released: 1 })
  expect((await copilot.call('make_claim', { surfaces: ['src/a/x.ts'], task: 'T-2' })).isError).toBe(false)
})

test('two Claude Codes are two holders: the second carries four hex digits', async () => {
  const project = temporaryProject()
  const [first, second] = [await join(project, 'claude-code'), await join(project, 'claude-code')]
  const held = await first.call('make_claim', { surfaces: ['src/a.ts'], task: 'T' })
  const refused = await second.call('make_claim', { surfaces: ['src/a.ts'], task: 'T' })
  expect(held.data['haid']).toMatch(/\/claude-code$/)
  expect(refused).toMatchObject({ isError: true, data: { haid: expect.stringMatching(/\/claude-code-[0-9a-f]{4}$/) } })
})

test('a client that comes back is the first again, and takes up what its earlier server held', async () => {
  const project = temporaryProject()
  const first = await join(project, 'cursor')
  const { haid } = (await first.call('read_claims')).data
  await first.end()
  const second = await join(project, 'cursor')
  expect((await second.call('make_claim', { surfaces: ['a.ts'], task: 'T' })).data['haid']).toBe(haid)
  await second.end()
  const third = await join(project, 'cursor')
  expect((await third.call('make_claim', { surfaces: ['a.ts'], task: 'T' })).data).toMatchObject({
    haid,
    result: expect.stringContaining('renewed'),
  })
})

test('client_identity selects a free label, and is refused where another live session has it', async () => {
  const project = temporaryProject()
  const [router, cursor] = [await join(project, 'router'), await join(project, 'cursor')]
  await cursor.call('read_claims')
  const mine = await router.call('make_claim', { surfaces: ['a.ts'], task: 'T', client_identity: 'reviewer' })
  expect(mine).toMatchObject({ isError: false, data: { haid: expect.stringMatching(/\/reviewer$/) } })
  expect(await router.call('release_claim', { client_identity: 'Reviewer' })).toMatchObject({ data: { released: 1 } })
  for (const name of ['read_claims', 'release_claim'])
    expect(await router.call(name, { client_identity: 'cursor' })).toMatchObject({
      isError: true,
      data: { error: 'IDENTITY_HELD' },
    })
  expect((await cursor.call('make_claim', { surfaces: ['b.ts'], task: 'T', client_identity: 'cursor' })).isError).toBe(
    false,
  )
})

test('releasing another’s claim is refused and on record', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  const { data } = await cursor.call('make_claim', { surfaces: ['a.ts'], task: 'T' })
  for (const args of [{ haid: data['haid'] }, { claim_id: data['claim_id'] }])
    expect(await copilot.call('release_claim', args)).toMatchObject({
      isError: true,
      data: { error: 'RELEASE_FORBIDDEN' },
    })
  expect((await cursor.call('read_claims')).data['count']).toBe(1)
  const refusals = await inRoom(project, (room) => listEvents(room, { types: ['REFUSED'] }))
  expect(refusals).toMatchObject([{ from_agent: 'copilot' }, { from_agent: 'copilot' }])
})

test('inside a run the holder is the run’s agent, whatever client speaks; a wrong secret is nobody', async () => {
  const project = temporaryProject()
  const { agent, secret } = await inRoom(project, async (room) =>
    register(room, { name: 'amber-otter', role: 'agent' }),
  )
  const env = { HEIMDALL_HAID: agent.haid, HEIMDALL_SECRET: secret }
  const [one, two] = [await join(project, 'cursor', { env }), await join(project, 'claude-code', { env })]
  expect((await one.call('make_claim', { surfaces: ['a.ts'], task: 'T' })).data['haid']).toBe(agent.haid)
  expect(
    (await two.call('make_claim', { surfaces: ['a.ts'], task: 'T', client_identity: 'other' })).data,
  ).toMatchObject({
    haid: agent.haid,
    result: expect.stringContaining('renewed'),
  })
  const forger = await join(project, 'cursor', { env: { ...env, HEIMDALL_SECRET: 'guess' } })
  expect(await forger.call('release_claim')).toMatchObject({ isError: true, data: { error: 'IDENTITY_UNPROVEN' } })
  expect((await one.call('read_claims')).data['count']).toBe(1)
})

test('the other doors see a claim over MCP, and the other way round', async () => {
  const project = temporaryProject()
  const cursor = await join(project, 'cursor')
  await cursor.call('make_claim', { surfaces: ['src/a/**'], task: 'T-9' })
  const listed = await project.run('heimdall-claim', ['list', '--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject([
    {
      claimed_surfaces: ['src/a/**'],
      task_ref: expect.stringMatching(/^T-9 \(via heimdall-ledger-mcp:haid:.*\/cursor\)$/),
    },
  ])
  const status = await project.run('bb', ['agent', 'status', '--json'])
  expect(JSON.parse(status.stdout)).toMatchObject({
    ok: true,
    data: { reservations: [{ scope: 'src/a/**', agent_id: 'cursor', bead_id: 'T-9', state: 'active' }] },
  })
  const refused = await project.run('heimdall-claim', ['claim', 'src/a/x.ts', '--task', 'T-1'])
  expect(refused.code).toBe(3)

  expect((await project.run('heimdall-claim', ['claim', 'docs/**', '--task', 'T-2'])).code).toBe(0)
  const registered = await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  expect(registered.code).toBe(0)
  const reserved = await project.run('bb', [
    'agent',
    'reserve',
    '--agent',
    'amber-otter',
    '--scope',
    'src/ui/*',
    '--bead',
    'T-3',
  ])
  expect(reserved.code).toBe(0)
  for (const surface of ['docs/intro.md', 'src/ui/button.tsx'])
    expect((await cursor.call('make_claim', { surfaces: [surface], task: 'T-4' })).isError).toBe(true)
  expect((await cursor.call('read_claims')).data['count']).toBe(3)
})

test('a forged environment opens no tool, in no combination, and a name in client_identity opens nothing besides', async () => {
  const project = temporaryProject()
  const { victim, thief } = await inRoom(project, async (room) => {
    const keep = keysOf(room)
    const made = async (name: string): Promise<Enrolled> => register(room, { name, role: 'agent' }, keep)
    return { victim: await made('victim-one'), thief: await made('thief-one') }
  })
  const [haid, secret] = [victim.agent.haid, thief.secret]
  const before = await inRoom(project, (room) => room.store.read((rows) => [rows.agents(), rows.claims({})]))
  const forged: [Record<string, string>, string][] = [
    [{ HEIMDALL_HAID: haid, HEIMDALL_SECRET: secret }, 'IDENTITY_UNPROVEN'],
    [{ HEIMDALL_HAID: haid, HEIMDALL_SECRET: secret, BB_AGENT: 'victim-one' }, 'IDENTITY_UNPROVEN'],
    [{ BB_AGENT: 'victim-one', HEIMDALL_SECRET: 'guess' }, 'IDENTITY_UNPROVEN'],
    [{ HEIMDALL_HAID: haid, BB_AGENT: 'thief-one' }, 'IDENTITY_BORROWED'],
    [{ HEIMDALL_SECRET: secret }, 'IDENTITY_UNPROVEN'],
  ]
  const calls: [string, object][] = [
    ['make_claim', { surfaces: ['src/**'], task: 'T' }],
    ['release_claim', { haid }],
    ['append_decision', { title: 't', body: 'b' }],
    ['raise_conflict_pr', { id: 'c', title: 't', surfaces: ['src/**'] }],
    ['inbox', { note: 'msg_0', ack: true }],
    ['blackboard_set', { key: 'k', value: 'v' }],
  ]
  for (const [env, code] of forged) {
    const server = await join(project, 'cursor', { env })
    for (const [name, args] of calls)
      for (const more of [{}, { client_identity: 'victim-one' }])
        expect([env, name, await server.call(name, { ...args, ...more })]).toMatchObject([
          env,
          name,
          { isError: true, data: { error: code } },
        ])
    await server.end()
  }
  expect(await inRoom(project, (room) => room.store.read((rows) => [rows.agents(), rows.claims({})]))).toEqual(before)
  // Whoever is somebody by its environment stays that one, whatever it asks to be called.
  const named = await join(project, 'cursor', { env: { BB_AGENT: 'thief-one' } })
  expect(await named.call('make_claim', { ...calls[0]?.[1], client_identity: 'victim-one' })).toMatchObject({
    data: { haid: thief.agent.haid },
  })
})

// An MCP server that is gone is evicted at once; its client takes over with HAID and proof (seed 000 T-4, seed 002 §4.4).
const CLAIM = { surfaces: ['src/**'], task: 'T-1' }

async function standing(project: TemporaryProject): Promise<unknown> {
  const { stdout } = await project.run('heimdall', ['claim', 'list', '--all', '--json'])
  const { data } = JSON.parse(stdout) as { data: Record<string, unknown>[] }
  return data.map((claim) => [claim['agent_id'], claim['liveness']])
}

async function history(project: TemporaryProject, type: string): Promise<unknown> {
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', type, '--json'])
  return (JSON.parse(stdout) as { data: unknown }).data
}

test('a killed server is evicted at once; its leases are free to take with the usual flag, not without', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  await cursor.call('make_claim', CLAIM)
  expect(await copilot.call('make_claim', { ...CLAIM, takeover_stale: true })).toMatchObject({ isError: true })
  cursor.program.kill('SIGKILL')
  await cursor.program.ended
  expect(await standing(project)).toEqual([['cursor', 'evicted']])
  expect(await copilot.call('make_claim', CLAIM)).toMatchObject({ isError: true })
  expect(await copilot.call('make_claim', { ...CLAIM, takeover_stale: true })).toMatchObject({
    isError: false,
    data: { displaced: [{ surface: 'src/**' }] },
  })
})

test('a server that ends says so, whether its client leaves or it is asked to', async () => {
  const project = temporaryProject()
  const [left, asked] = [await join(project, 'cursor'), await join(project, 'copilot')]
  await left.call('make_claim', CLAIM)
  await asked.call('read_claims')
  expect(await left.end()).toBe(0)
  asked.program.kill('SIGTERM')
  await asked.program.ended
  expect(await history(project, 'SESSION_END')).toMatchObject([
    { from_agent: 'cursor', payload: { left: [expect.stringMatching(/^res_/)] } },
    { from_agent: 'copilot', payload: { left: [] } },
  ])
  expect(await standing(project)).toEqual([['cursor', 'evicted']])
})

test('started again by the same program, a client goes on with what it held; started by another, it does not', async () => {
  const project = temporaryProject()
  const first = await join(project, 'cursor')
  const { haid } = (await first.call('make_claim', CLAIM)).data
  first.program.kill('SIGKILL')
  await first.program.ended
  // Below a program of its own, as another editor's server is.
  const [file, ...args] = launcher('heimdall-ledger-mcp')
  const other = new RawSession(project, { command: ['/bin/sh', '-c', '"$@"; exit', 'sh', file, ...args] })
  await other.initialize('cursor')
  expect(await other.call('make_claim', CLAIM)).toMatchObject({ isError: true, data: { error: 'collision' } })
  const again = await join(project, 'cursor')
  expect(await again.call('make_claim', CLAIM)).toMatchObject({
    isError: false,
    data: { haid, result: expect.stringContaining('renewed') },
  })
  expect(await standing(project)).toEqual([['cursor', 'active']])
})

test('a restarted host takes up its claims without a collision with itself', async () => {
  const project = temporaryProject()
  const [file, ...args] = launcher('heimdall-ledger-mcp')
  const host = async (): Promise<RawSession> => {
    const session = new RawSession(project, { command: ['/bin/sh', '-c', '"$@"; exit', 'sh', file, ...args] })
    await session.initialize('cursor')
    return session
  }
  const first = await host()
  const { haid } = (await first.call('make_claim', CLAIM)).data
  await first.end()
  const second = await host()
  expect(await second.call('make_claim', CLAIM)).toMatchObject({
    isError: false,
    data: { haid, result: expect.stringContaining('renewed') },
  })
  expect(await standing(project)).toEqual([['cursor', 'active']])
  expect(await history(project, 'INCURSION')).toEqual([])
})

test('a second window of a host, open all along, does not take up the claims of one that quit', async () => {
  const project = temporaryProject()
  const [file, ...args] = launcher('heimdall-ledger-mcp')
  const host = async (): Promise<RawSession> => {
    const session = new RawSession(project, { command: ['/bin/sh', '-c', '"$@"; exit', 'sh', file, ...args] })
    await session.initialize('cursor')
    return session
  }
  const [first, second] = [await host(), await host()]
  const { haid } = (await first.call('make_claim', CLAIM)).data
  await first.end()
  expect(await second.call('make_claim', CLAIM)).toMatchObject({ isError: true, data: { error: 'collision' } })
  expect(await second.call('release_claim', { haid })).toMatchObject({
    isError: true,
    data: { error: 'RELEASE_FORBIDDEN' },
  })
  expect(await standing(project)).toEqual([['cursor', 'evicted']])
})

test('release_claim with a HAID releases what the caller owns under it, or owned before', async () => {
  const project = temporaryProject()
  const first = await join(project, 'cursor')
  const planner = (await first.call('make_claim', { ...CLAIM, client_identity: 'planner' })).data['haid']
  expect(await first.call('release_claim', { haid: planner })).toMatchObject({ isError: false, data: { released: 1 } })
  await first.call('make_claim', { ...CLAIM, client_identity: 'planner' })
  await first.end()
  const copilot = await join(project, 'copilot')
  expect(await copilot.call('release_claim', { haid: planner })).toMatchObject({
    isError: true,
    data: { error: 'RELEASE_FORBIDDEN', hint: expect.stringContaining('heimdall claim takeover PATH') },
  })
  const second = await join(project, 'cursor')
  expect(await second.call('release_claim', { haid: planner })).toMatchObject({ isError: false, data: { released: 1 } })
  expect(await standing(project)).toEqual([])
})

test('seed 000, "Every tool result echoes the attributed HAID": errors too, also of a call that could not be identified', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  const { haid } = (await cursor.call('read_claims')).data
  const own = `${String(haid).split('/')[0]}/copilot`
  for (const [name, args, error] of [
    ['read_claims', { client_identity: '!!' }, 'MCP_ARGUMENTS_INVALID'],
    ['make_claim', { ...CLAIM, client_identity: 'cursor' }, 'IDENTITY_HELD'],
    ['make_claim', { surfaces: [] }, 'MCP_ARGUMENTS_INVALID'],
    ['resolve', { id: 'NOPE' }, 'SYMBOL_UNKNOWN'],
  ] as const)
    expect([name, await copilot.call(name, args)]).toEqual([
      name,
      { isError: true, data: expect.objectContaining({ error, haid: own }) },
    ])
  const env = { HEIMDALL_HAID: String(haid), HEIMDALL_SECRET: 'guess' }
  const forger = await join(project, 'copilot', { env })
  expect((await forger.call('release_claim')).data).toMatchObject({ error: 'IDENTITY_UNPROVEN', haid: own })
  await inRoom(project, (room) => setRevoked(room, { kind: 'human', name: 'ana' }, String(haid), true))
  expect((await cursor.call('read_claims')).data).toMatchObject({ error: 'AGENT_REVOKED', haid })
})

test('a displaced client is notified by a call that fails, once', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  const { haid } = (await cursor.call('make_claim', CLAIM)).data
  await silence(openRoom({ project, clock: systemClock, boot: readMachine().boot }), String(haid), 20)
  const taken = await copilot.call('make_claim', { ...CLAIM, takeover_stale: true })
  const foreign = { claim_id: taken.data['claim_id'] }
  expect(await cursor.call('release_claim', foreign)).toMatchObject({
    isError: true,
    data: { error: 'RELEASE_FORBIDDEN', lost_claims: expect.stringContaining('now held by copilot') },
  })
  expect((await cursor.call('release_claim', foreign)).data).not.toHaveProperty('lost_claims')
})

test('a HAID and its key prove a client wherever it is started, once nobody runs under that name', async () => {
  const project = temporaryProject()
  const first = await join(project, 'cursor')
  const { haid } = (await first.call('make_claim', CLAIM)).data
  const env = { HEIMDALL_HAID: String(haid) }
  const early = await join(project, 'cursor', { env })
  expect(await early.call('release_claim')).toMatchObject({ isError: true, data: { error: 'IDENTITY_HELD' } })
  await first.end()
  const again = await join(project, 'other-name', { env })
  expect(await again.call('release_claim')).toMatchObject({ isError: false, data: { haid, released: 1 } })
})

test('a label that another session has is refused, on record under the connection’s own name', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  await cursor.call('make_claim', CLAIM)
  expect(await copilot.call('release_claim', { client_identity: 'cursor' })).toMatchObject({
    isError: true,
    data: { error: 'IDENTITY_HELD' },
  })
  expect(await history(project, 'REFUSED')).toMatchObject([
    { from_agent: 'copilot', to_agent: 'cursor', payload: { code: 'IDENTITY_HELD' } },
  ])
  expect(await standing(project)).toEqual([['cursor', 'active']])
})

// A name is adopted over MCP only after its connection ended and left nothing (seed 002 §4.4, §6).
test('an agent that a command registered is not taken over, however long it is silent', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock, fateOf: () => 'alive' })
  const haid = `${room.rootHaid}/cursor`
  await registerHaid(room, haid)
  clock.advance(24 * 60 * MINUTE)
  const connection = { client: 'cursor', process: 'here 1 1', startedBy: 'here 2 2' }
  await expect(joinAsClient(room, { ...connection, client: 'copilot', label: 'cursor' })).rejects.toThrow(
    /IDENTITY_HELD|belongs/,
  )
  expect((await joinAsClient(room, connection)).agent.haid).toMatch(/\/cursor-[0-9a-f]{4}$/)
})

test('a connection that is over and has a task in progress keeps its name', async () => {
  let fate: 'alive' | 'gone' = 'alive'
  const room = openRoom({ fateOf: () => fate })
  const first = await joinAsClient(room, { client: 'cursor', process: 'here 1 1' })
  const actor = { kind: 'agent' as const, haid: first.agent.haid, secret: first.secret }
  await startTask(room, actor, { taskId: 'T-1', title: 'x' })
  fate = 'gone'
  expect((await joinAsClient(room, { client: 'cursor', process: 'here 3 3' })).agent.haid).toMatch(
    /\/cursor-[0-9a-f]{4}$/,
  )
})

test('a label does not open what a killed neighbour of another name has left, under the same parent', async () => {
  const project = temporaryProject()
  const cursor = await join(project, 'cursor')
  await cursor.call('make_claim', { surfaces: ['src/**'], task: 'T-1' })
  cursor.program.kill('SIGKILL')
  await cursor.program.ended
  const copilot = await join(project, 'copilot')
  expect(await copilot.call('release_claim', { client_identity: 'cursor' })).toMatchObject({
    isError: true,
    data: { error: 'IDENTITY_HELD' },
  })
  // The same client, started again, goes on with it.
  expect(await (await join(project, 'cursor')).call('release_claim')).toMatchObject({ data: { released: 1 } })
})
