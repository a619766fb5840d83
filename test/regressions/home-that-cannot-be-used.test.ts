// A home that nothing can be kept in: whatever was asked for, one line says what the system refused, and nobody sees a stack.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diskError } from '../../src/storage/faults.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'

const REFUSED = /^(?:warning: .*\n)*error: cannot (?:use|read) .*\nhint: .*\n$/

test.each([
  ['approvals list'],
  ['pin list'],
  ['demo --no-hub'],
  ['init claude --yes'],
  ['session ls'],
  ['runs reindex'],
])('a home that is a file: heimdall %s', async (words) => {
  const { root } = temporaryProject()
  const HOME = join(temporaryFolder(), 'file')
  writeFileSync(HOME, '')
  const command = [...launcher('heimdall'), ...words.split(' ')] as const
  const { code, stdout, stderr } = await runProgram(command, {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', HOME },
  })
  expect([code, stdout, stderr]).toEqual([8, '', expect.stringMatching(REFUSED)])
})

test('a folder that cannot be made although the one above is there is told in the same way', () => {
  let caught: unknown
  try {
    mkdirSync('/proc/1/x')
  } catch (error) {
    caught = diskError('/proc/1/x', error)
  }
  expect(caught).toMatchObject({ code: 'STORE_UNREADABLE', hint: 'check its owner and permissions' })
})
