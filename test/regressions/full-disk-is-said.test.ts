// A command on a full disk never ended.
import { expect, test } from 'vitest'
import { canMount, runOnDisk } from '../support/full-disk.ts'
import { temporaryProject } from '../support/project.ts'

test.runIf(canMount)('a hub that cannot say where it listens ends', async () => {
  const { home, env } = temporaryProject()
  expect(await runOnDisk('full', home, ['up', '--port', '0'], { env })).toMatchObject({
    code: 8,
    stderr: expect.stringMatching(/^error: no space left to write .*hub\.json\n/),
  })
})
