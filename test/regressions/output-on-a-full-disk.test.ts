// Every command ended in a stack trace when the disk behind its standard output was full.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { launcher } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

test.skipIf(!existsSync('/dev/full'))('output that nobody can keep is one line on stderr, and no success', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const full = openSync('/dev/full', 'w')
  try {
    for (const words of [
      ['--version'],
      ['--help'],
      ['claim', 'check', 'src'],
      ['agent', 'list'],
      ['agent', 'list', '--json'],
      ['watch', '--json'],
    ]) {
      const [node, ...args] = [...launcher('heimdall'), ...words] as [string, ...string[]]
      const { status, stderr } = spawnSync(node, args, {
        cwd: project.root,
        env: { PATH: process.env['PATH'], ...project.env },
        encoding: 'utf8',
        stdio: ['ignore', full, 'pipe'],
      })
      const line = /^error: standard output cannot be written to: ENOSPC[^\n]*\n$/
      expect([words, status, stderr]).toEqual([words, 8, expect.stringMatching(line)])
    }
  } finally {
    closeSync(full)
  }
})
