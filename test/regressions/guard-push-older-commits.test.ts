// A push was judged by today's claims alone: history from before a claim kept agents from pushing at all.
import { expect, test } from 'vitest'
import { guardedRepository, hold } from '../guard/repository.ts'
import { temporaryFolder } from '../support/project.ts'

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
  expect(past.stderr).toContain('went past the guard')
})
