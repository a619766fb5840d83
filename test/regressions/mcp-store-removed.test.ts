// A server whose store was removed went on in the removed file: it granted claims that nobody else could see.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { join } from '../mcp/session.ts'
import { temporaryProject } from '../support/project.ts'

test('after its store is removed a server works in the one that everybody else has', async () => {
  const project = temporaryProject()
  const cursor = await join(project, 'cursor')
  await cursor.call('make_claim', { surfaces: ['src/**'], task: 'T-1' })
  rmSync(project.path('.git/heimdall'), { recursive: true })
  rmSync(project.path('.planning'), { recursive: true })
  const copilot = await join(project, 'copilot')
  expect((await copilot.call('make_claim', { surfaces: ['src/**'], task: 'T-2' })).isError).toBe(false)
  expect((await cursor.call('check_claim', { surfaces: ['src/a.ts'] })).data).toMatchObject({ clear: false })
  expect((await cursor.call('make_claim', { surfaces: ['src/a.ts'], task: 'T-1' })).data).toMatchObject({
    error: 'collision',
  })
  await copilot.call('release_claim')
  expect((await cursor.call('make_claim', { surfaces: ['src/a.ts'], task: 'T-1' })).isError).toBe(false)
  expect((await copilot.call('check_claim', { surfaces: ['src/a.ts'] })).data).toMatchObject({ clear: false })
  expect(cursor.program.stderr()).toContain('the store was removed or replaced')
})
