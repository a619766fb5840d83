// Identities: one holder per live session, secrets that prove, epochs that fence, revocation in one place.
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adopt, findEvidence } from '../../src/coordination/who/adoption.ts'
import { actAs, caller } from '../../src/coordination/who/caller.ts'
import { claimScopes, listClaims } from '../../src/coordination/claims/claims.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { heartbeat, register, registerHaid } from '../../src/coordination/who/registration.ts'
import { joinAsClient } from '../../src/coordination/who/clients.ts'
import { type Enrolled, endSession } from '../../src/coordination/who/enrol.ts'
import { keysOf, readKey } from '../../src/coordination/who/key-files.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { startTask } from '../../src/coordination/tasks.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { enter, MINUTE, openRoom, wants } from './room.ts'

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
    { actorKind: 'human', payload: { resume_reason: 'confirmed_by_human', confirmed_by: 'ana' } },
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

test.runIf(process.geteuid?.() === 0)('a key of another user is none, and the attempt is on record', async () => {
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
