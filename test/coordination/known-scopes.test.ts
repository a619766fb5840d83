// Scopes parsed before: the disk is asked again, so no change of it is missed.
import { lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentActor } from '../../src/coordination/change.ts'
import { checkParsed, checkScopes } from '../../src/coordination/claims/check-scopes.ts'
import { type ClaimResult, claimScopes } from '../../src/coordination/claims/claims.ts'
import { KnownScopes } from '../../src/coordination/claims/known-scopes.ts'
import { scopeContext } from '../../src/coordination/claims/lookup.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { judgePaths, recordCollisions } from '../../src/coordination/guard.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { KNOWN_SCOPES_MAX } from '../../src/limits.ts'
import { findProject } from '../../src/paths.ts'
import { parseScopes, type ScopeContext, scopeOfPath } from '../../src/scopes/scope.ts'
import { guardedRepository, hold } from '../guard/repository.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { enter, openRoom, wants } from './room.ts'

const WORDS = ['a', 'a/b', 'a/*.ts', 'a/**', '[id]/x', 'a/{b,c}', './a/b/', 'a#f', 'link/b']

/** What parsing comes to: scopes, or the code that it is refused with. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    return (error as { code?: string }).code
  }
}

test('whatever the disk becomes, the scopes are those of a fresh parse', () => {
  const outside = temporaryFolder()
  const change = fc.record({
    name: fc.constantFrom('a', 'a/b', '[id]', 'a/c', 'link'),
    to: fc.constantFrom('nothing', 'file', 'folder', 'link inside', 'link outside'),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const root = temporaryFolder()
      const known = new KnownScopes()
      for (const { name, to } of changes) {
        const path = join(root, name)
        const parent = join(path, '..')
        // What is no real folder makes room for one.
        if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(parent)
        mkdirSync(parent, { recursive: true })
        rmSync(path, { recursive: true, force: true })
        if (to === 'file') writeFileSync(path, '')
        if (to === 'folder') mkdirSync(path)
        if (to === 'link inside') symlinkSync(join(root, 'elsewhere'), path)
        if (to === 'link outside') symlinkSync(outside, path)
        for (const word of WORDS) {
          const context = scopeContext(findProject(root, {}), root, true)
          expect(outcome(() => known.parse([word], context))).toEqual(outcome(() => parseScopes([word], context)))
        }
      }
    }),
    { numRuns: scaled(15, 300) },
  )
})

test('another folder, another rule of case, another worktree: nothing known applies', () => {
  const project = temporaryProject()
  project.git('worktree', 'add', '-q', '../linked')
  const linked = join(project.root, '../linked')
  project.write('src/A.ts', '')
  const known = new KnownScopes()
  const context = scopeContext(findProject(project.root, {}), project.root, true)
  const contexts: ScopeContext[] = [
    context,
    { ...context, cwd: join(project.root, 'src') },
    { ...context, caseSensitive: false },
    { ...context, otherRoots: [project.root] },
  ]
  for (const round of [1, 2])
    for (const place of contexts)
      for (const word of ['A.ts', `${linked}/src/A.ts`])
        expect([round, outcome(() => known.parse([word], place))]).toEqual([
          round,
          outcome(() => parseScopes([word], place)),
        ])
})

test('more scopes than are kept are parsed all the same', () => {
  const root = temporaryFolder()
  const known = new KnownScopes()
  const context = scopeContext(findProject(root, {}), root, true)
  for (let i = 0; i < KNOWN_SCOPES_MAX + 2; i += 1)
    expect(known.parse([`src/${i}`], context)).toMatchObject([{ canonical: `src/${i}` }])
})

// Parent and child overlap, whatever the folder is called (seed 002 §5.2).
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
