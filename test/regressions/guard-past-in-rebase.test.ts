// In the middle of a rebase every commit was taken for a replayed one, also a new one made past the guard.
import { expect, test } from 'vitest'
import { guardedRepository } from '../guard/repository.ts'

test('a new commit past the guard in the middle of a rebase is noticed', async () => {
  const repo = await guardedRepository()
  repo.commit({}, 'a.txt')
  repo.commit({}, 'b.txt')
  repo.git({}, ['-c', 'sequence.editor=sed -i 1s/pick/edit/', 'rebase', '--quiet', '--interactive', 'HEAD~1'])
  expect(repo.project.git('status')).toContain('rebase in progress')
  const past = repo.commit(repo.cobalt, 'src/api/users.ts', '--no-verify')
  expect(past.stderr).toContain('went past the guard')
  expect(repo.incursions()).toHaveLength(1)
})
