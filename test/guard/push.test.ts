// The guard before a push: commits that never met it, and commits of others that are theirs.
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { guardedRepository, type GuardedRepository, hold } from './repository.ts'

async function withRemote(): Promise<GuardedRepository> {
  const remote = temporaryFolder()
  const repo = await guardedRepository()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  repo.git({}, ['remote', 'add', 'origin', remote])
  expect(repo.git({}, ['push', '--quiet', 'origin', 'main'])).toMatchObject({ code: 0 })
  return repo
}

/** Past every hook, as with another hooks folder. */
const UNGUARDED = ['-c', 'core.hooksPath=/dev/null']

test('a commit made past all hooks is refused when it is pushed, and is on record', async () => {
  const repo = await withRemote()
  repo.project.write('src/api/users.ts', 'x\n')
  repo.git({}, ['add', '--all'])
  repo.git(repo.cobalt, [...UNGUARDED, 'commit', '--quiet', '-m', 'sneaky'])
  expect(repo.incursions()).toEqual([])
  expect(repo.git(repo.cobalt, ['push', 'origin', 'main'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('push refused'),
  })
  expect(repo.incursions()).toMatchObject([{ payload: { incoming_agent: 'cobalt-harbor' } }])
  // A person is warned.
  expect(await repo.gitByPerson(['push', 'origin', 'main'])).toEqual({
    code: 0,
    shown: expect.stringContaining('warning'),
  })
})

test('the holder’s own commits may be pushed by anybody, to new branches too; deleting a branch is no push of commits', async () => {
  const repo = await withRemote()
  repo.commit(repo.amber, 'src/api/users.ts')
  expect(repo.git(repo.cobalt, ['push', 'origin', 'main'])).toMatchObject({ code: 0 })
  repo.commit(repo.amber, 'src/api/users.ts')
  expect(repo.git(repo.cobalt, ['push', 'origin', 'HEAD:feature'])).toMatchObject({ code: 0 })
  expect(repo.git(repo.cobalt, ['push', 'origin', ':feature'])).toMatchObject({ code: 0 })
  expect(repo.incursions()).toEqual([])
})

// A push is judged by the claims at commit time, not by today's.
const LONG_AGO = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' } as Record<string, string>

test('history from before a claim may be pushed, also to a new remote or to an address', async () => {
  const repo = await guardedRepository()
  repo.commit(LONG_AGO, 'src/web/app.ts')
  await repo.inRoom(async (room) => hold(room, repo.amber, ['src/web/**']))
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  repo.git({}, ['remote', 'add', 'origin', remote])
  expect(repo.git(repo.cobalt, ['push', 'origin', 'main'])).toMatchObject({ code: 0 })
  expect(repo.git(repo.cobalt, ['push', remote, 'main:copy'])).toMatchObject({ code: 0 })
  expect(repo.incursions()).toEqual([])
})

test('a commit past all hooks after the claim is refused among older ones, with all of its paths', async () => {
  const repo = await guardedRepository()
  repo.commit(LONG_AGO, 'src/web/app.ts')
  for (const path of ['src/api/a.ts', 'src/api/b.ts']) {
    repo.project.write(path, 'x\n')
    repo.git({}, ['add', '.'])
    repo.git(repo.cobalt, ['-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-m', path])
  }
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  const refused = repo.git(repo.cobalt, ['push', remote, 'main'])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('src/api/a.ts')
  expect(refused.stderr).toContain('src/api/b.ts')
  expect(repo.incursions()).toHaveLength(1)
})

test('a date in the past does not hide a commit from the check after it', async () => {
  const repo = await guardedRepository()
  const past = repo.commit({ ...repo.cobalt, ...LONG_AGO }, 'src/api/users.ts', '--no-verify')
  expect(past.stderr).toContain('bypassed the guard')
})
