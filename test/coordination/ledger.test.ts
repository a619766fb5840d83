// `.planning/ledger/`: written after the commit, caught up after a crash, and read when it comes from another machine.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkScopes } from '../../src/coordination/claims/check-scopes.ts'
import { claimScopes, listClaims, reap } from '../../src/coordination/claims/claims.ts'
import { releaseClaims } from '../../src/coordination/claims/held.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { heartbeat } from '../../src/coordination/who/registration.ts'
import { exportLedger } from '../../src/coordination/ledger/coordination-ledger.ts'
import { ledgerDir, signatureKey } from '../../src/coordination/ledger/ledger-files.ts'
import { takeInRemote } from '../../src/coordination/ledger/remote.ts'
import { endTask, startTask } from '../../src/coordination/tasks.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { temporaryProject } from '../support/project.ts'
import { enter, MINUTE, openRoom, wants } from './room.ts'

const read = (room: Coordination, name: string): string => readFileSync(join(ledgerDir(room.project), name), 'utf8')
const lines = (room: Coordination): Record<string, unknown>[] =>
  read(room, 'events.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('claims are one file per HAID, events are appended once, and a release takes the file away', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  await claimScopes(room, amber, wants(room, 'src/v1.2/**', { task: 'T-1', ttlMinutes: 60 }))
  await claimScopes(room, amber, wants(room, 'docs/*.md', { task: 'T-2' }))
  await exportLedger(room)
  const file = `claims/haid_${amber.haid.slice(5).replace('/', '_')}.json`
  expect(JSON.parse(read(room, file))).toMatchObject({
    haid: amber.haid,
    human: 'ana',
    claimed_surfaces: ['src/v1.2/**', 'docs/*.md'],
    task_ref: 'T-1, T-2',
    ttl_minutes: 120,
  })
  await exportLedger(room)
  expect(lines(room).map((event) => [event['event_type'], event['seq']])).toEqual([
    ['REGISTER', 1],
    ['CLAIM', 2],
    ['CLAIM', 3],
  ])
  await releaseClaims(room, amber, { cwd: room.project.root })
  await exportLedger(room)
  expect(existsSync(join(ledgerDir(room.project), file))).toBe(false)
  expect(lines(room)).toHaveLength(5)
})

test('after a crash between the files and the note of how far they are, nothing is written twice', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  await startTask(room, amber, { taskId: 'T-9', title: 'Parser' })
  await claimScopes(room, amber, wants(room, 'src', { task: 'T-9', ttlMinutes: 1 }))
  await endTask(room, amber, { taskId: 'T-9', state: 'done', summary: 'It parses.' })
  ;(room.clock as FakeClock).advance(20 * MINUTE)
  await reap(room)
  await exportLedger(room)
  const before = [
    read(room, 'events.jsonl'),
    read(room, 'decisions.md'),
    readdirSync(join(ledgerDir(room.project), 'completed')),
  ]
  await room.store.change((rows) => rows.putLocalSetting(`exported:${room.project.planningDir}`, '0'))
  await exportLedger(room)
  expect([
    read(room, 'events.jsonl'),
    read(room, 'decisions.md'),
    readdirSync(join(ledgerDir(room.project), 'completed')),
  ]).toEqual(before)
  expect(before[1]).toContain('auto-release (TTL/heartbeat expired)')
  const page = read(room, 'completed/2026-01-02-t-9.md')
  expect(page).toContain('It parses.')
  expect(page).toContain(amber.haid)
})

test('wherever a full disk or a crash cuts the file short, every event ends up in it whole, once and in order', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  await claimScopes(room, amber, wants(room, 'src', { task: 'T-ä' }))
  await claimScopes(room, amber, wants(room, 'docs', { task: 'T-2' }))
  await exportLedger(room)
  const path = join(ledgerDir(room.project), 'events.jsonl')
  const whole = readFileSync(path)
  for (let cut = 0; cut <= whole.length; cut += 7) {
    writeFileSync(path, whole.subarray(0, cut))
    await room.store.change((rows) => rows.putLocalSetting(`exported:${room.project.planningDir}`, '0'))
    await exportLedger(room)
    expect(read(room, 'events.jsonl').trim()).toBe(whole.toString('utf8').trim())
  }
  // What a former version has sealed, and what is not ours, stays; the event is written all the same.
  for (const torn of [
    `${whole.subarray(0, whole.length - 30).toString('utf8')}\n`,
    `${whole.toString('utf8')}{"torn":`,
  ]) {
    writeFileSync(path, torn)
    await room.store.change((rows) => rows.putLocalSetting(`exported:${room.project.planningDir}`, '0'))
    await heartbeat(room, amber)
    await exportLedger(room)
    const seqs = read(room, 'events.jsonl')
      .split('\n')
      .flatMap((line) => {
        try {
          return [(JSON.parse(line) as { seq: number }).seq]
        } catch {
          return []
        }
      })
    expect(seqs).toEqual([1, 2, 3])
  }
})

function foreign(room: Coordination, claim: Record<string, unknown>, haid = 'haid:eve.laptop-00ff/cursor'): string {
  const folder = join(ledgerDir(room.project), 'claims')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${haid.replaceAll(/[/:]/g, '_')}.json`)
  writeFileSync(
    path,
    JSON.stringify({
      haid,
      human: 'eve',
      claimed_surfaces: ['src/a/**'],
      task_ref: 'T-7',
      claimed_at: '2026-01-02T03:00:00Z',
      ttl_minutes: 90,
      heartbeat: '2026-01-02T03:04:00Z',
      ...claim,
    }),
  )
  commitAll(room)
  return path
}

/** As it is when it has arrived by git. */
function commitAll({ project: { root } }: Coordination): void {
  const eve = ['-c', 'user.name=Eve', '-c', 'user.email=eve@example.org']
  execFileSync('git', ['add', '--all'], { cwd: root })
  execFileSync('git', [...eve, 'commit', '--quiet', '--message=news'], { cwd: root })
}

const conflicts = (room: Coordination): string[] =>
  checkScopes(room, { scopes: ['src/a/x.ts'], cwd: room.project.root, asker: null }).conflicts.map(
    ({ agentId, liveness, origin }) => `${agentId} ${liveness} ${origin}`,
  )

test('a claim of another machine counts in every check, and is gone when its file is', async () => {
  const room = openRoom({ project: temporaryProject() })
  const amber = await enter(room, 'amber-otter')
  const path = foreign(room, {})
  expect((await takeInRemote(room)).skipped).toEqual([])
  expect(conflicts(room)).toEqual(['cursor active remote'])
  expect((await claimScopes(room, amber, wants(room, 'src/a/x.ts'))).granted).toBe(false)
  rmSync(path)
  await takeInRemote(room)
  expect((await claimScopes(room, amber, wants(room, 'src/a/x.ts'))).granted).toBe(true)
})

test('a claim file that is in no commit did not arrive by git: reported, ignored, and looked at again once it is committed', async () => {
  const room = openRoom({ project: temporaryProject() })
  const amber = await enter(room, 'amber-otter')
  const path = foreign(room, { claimed_surfaces: ['docs'] })
  await takeInRemote(room)
  // Changed by hand after it arrived, and one that was made up.
  writeFileSync(path, readFileSync(path, 'utf8').replace('docs', 'src/a/**'))
  writeFileSync(path.replace('cursor', 'copilot'), readFileSync(path, 'utf8').replaceAll('cursor', 'copilot'))
  for (const _ of ['once', 'and again'])
    expect((await takeInRemote(room)).skipped).toEqual([
      expect.stringMatching(/copilot\.json is in no commit/),
      expect.stringMatching(/cursor\.json is in no commit/),
    ])
  expect(conflicts(room)).toEqual([])
  commitAll(room)
  expect((await takeInRemote(room)).skipped).toEqual([])
  expect(conflicts(room)).toEqual(['copilot active remote'])
  expect((await claimScopes(room, amber, wants(room, 'src/a/x.ts'))).granted).toBe(false)
})

test('a heartbeat from the year 2099 ages like any other; one that changes keeps its claim alive (coordination-origin §6 #15)', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock, project: temporaryProject() })
  foreign(room, { heartbeat: '2099-01-01T00:00:00Z' })
  await takeInRemote(room)
  expect(conflicts(room)).toEqual(['cursor active remote'])
  clock.advance(15 * MINUTE)
  expect(conflicts(room)).toEqual(['cursor stale remote'])
  // Its clock is a day slow, but the file moves: somebody is beating.
  foreign(room, { heartbeat: '2026-01-01T03:04:00Z' })
  await takeInRemote(room)
  expect(conflicts(room)).toEqual(['cursor active remote'])
  clock.advance(30 * MINUTE)
  expect(conflicts(room)).toEqual(['cursor evicted remote'])
})

test('an old file is old at first sight, and nobody here can speak for its agent', async () => {
  const room = openRoom({ project: temporaryProject() })
  foreign(room, { heartbeat: '2026-01-01T00:00:00Z', claimed_at: '2026-01-01T00:00:00Z' })
  await takeInRemote(room)
  expect(conflicts(room)).toEqual(['cursor evicted remote'])
  await expect(async () =>
    heartbeat(room, { kind: 'agent', haid: 'haid:eve.laptop-00ff/cursor', secret: 'guess' }),
  ).rejects.toThrow(expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }))
  expect((await reap(room)).reaped).toHaveLength(1)
})

test.each([
  ['no JSON', 'not json'],
  ['another HAID than its name', JSON.stringify({ haid: 'haid:eve.laptop-00ff/other' })],
  [
    'surfaces outside',
    JSON.stringify({
      haid: 'haid:eve.laptop-00ff/cursor',
      claimed_surfaces: ['../../etc'],
      claimed_at: '2026-01-02T03:00:00Z',
    }),
  ],
  [
    'surfaces that are no texts',
    JSON.stringify({ haid: 'haid:eve.laptop-00ff/cursor', claimed_surfaces: [7], claimed_at: '2026-01-02T03:00:00Z' }),
  ],
  [
    'a time that is none',
    JSON.stringify({ haid: 'haid:eve.laptop-00ff/cursor', claimed_surfaces: ['src'], claimed_at: 'yesterday' }),
  ],
])('a file with %s is passed over with a reason, and the others count', async (_, text) => {
  const room = openRoom({ project: temporaryProject() })
  const path = foreign(room, {})
  foreign(room, { claimed_surfaces: ['docs'] }, 'haid:eve.laptop-00ff/copilot')
  writeFileSync(path, text)
  expect((await takeInRemote(room)).skipped).toEqual([expect.stringContaining('haid_eve.laptop-00ff_cursor.json')])
  expect(listClaims(room)).toHaveLength(1)
})

test('events of other machines are taken in once, as reports; our own come back unnoticed', async () => {
  const room = openRoom()
  await enter(room, 'amber-otter')
  await exportLedger(room)
  const path = join(ledgerDir(room.project), 'events.jsonl')
  const theirs = {
    id: 'proto_20260102_X',
    version: 'v1',
    event_type: 'HANDOFF',
    project_root: '/elsewhere',
    bead_id: 'T-7',
    from_agent: 'cursor',
    to_agent: 'copilot',
    scope: null,
    created_at: '2026-01-02T03:00:00.000Z',
    payload: {},
    origin: 'haid:eve.laptop-00ff',
  }
  writeFileSync(path, `${readFileSync(path, 'utf8')}${JSON.stringify(theirs)}\n{"torn":`)
  await takeInRemote(room)
  await room.store.change((rows) => rows.putSetting(signatureKey(room.project), '{}'))
  await takeInRemote(room)
  expect(room.store.read((rows) => rows.events({})).map(({ type, actor, payload }) => [type, actor, payload])).toEqual([
    ['REGISTER', 'amber-otter', expect.anything()],
    ['REPORTED', null, { reported_by: { commit: null, author: null }, event: theirs }],
  ])
})

test('our own writing is no news to anybody', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  await claimScopes(room, amber, wants(room, 'src'))
  await exportLedger(room, amber.haid)
  const seq = room.store.read((rows) => rows.lastSeq())
  await takeInRemote(room)
  expect(room.store.read((rows) => [rows.lastSeq(), rows.agents().length])).toEqual([seq, 1])
})
