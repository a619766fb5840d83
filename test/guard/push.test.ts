// The guard before a push: commits that never met it, and commits of others that are theirs.
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { type GuardedRepository, guardedRepository } from './repository.ts'

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
