// The claim engine: what is granted, refused, fenced, taken over and recorded.
import { mkdirSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkScopes, isFenced } from '../../src/coordination/claims/check-scopes.ts'
import { type ClaimResult, claimScopes, listClaims, reap } from '../../src/coordination/claims/claims.ts'
import { releaseClaims, renewClaims } from '../../src/coordination/claims/held.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { heartbeat, setRevoked } from '../../src/coordination/who/registration.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { enter, MINUTE, openRoom, temporaryProject, wants } from './room.ts'

const granted = (result: ClaimResult): Extract<ClaimResult, { granted: true }> => {
  if (!result.granted) throw new Error(`not granted: ${JSON.stringify(result.conflicts)}`)
  return result
}
const conflictsOf = (result: ClaimResult): { agentId: string; liveness: string; kind: string }[] =>
  result.granted ? [] : result.conflicts.map(({ agentId, liveness, kind }) => ({ agentId, liveness, kind }))
const eventTypes = (room: Coordination): string[] =>
  room.store.read((rows) => rows.events({})).map((event) => event.type)

test('exact and partial overlap are both refused, and what is disjoint is granted (coordination-origin §6 #1)', async () => {
  const room = openRoom()
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src/lib/*', { task: 'T-1' })))
  for (const [scope, kind] of [
    ['src/lib', 'exact'],
    ['src/lib/parser.ts', 'partial'],
    ['src/**/*.ts', 'partial'],
    ['.', 'partial'],
  ] as const)
    expect(conflictsOf(await claimScopes(room, cobalt, wants(room, scope)))).toEqual([
      { agentId: 'amber-otter', liveness: 'active', kind },
    ])
  granted(await claimScopes(room, cobalt, wants(room, 'src/components')))
  granted(await claimScopes(room, amber, wants(room, 'src/lib/parser.ts')))
})

test('all scopes of a claim or none, with every conflict, holder, task, expiry and witness', async () => {
  const room = openRoom()
  const [amber, cobalt, dusky] = [
    await enter(room, 'amber-otter'),
    await enter(room, 'cobalt-harbor'),
    await enter(room, 'dusky-lynx'),
  ]
  granted(await claimScopes(room, amber, wants(room, 'src/a/**', { task: 'T-1', ttlMinutes: 60 })))
  granted(await claimScopes(room, cobalt, wants(room, 'src/b.ts', { task: 'T-2' })))
  const refused = await claimScopes(room, dusky, wants(room, ['docs/**', 'src/*/x.ts', 'src/b.ts']))
  if (refused.granted) throw new Error('granted')
  expect(refused.conflicts).toMatchObject([
    {
      agentId: 'amber-otter',
      held: 'src/a/**',
      wanted: 'src/*/x.ts',
      witness: 'src/a/x.ts',
      task: 'T-1',
      kind: 'partial',
    },
    { agentId: 'cobalt-harbor', held: 'src/b.ts', wanted: 'src/b.ts', witness: 'src/b.ts', task: 'T-2', kind: 'exact' },
  ])
  expect(refused.conflicts[0]?.expiresAt).toBe(new Date(room.clock.wallMs() + 60 * MINUTE).toISOString())
  expect(listClaims(room, { holder: dusky.haid })).toEqual([])
})

test('seed 002 §4.4: takeover at the exact boundaries of 15:00 and 30:00', async () => {
  for (const [silentMs, flagless, withFlag] of [
    [15 * MINUTE - 1, 'active', 'refused'],
    [15 * MINUTE, 'stale', 'granted'],
    [30 * MINUTE - 1, 'stale', 'granted'],
    [30 * MINUTE, 'evicted', 'granted'],
  ] as const) {
    const clock = fakeClock()
    const room = openRoom({ clock })
    const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
    const first = granted(await claimScopes(room, amber, wants(room, 'src/lib')))
    clock.advance(silentMs)
    expect(conflictsOf(await claimScopes(room, cobalt, wants(room, 'src/lib/x.ts')))[0]?.liveness).toBe(flagless)
    const second = await claimScopes(room, cobalt, wants(room, 'src/lib/x.ts', { takeover: 'stale' }))
    expect(second.granted ? 'granted' : 'refused').toBe(withFlag)
    if (!second.granted) continue
    expect(second.claim.epoch).toBeGreaterThan(first.claim.epoch)
    expect(room.store.read((rows) => rows.claim(first.claim.claimId))).toMatchObject({
      state: 'expired',
      displacedBy: second.claim.claimId,
    })
    expect(eventTypes(room)).toContain('TAKEOVER')
  }
})

test('a heartbeat changes what a takeover answers (coordination-origin §5 #3)', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src')))
  clock.advance(15 * MINUTE)
  await heartbeat(room, amber)
  await heartbeat(room, amber)
  expect((await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale' }))).granted).toBe(false)
  clock.advance(15 * MINUTE)
  expect((await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale' }))).granted).toBe(true)
})

test('an active owner keeps its claim though the lease lapsed; a silent one loses a lapsed lease only through a door that archives', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src', { ttlMinutes: 5 })))
  clock.advance(6 * MINUTE)
  const early = await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale', archivesLapsed: true }))
  expect(early).toMatchObject({ granted: false, conflicts: [{ lease: 'lapsed', liveness: 'active' }] })
  clock.advance(9 * MINUTE)
  expect((await claimScopes(room, cobalt, wants(room, 'src'))).granted).toBe(false)
  granted(await claimScopes(room, cobalt, wants(room, 'src', { archivesLapsed: true })))
})

test('a displaced holder can neither renew nor release, and learns who holds the scope now', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  const { claim } = granted(await claimScopes(room, amber, wants(room, 'src')))
  expect(isFenced(room, claim)).toBe(false)
  clock.advance(20 * MINUTE)
  granted(await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale' })))
  expect(isFenced(room, claim)).toBe(true)
  const cwd = room.project.root
  await expect(async () =>
    renewClaims(room, amber, { claimId: claim.claimId, epoch: claim.epoch, cwd }),
  ).rejects.toThrow(/now held by cobalt-harbor/)
  await expect(async () => releaseClaims(room, amber, { claimId: claim.claimId, cwd })).rejects.toThrow(
    expect.objectContaining({ code: 'CLAIM_FENCED' }),
  )
  await expect(async () => releaseClaims(room, amber, { scopes: ['src'], cwd })).rejects.toThrow(
    expect.objectContaining({ code: 'RELEASE_FORBIDDEN' }),
  )
  expect(eventTypes(room).filter((type) => type === 'REFUSED')).toHaveLength(3)
  expect(listClaims(room)).toHaveLength(1)
})

test('a forged secret, a revoked agent and an unknown one change nothing', async () => {
  const room = openRoom()
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  const { claim } = granted(await claimScopes(room, amber, wants(room, 'src')))
  const forged = { ...amber, secret: cobalt.secret }
  const cwd = room.project.root
  for (const actor of [forged, { ...amber, secret: null }])
    await expect(async () => releaseClaims(room, actor, { claimId: claim.claimId, cwd })).rejects.toThrow(
      expect.objectContaining({ code: 'IDENTITY_UNPROVEN' }),
    )
  await setRevoked(room, { kind: 'human', name: 'ana' }, cobalt.haid, true)
  await expect(async () => claimScopes(room, cobalt, wants(room, 'docs'))).rejects.toThrow(
    expect.objectContaining({ code: 'AGENT_REVOKED' }),
  )
  await setRevoked(room, { kind: 'human', name: 'ana' }, cobalt.haid, false)
  granted(await claimScopes(room, cobalt, wants(room, 'docs')))
  const nobody = { kind: 'agent', haid: `${room.rootHaid}/nobody`, secret: 'x' } as const
  await expect(async () => claimScopes(room, nobody, wants(room, 'docs'))).rejects.toThrow(
    expect.objectContaining({ code: 'AGENT_NOT_FOUND' }),
  )
  expect(listClaims(room)).toHaveLength(2)
})

test('claiming the same scopes again renews under the same epoch; `src/lib` releases `src/lib/*` (coordination-origin §6 #18)', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  const first = granted(await claimScopes(room, amber, wants(room, ['src/lib/*', 'docs'])))
  const again = granted(await claimScopes(room, amber, wants(room, ['./docs/', 'src/lib/**'], { ttlMinutes: 5 })))
  expect(again).toMatchObject({ renewed: true, claim: { epoch: first.claim.epoch, ttlMinutes: 5 } })
  expect(await releaseClaims(room, amber, { scopes: ['src/lib'], cwd: room.project.root })).toHaveLength(1)
  expect(listClaims(room)).toEqual([])
  const third = granted(await claimScopes(room, amber, wants(room, 'src/lib')))
  expect(third.claim.epoch).toBeGreaterThan(first.claim.epoch)
})

test('INCURSION is recorded once per pair and ten minutes, with a count, and survives the refusal (seed 002 §6.2)', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src/*', { task: 'T-1' })))
  const incursions = () => room.store.read((rows) => rows.events({ types: ['INCURSION'] }))
  for (let attempt = 0; attempt < 3; attempt += 1) await claimScopes(room, cobalt, wants(room, 'src/lib/parser.ts'))
  expect(incursions()).toHaveLength(1)
  const [first] = incursions()
  expect(first).toMatchObject({
    actor: 'cobalt-harbor',
    to: 'amber-otter',
    payload: {
      incursion_kind: 'partial',
      owner_agent: 'amber-otter',
      incoming_agent: 'cobalt-harbor',
      owner_liveness: 'active',
    },
  })
  expect(room.store.read((rows) => rows.incursionCounts([first?.id ?? ''])).get(first?.id ?? '')).toBe(3)
  await heartbeat(room, amber)
  clock.advance(10 * MINUTE)
  await claimScopes(room, cobalt, wants(room, 'src/lib/parser.ts'))
  expect(incursions()).toHaveLength(2)
})

test('seed 002 §6.2: owner_liveness and resolution_hint of an INCURSION are those of the attempt', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src/*')))
  for (const minutes of [9, 6, 1]) {
    clock.advance(minutes * MINUTE)
    await claimScopes(room, cobalt, wants(room, 'src/lib/parser.ts'))
  }
  const incursions = room.store.read((rows) => rows.events({ types: ['INCURSION'] }))
  expect(incursions.map(({ payload }) => [payload['owner_liveness'], payload['resolution_hint']])).toEqual([
    ['active', expect.stringContaining('ask amber-otter')],
    ['stale', expect.stringContaining('take over with --takeover-stale')],
  ])
  const counts = room.store.read((rows) => rows.incursionCounts(incursions.map(({ id }) => id)))
  expect([...counts.values()]).toEqual([1, 2])
})

test('seed 002 §4.4: TAKEOVER precedes the new CLAIM, so that a reader of events never sees two holders', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src/*')))
  clock.advance(15 * MINUTE)
  granted(await claimScopes(room, cobalt, wants(room, 'src/*', { takeover: 'stale' })))
  const events = room.store.read((rows) => rows.events({ types: ['CLAIM', 'TAKEOVER'] }))
  expect(events.map(({ type, actor }) => [type, actor])).toEqual([
    ['CLAIM', 'amber-otter'],
    ['TAKEOVER', 'cobalt-harbor'],
    ['CLAIM', 'cobalt-harbor'],
  ])
})

test('a check has no side effects', async () => {
  const room = openRoom()
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src')))
  const before = room.store.read((rows) => [rows.lastSeq(), rows.agents()])
  const { conflicts } = checkScopes(room, { scopes: ['src/x.ts'], cwd: room.project.root, asker: cobalt })
  expect(conflicts).toHaveLength(1)
  expect(checkScopes(room, { scopes: ['src/x.ts'], cwd: room.project.root, asker: amber }).conflicts).toEqual([])
  expect(room.store.read((rows) => [rows.lastSeq(), rows.agents()])).toEqual(before)
})

test('reaping archives lapsed claims of silent owners and nothing else; listing archives nothing', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src', { ttlMinutes: 5 })))
  granted(await claimScopes(room, cobalt, wants(room, 'docs', { ttlMinutes: 5 })))
  clock.advance(16 * MINUTE)
  await heartbeat(room, cobalt)
  expect(listClaims(room).map(({ lease }) => lease)).toEqual(['lapsed', 'live'])
  expect(await reap(room)).toMatchObject({ reaped: [{ holder: amber.haid, state: 'expired' }], active: 1 })
})

test('a takeover tells the new holder which paths the old one left dirty', async () => {
  const clock = fakeClock()
  const project = temporaryProject()
  const room = openRoom({ clock, project })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  project.write('src/half-done.ts', 'x')
  project.write('other.ts', 'x')
  granted(await claimScopes(room, amber, wants(room, 'src')))
  clock.advance(20 * MINUTE)
  const taken = granted(await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale' })))
  expect(taken.dirty).toEqual(['src/half-done.ts'])
})

test('a person may take from an active owner, and it is on record who and why', async () => {
  const room = openRoom()
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  granted(await claimScopes(room, amber, wants(room, 'src')))
  granted(await claimScopes(room, cobalt, wants(room, 'src', { takeover: { force: 'ana', reason: 'amber hangs' } })))
  expect(room.store.read((rows) => rows.events({ types: ['TAKEOVER'] }))).toMatchObject([
    {
      actorKind: 'human',
      payload: { takeover_mode: 'forced', by: 'ana', reason: 'amber hangs', prior_owner: 'amber-otter' },
    },
  ])
})

test.each([
  ['outside the project', ['../x'], 'PATH_OUTSIDE_ROOT'],
  ['257 scopes', Array.from({ length: 257 }, (_, i) => `src/${i}.ts`), 'SCOPE_INVALID'],
  ['600 characters', ['a'.repeat(600)], 'SCOPE_INVALID'],
  ['control characters', ['src/\u0007x'], 'SCOPE_INVALID'],
  ['no scope', [], 'SCOPE_INVALID'],
])('bad input: %s is refused with a code, and nothing is half done', async (_, scopes, code) => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  const before = room.store.read((rows) => rows.lastSeq())
  await expect(async () =>
    claimScopes(room, amber, wants(room, ['docs', ...scopes].slice(scopes.length > 0 ? 0 : 1))),
  ).rejects.toThrow(expect.objectContaining({ code }))
  expect(room.store.read((rows) => rows.lastSeq())).toBe(before)
})

// A COLLISION says what to do; an unwritable ledger does not replace the answer to a committed change.
test('every door that reports a collision says what can be done', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'x'])
  await project.run('heimdall', ['claim', 'src', '--agent', 'amber-otter'])
  const hint = 'hint: ask amber-otter for a handoff, wait for it, or work elsewhere'
  for (const [bin, ...args] of [
    ['heimdall', 'claim', 'src/a.ts', '--agent', 'cobalt-harbor'],
    ['heimdall', 'claim', 'check', 'src/a.ts', '--agent', 'cobalt-harbor'],
    ['heimdall', 'claim', 'takeover', 'src/a.ts', '--agent', 'cobalt-harbor'],
    ['heimdall-claim', 'check', 'src/a.ts'],
  ] as const) {
    const { stderr } = await project.run(bin, args)
    expect(stderr).toMatch(/^COLLISION: /)
    expect(stderr).toContain(hint)
  }
  const waited = await project.run('heimdall', [
    'claim',
    'wait',
    'src/a.ts',
    '--agent',
    'cobalt-harbor',
    '--timeout',
    '1s',
  ])
  expect(waited.stderr).toContain('ask amber-otter for a handoff')
  const reserved = await project.run('bb', ['agent', 'reserve', '--agent', 'cobalt-harbor', '--scope', 'src/a.ts'])
  expect(reserved.stderr + reserved.stdout).toMatch(/ask for a handoff/)
  const json = await project.run('heimdall', ['claim', 'check', 'src/a.ts', '--agent', 'cobalt-harbor', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ data: { conflicts: [{ hint: hint.slice('hint: '.length) }] } })
})

test('whatever becomes of the ledger’s files, the answer to a committed change is given', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'x'])
  const dir = project.path('.planning/ledger')
  rmSync(dir, { recursive: true })
  project.write('.planning/ledger', 'a file where the folder belongs')
  const taken = await project.run('heimdall', ['claim', 'src', '--agent', 'amber-otter', '--json'])
  expect(taken).toMatchObject({ code: 0, stderr: expect.stringContaining('the ledger files are behind') })
  expect(JSON.parse(taken.stdout)).toMatchObject({ ok: true, data: { granted: true } })
  rmSync(dir)
  mkdirSync(dir)
  await project.run('heimdall', ['claim', 'release', '--agent', 'amber-otter'])
  expect(project.read('.planning/ledger/events.jsonl').match(/"event_type":"CLAIM"/g)).toHaveLength(1)
})

// A renew after a takeover is refused with the claim, its successor and the next step (seed 002 §4.4).
test('whoever lost everything hears it each time; whoever lost a part hears it once', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  const cwd = room.project.root
  const renew = async (): Promise<unknown> =>
    (await renewClaims(room, amber, { cwd })).map(({ scopes }) => scopes.map(({ raw }) => raw))
  for (const scope of ['src', 'docs']) await claimScopes(room, amber, wants(room, scope))
  clock.advance(15 * MINUTE)
  const taken = await claimScopes(room, cobalt, wants(room, 'src/x.ts', { takeover: 'stale' }))
  expect(taken.granted).toBe(true)
  await expect(renew()).rejects.toThrow(
    expect.objectContaining({
      code: 'CLAIM_FENCED',
      message: expect.stringContaining('now held by cobalt-harbor'),
      hint: expect.stringContaining('ask cobalt-harbor for a handoff'),
      details: {
        lost: [
          expect.objectContaining({
            scopes: ['src'],
            state: 'expired',
            successor: expect.objectContaining({ agent_id: 'cobalt-harbor', scopes: ['src/x.ts'], state: 'active' }),
          }),
        ],
      },
    }),
  )
  expect(await renew()).toEqual([['docs']])
  clock.advance(15 * MINUTE)
  await claimScopes(room, cobalt, wants(room, 'docs', { takeover: 'stale' }))
  for (let time = 0; time < 3; time += 1)
    await expect(renew()).rejects.toThrow(expect.objectContaining({ code: 'CLAIM_FENCED' }))
  expect(room.store.read((rows) => rows.events({ types: ['REFUSED'], agent: 'amber-otter' }))).toHaveLength(4)
})

test('nothing to renew is an answer of its own, and what was claimed again is no loss', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  const cwd = room.project.root
  await expect(async () => renewClaims(room, amber, { cwd })).rejects.toThrow(
    expect.objectContaining({ code: 'RESERVATION_NOT_FOUND' }),
  )
  await claimScopes(room, amber, wants(room, 'src'))
  clock.advance(15 * MINUTE)
  await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale' }))
  await releaseClaims(room, cobalt, { cwd })
  await claimScopes(room, amber, wants(room, 'src'))
  expect(await renewClaims(room, amber, { cwd })).toHaveLength(1)
})
