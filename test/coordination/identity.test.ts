// Identities: one holder per live session, secrets that prove, epochs that fence, revocation in one place.
import { chmodSync, chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adopt, findEvidence } from '../../src/coordination/adoption.ts'
import { actAs, caller } from '../../src/coordination/caller.ts'
import { claimScopes, listClaims } from '../../src/coordination/claims.ts'
import type { AgentActor } from '../../src/coordination/gate.ts'
import { heartbeat, register, registerHaid } from '../../src/coordination/identity.ts'
import { joinAsClient } from '../../src/coordination/clients.ts'
import { type Enrolled, endSession } from '../../src/coordination/enrol.ts'
import { readKey, writeKey } from '../../src/coordination/keys.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { startTask } from '../../src/coordination/tasks.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { enter, MINUTE, openRoom, wants } from './room.ts'

const actorOf = ({ agent, secret }: Enrolled): AgentActor => ({ kind: 'agent', haid: agent.haid, secret })

test('two live clients of one human on one machine are two holders, and collide (coordination-origin §0.5)', () => {
  const room = openRoom({ fateOf: () => 'alive' })
  const cursor = joinAsClient(room, { client: 'cursor', process: 'p11' })
  const copilot = joinAsClient(room, { client: 'copilot', process: 'p12' })
  const second = joinAsClient(room, { client: 'cursor', process: 'p13' })
  expect(cursor.agent.haid).toBe(`${room.rootHaid}/cursor`)
  expect(second.agent.haid).toMatch(new RegExp(`^${room.rootHaid}/cursor-[0-9a-f]{4}$`))
  expect(claimScopes(room, actorOf(cursor), wants(room, 'src/a/**')).granted).toBe(true)
  for (const other of [copilot, second])
    expect(claimScopes(room, actorOf(other), wants(room, 'src/a/x.ts')).granted).toBe(false)
})

test('a name is free again when its session ended or its process is gone, unless it still holds something', () => {
  const gone = new Set<string>()
  const room = openRoom({ fateOf: (ref) => (gone.has(ref) ? 'gone' : 'alive') })
  const first = joinAsClient(room, { client: 'cursor', process: 'p11' })
  claimScopes(room, actorOf(first), wants(room, 'src'))
  gone.add('p11')
  // Its claim would go with the name, and that would be adoption without evidence.
  expect(joinAsClient(room, { client: 'cursor', process: 'p12' }).agent.haid).not.toBe(first.agent.haid)
  expect(endSession(room, actorOf(first)).released).toHaveLength(1)
  const again = joinAsClient(room, { client: 'cursor', process: 'p13' })
  expect([again.agent.haid, again.agent.session.epoch]).toEqual([first.agent.haid, 2])
  expect(() => heartbeat(room, actorOf(first))).toThrow(expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }))
})

test('ending a session releases its claims and closes its secret', () => {
  const room = openRoom()
  const amber = enter(room, 'amber-otter')
  claimScopes(room, amber, wants(room, 'src'))
  claimScopes(room, amber, wants(room, 'docs'))
  expect(endSession(room, amber).released).toHaveLength(2)
  expect(listClaims(room)).toEqual([])
  expect(() => heartbeat(room, amber)).toThrow(expect.objectContaining({ code: 'IDENTITY_ENDED' }))
})

test('adoption gives the next epoch, keeps the claims, and fences the session before it', () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const amber = enter(room, 'amber-otter')
  claimScopes(room, amber, wants(room, 'src', { task: 'T-9' }))
  expect(findEvidence(room, 'amber-otter')).toBeUndefined()
  startTask(room, amber, { taskId: 'T-1', title: 'Parser' })
  // It has beaten just now, and no evidence helps.
  expect(() => adopt(room, 'amber-otter')).toThrow(expect.objectContaining({ code: 'ADOPTION_REJECTED' }))
  clock.advance(15 * MINUTE)
  const adopted = adopt(room, 'amber-otter')
  // Seed 002 §3.4, §6.1: with the beads of what comes along, and addressed.
  const events = listEvents(room)
  expect(events.filter((event) => event.event_type === 'RESUME')).toMatchObject([
    { to_agent: 'amber-otter', bead_id: 'T-1', payload: { tasks: ['T-1', 'T-9'] } },
  ])
  for (const event of events) if (event.actor_kind === 'agent') expect(event.to_agent).not.toBeNull()
  expect([adopted.agent.session.epoch, adopted.evidence?.reason]).toEqual([2, 'in_progress_ownership'])
  expect(() => claimScopes(room, amber, wants(room, 'docs'))).toThrow(
    expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }),
  )
  expect(claimScopes(room, actorOf(adopted), wants(room, 'src')).granted).toBe(true)
})

test('no evidence helps while the process of the session runs; a person may confirm without evidence, on record', () => {
  const running = openRoom({ fateOf: () => 'alive' })
  const busy = register(running, { name: 'amber-otter', role: 'agent', process: 'p99' })
  startTask(running, actorOf(busy), { taskId: 'T-1', title: 'Parser' })
  expect(() => adopt(running, 'amber-otter')).toThrow(/process of its session is running/)
  expect(adopt(running, 'amber-otter', { confirmedBy: 'ana' }).agent.session.epoch).toBe(2)
  const room = openRoom()
  enter(room, 'amber-otter')
  adopt(room, 'amber-otter', { confirmedBy: 'ana' })
  expect(room.store.read((rows) => rows.events({ types: ['RESUME'] }))).toMatchObject([
    { actorKind: 'human', payload: { resume_reason: 'confirmed_by_human', confirmed_by: 'ana' } },
  ])
})

test('an evicted client frees its label for the next one, with a new epoch', () => {
  const clock = fakeClock()
  const room = openRoom({ clock, fateOf: () => 'alive' })
  const first = joinAsClient(room, { client: 'claude-code', process: 'p11' })
  clock.advance(30 * MINUTE)
  expect(joinAsClient(room, { client: 'claude-code', process: 'p12' }).agent).toMatchObject({
    haid: first.agent.haid,
    session: { epoch: 2 },
  })
})

test('HAIDs that come without a name get one that is an agent id and free', () => {
  const room = openRoom()
  const ids = [room.rootHaid, `${room.rootHaid}/ab`, `${room.rootHaid}/cursor`, 'haid:eve.other-00ff/cursor'].map(
    (haid) => registerHaid(room, haid)?.agent.agentId ?? '',
  )
  expect(new Set(ids).size).toBe(4)
  for (const id of ids) expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
  expect(registerHaid(room, room.rootHaid)).toBeUndefined()
})

test('a key that others could read is no key', () => {
  const { project, rootHaid } = openRoom()
  expect(readKey(project, rootHaid)).toBeUndefined()
  writeKey(project, rootHaid, 'secret')
  const path = join(project.coordinationDir, 'keys', `${rootHaid.replaceAll(/[/:]/g, '_')}.key`)
  expect([readKey(project, rootHaid), statSync(path).mode & 0o777]).toEqual(['secret', 0o600])
  chmodSync(path, 0o640)
  expect(() => readKey(project, rootHaid)).toThrow(expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }))
})

test.runIf(process.geteuid?.() === 0)('a key of another user is none, and the attempt is on record', () => {
  const room = openRoom({ fateOf: () => 'alive' })
  const { agent } = register(room, { name: 'amber-otter', role: 'agent' }, (haid, secret) =>
    writeKey(room.project, haid, secret),
  )
  const key = join(room.project.coordinationDir, 'keys', `${agent.haid.replaceAll(/[/:]/g, '_')}.key`)
  chownSync(key, 12_345, 12_345)
  const asking = { env: {}, place: undefined, named: 'amber-otter' }
  const found = caller(room, asking)
  expect(found).toMatchObject({ proof: 'none', refused: { error: { message: expect.stringContaining('user 12345') } } })
  expect(() => actAs(room, asking, found, () => undefined)).toThrow(
    expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }),
  )
  expect(room.store.read((rows) => rows.events({ types: ['REFUSED'] }))).toMatchObject([
    { actor: null, to: 'amber-otter' },
  ])
})
