// The worktree of a displaced holder was gone: git's failure rose as an internal error instead of an answer.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { join, RawSession } from '../mcp/session.ts'
import { temporaryProject } from '../support/project.ts'

test('a conflict with a holder whose worktree is gone is an answer that the agent can act on', async () => {
  const project = temporaryProject()
  project.git('worktree', 'add', '--quiet', '../linked')
  const linked = project.path('../linked')
  const cursor = new RawSession(project, { cwd: linked })
  await cursor.initialize('cursor')
  await cursor.call('make_claim', { surfaces: ['src/**'], task: 'T-1' })
  rmSync(linked, { recursive: true })
  const copilot = await join(project, 'copilot')
  const raised = await copilot.call('raise_conflict_pr', { id: 'c1', title: 'two ways', surfaces: ['src/**'] })
  expect(raised).toMatchObject({ isError: true, data: { error: 'GIT_FAILED', detail: expect.stringContaining('git') } })
  expect((await copilot.call('check_claim', { surfaces: ['src/a.ts'] })).data).toMatchObject({ clear: false })
})
