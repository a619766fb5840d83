// A process that already ran went on in a store that a newer version had migrated, or that was no longer in its place.
import { renameSync } from 'node:fs'
import { expect, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { waitForClaim } from '../../src/coordination/claims/queue.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { enter, openRoom, wants } from '../coordination/room.ts'
import { join } from '../mcp/session.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'

/** As a version would that has a hundred migrations. */
function migrateAway(project: TemporaryProject): void {
  const db = openDatabase(project.path('.git/heimdall/coordination.db'), {
    migrations: Array.from({ length: 100 }, () => 'DROP TABLE IF EXISTS entries'),
  })
  db.close()
}

const start = (project: TemporaryProject, ...words: string[]): Program =>
  startProgram([...launcher('heimdall'), ...words], { cwd: project.root, env: project.env })

test('a server that runs changes nothing and answers nothing in a store that has become newer than it', async () => {
  const project = temporaryProject()
  const cursor = await join(project, 'cursor')
  expect((await cursor.call('make_claim', { surfaces: ['src/a'], task: 'T-1' })).isError).toBe(false)
  migrateAway(project)
  for (const [tool, args] of [
    ['make_claim', { surfaces: ['src/b'], task: 'T-2' }],
    ['check_claim', { surfaces: ['src/a'] }],
    ['release_claim', {}],
  ] as const)
    expect(JSON.stringify(await cursor.call(tool, args))).toContain('this program knows')
})

test('whoever follows or waits ends with one clear line when the store becomes newer', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])
  await project.run('heimdall', ['claim', 'take', 'src', '--agent', 'amber-otter'])
  const watch = start(project, 'watch')
  const wait = start(project, 'claim', 'wait', 'src', '--agent', 'cobalt-harbor', '--timeout', '10m')
  await until('the watch', () => watch.stderr().includes('following from'))
  await until('the wait', () => wait.stderr().includes('waiting for amber-otter'))
  migrateAway(project)
  for (const program of [watch, wait]) {
    expect((await program.ended).code, program.stderr()).toBe(8)
    expect(program.stderr()).toMatch(/^error: .* has schema version 100, this program knows \d+$/m)
    expect(program.stderr()).not.toMatch(/^ +at /m)
  }
})

test('watch follows the store that took the place of the one that it followed', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const watch = start(project, 'watch', '--json')
  await watch.nextLine(/"following"/)
  renameSync(project.path('.git/heimdall'), project.path('.git/aside'))
  await project.run('bb', ['agent', 'register', '--name', 'cobalt-harbor', '--role', 'ui'])
  await watch.nextLine(/^\{"type":"entry".*"from_agent":"cobalt-harbor"/)
  expect(watch.stderr()).toContain('the store was removed or replaced')
})

test('nothing is granted in a store that has left its place, and whoever waits there is told', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, waiter] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  await claimScopes(room, owner, wants(room, 'src'))
  const wait = waitForClaim(room, waiter, wants(room, 'src'), { timeoutMs: 600_000 })
  const refused = expect(wait).rejects.toMatchObject({ code: 'STORE_REPLACED' })
  await clock.advanceAsync(0)
  renameSync(storePath(room.project), `${storePath(room.project)}.aside`)
  await clock.advanceAsync(10_000)
  await refused
  await expect(claimScopes(room, owner, wants(room, 'docs'))).rejects.toMatchObject({ code: 'STORE_REPLACED' })
})

test('whoever follows a fleet without waiting for it is told of a newer store, and not ended by it', async () => {
  const room = openRoom({ clock: fakeClock() })
  openDatabase(storePath(room.project), { migrations: Array.from({ length: 100 }, () => '') }).close()
  const told: string[] = []
  await room.store.link(new AbortController().signal, ({ code }) => told.push(code))
  expect(told).toEqual(['STORE_NEWER'])
})
