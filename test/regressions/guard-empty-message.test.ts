// The agent's trailer made a message of an empty one, and git took a commit that it refuses otherwise.
import { expect, test } from 'vitest'
import { guardedRepository } from '../guard/repository.ts'

test('an empty message is still refused by git', async () => {
  const repo = await guardedRepository()
  repo.project.write('docs/a.md', 'x\n')
  repo.git({}, ['add', '.'])
  const ended = repo.git(repo.cobalt, ['commit', '--message', ''])
  expect(ended.code).not.toBe(0)
  expect(ended.stderr).toContain('empty commit message')
  expect(repo.git({}, ['log', '--format=%s']).stdout).toBe('start\n')
})
