// `src/v2.0` and `src/**/x.ts` were both granted and `why` named two holders; `packages/*/src` held nothing below the
// folders it matched (seed 002 §5.2: parent and child overlap).
import { mkdirSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkParsed, checkScopes } from '../../src/coordination/claims/check-scopes.ts'
import { claimScopes, type ClaimResult } from '../../src/coordination/claims/claims.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { judgePaths, recordCollisions } from '../../src/coordination/guard.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { scopeOfPath } from '../../src/scopes/scope.ts'
import { enter, openRoom, wants } from '../coordination/room.ts'
import { guardedRepository, hold } from '../guard/repository.ts'
import { temporaryProject } from '../support/project.ts'
import { scaled } from '../support/scale.ts'

const agents = async (room: Coordination): Promise<[AgentActor, AgentActor, AgentActor]> => [
  await enter(room, 'amber-otter'),
  await enter(room, 'cobalt-harbor'),
  await enter(room, 'jade-heron'),
]

const holders = (room: Coordination, path: string): string[] =>
  checkScopes(room, { scopes: [path], cwd: room.project.root, asker: null }).conflicts.map(({ agentId }) => agentId)

function expectRefused(result: ClaimResult, witness: string): void {
  expect(result).toMatchObject({ granted: false, conflicts: [{ kind: 'partial', witness }] })
}

test('a folder that is not there yet is held with what will be below it, by every door', async () => {
  const project = temporaryProject()
  const claim = (name: string, scope: string) =>
    project.run('heimdall-claim', ['claim', scope], { env: { HEIMDALL_HAID: `haid:ana.box-1f2e/${name}` } })
  expect(await claim('one', 'src/v2.0')).toMatchObject({ code: 0 })
  const second = await claim('two', 'src/**/x.ts')
  expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining('at src/v2.0/x.ts') })
  const why = await project.run('heimdall', ['why', 'src/v2.0/x.ts', '--json'])
  expect(JSON.parse(why.stdout)).toMatchObject({ data: { holders: [{ haid: 'haid:ana.box-1f2e/one' }] } })
})

test('a glob that ends in a folder’s name holds the folders it matches', async () => {
  const room = openRoom()
  const [amber, cobalt] = await agents(room)
  expect((await claimScopes(room, amber, wants(room, 'packages/*/src'))).granted).toBe(true)
  expectRefused(await claimScopes(room, cobalt, wants(room, 'packages/web/src/app.css')), 'packages/web/src/app.css')
  expectRefused(await claimScopes(room, cobalt, wants(room, '**/*.css')), 'packages/a/src/.css')
  expect((await claimScopes(room, cobalt, wants(room, 'packages/web/test'))).granted).toBe(true)
})

test('a guard follows the same rule', async () => {
  const repo = await guardedRepository()
  await repo.inRoom(async (room) => hold(room, repo.amber, ['packages/*/src']))
  expect(repo.commit(repo.cobalt, 'packages/web/src/deep/a.ts').code).toBe(1)
})

test('a folder that appears under a file’s name: the earlier claim holds it, the later one is an incursion', async () => {
  const room = openRoom({ root: temporaryProject().root })
  const [amber, cobalt, jade] = await agents(room)
  expect((await claimScopes(room, amber, wants(room, 'src/api.ts'))).granted).toBe(true)
  expect((await claimScopes(room, cobalt, wants(room, 'src/**/*.test.ts'))).granted).toBe(true)
  const path = 'src/api.ts/x.test.ts'
  expect(holders(room, path)).toEqual(['amber-otter'])
  const commit = async (actor: AgentActor, agentId: string) => {
    const committer = { kind: 'agent' as const, haid: actor.haid, agentId, isProven: true, isRevoked: false }
    const verdict = judgePaths(room, committer, [path])
    await recordCollisions(room, committer, verdict)
    return verdict
  }
  expect(await commit(amber, 'amber-otter')).toMatchObject({ outcome: 'clear' })
  expect(incursions(room)).toEqual([['amber-otter', 'cobalt-harbor']])
  expect(await commit(cobalt, 'cobalt-harbor')).toMatchObject({
    outcome: 'refuse',
    collisions: [{ agentId: 'amber-otter' }],
  })
  expect(await claimScopes(room, jade, wants(room, path))).toMatchObject({
    granted: false,
    conflicts: [{ agentId: 'amber-otter' }],
  })
})

test('it is the epoch that decides, not the kind of scope', async () => {
  const room = openRoom()
  const [amber, cobalt] = await agents(room)
  await claimScopes(room, cobalt, wants(room, 'src/**/*.test.ts'))
  await claimScopes(room, amber, wants(room, 'src/api.ts'))
  expect(holders(room, 'src/api.ts/x.test.ts')).toEqual(['cobalt-harbor'])
  expect(holders(room, 'src/api.ts/x.ts')).toEqual(['amber-otter'])
})

test('a file’s name that is a folder by now is taken for what it is', async () => {
  const room = openRoom({ root: temporaryProject().root })
  const [amber, cobalt] = await agents(room)
  await claimScopes(room, amber, wants(room, 'src/api.ts'))
  mkdirSync(`${room.project.root}/src/api.ts`, { recursive: true })
  expectRefused(await claimScopes(room, cobalt, wants(room, 'src/**/*.test.ts')), 'src/api.ts/.test.ts')
  rmSync(`${room.project.root}/src`, { recursive: true })
  expect((await claimScopes(room, cobalt, wants(room, 'src/**/*.test.ts'))).granted).toBe(true)
})

test('taking the path from a silent first holder does not take it from a second one who is at work', async () => {
  const room = openRoom()
  const [amber, cobalt, jade] = await agents(room)
  await claimScopes(room, amber, wants(room, 'src/api.ts'))
  await claimScopes(room, cobalt, wants(room, 'src/**/*.test.ts'))
  const taken = await claimScopes(room, jade, {
    ...wants(room, 'src/api.ts/x.test.ts'),
    takeover: { force: 'ana', reason: 'both are gone' },
  })
  expect(taken).toMatchObject({ granted: true, displaced: [{ agentId: 'amber-otter' }, { agentId: 'cobalt-harbor' }] })
  expect(holders(room, 'src/api.ts/x.test.ts')).toEqual(['jade-heron'])
})

const NAMES = ['a', 'a.ts', 'v2.0', 'x.test.ts', '.git']
const PATHS = NAMES.flatMap((one) => [
  one,
  ...NAMES.flatMap((two) => [`${one}/${two}`, ...NAMES.map((three) => `${one}/${two}/${three}`)]),
])

test('whatever was granted, no path has two holders', async () => {
  const name = fc.constantFrom(...NAMES, '*', '**', '*.ts', '*.*', 'a*', '?.ts', '[av]*', '{a,v2.0}')
  const pattern = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  await fc.assert(
    fc.asyncProperty(fc.array(pattern, { minLength: 4, maxLength: 12 }), async (raws) => {
      const room = openRoom()
      for (const [i, raw] of raws.entries()) await claimScopes(room, await enter(room, `agent-${i}`), wants(room, raw))
      for (const path of PATHS) {
        // Whoever holds something below it is in its way too, and does not hold the path itself.
        const found = checkParsed(room, [scopeOfPath(path, { caseSensitive: true })], null).filter(
          ({ witness }) => witness === path,
        )
        if (found.length > 1)
          throw new Error(`${path}: ${found.map(({ agentId, held }) => `${agentId} ${held}`).join(', ')}`)
      }
    }),
    { numRuns: scaled(15, 500) },
  )
})

function incursions(room: Coordination): unknown[] {
  return listEvents(room, { types: ['INCURSION'] }).map(({ payload }) => [
    payload['owner_agent'],
    payload['incoming_agent'],
  ])
}
