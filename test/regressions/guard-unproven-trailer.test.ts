// A name without its secret was signed into the commit, and a signed commit counts as the holder's own.
import { expect, test } from 'vitest'
import { guardedRepository } from '../guard/repository.ts'

test('a commit under another’s name, past the guard, is neither signed with it nor overlooked', async () => {
  const repo = await guardedRepository()
  const forged = { HEIMDALL_HAID: repo.amber.HEIMDALL_HAID, HEIMDALL_SECRET: 'guess' }
  const past = repo.commit(forged, 'src/api/users.ts', '--no-verify')
  expect(repo.git({}, ['log', '-1', '--format=%(trailers:key=Heimdall-Agent,valueonly)']).stdout.trim()).toBe('')
  expect(past.stderr).toContain('went past the guard')
  expect(repo.incursions()).toHaveLength(1)
})
