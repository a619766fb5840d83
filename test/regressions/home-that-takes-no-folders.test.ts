// A HOME on a file system that takes no folders (/proc) made a start try for ever, at full speed.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryProject } from '../support/project.ts'

test.runIf(existsSync('/proc/self'))('a start says that there is no place for its folder', async () => {
  const project = temporaryProject()
  const env = { HOME: '/proc/1', XDG_DATA_HOME: '/proc/1/share' }
  const { code, stderr } = await project.run('hm', ['run', '--detach', '--', 'true'], { env })
  expect(stderr).toMatch(/^error: \/proc\/1 takes no folders, and \/proc\/1\/\S+ cannot be made\nhint: .*\n$/)
  expect(code).not.toBe(0)
})
