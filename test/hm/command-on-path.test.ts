// A program that is looked for on PATH, where one folder of PATH may not be searched: ordinary users often have folders of root there.
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkCommand } from '../../src/sessions/command.ts'
import { temporaryFolder } from '../support/project.ts'

test('a PATH folder that may not be searched does not hide that a program is missing', () => {
  const cwd = temporaryFolder()
  const closed = join(cwd, 'closed')
  mkdirSync(closed, { mode: 0 })
  onTestFinished(() => chmodSync(closed, 0o700))
  chmodSync(cwd, 0o755)
  const refusal = (program: string) => () => checkCommand({ cwd, command: [program] }, { PATH: `${closed}:/usr/bin` })
  // Root may search every folder.
  if (process.getuid?.() === 0) {
    process.seteuid?.(65_534)
    onTestFinished(() => process.seteuid?.(0))
  }
  expect(refusal('no-such-program')).toThrow('no such program')
  expect(refusal('env')).not.toThrow()
  expect(refusal('./closed/x')).toThrow('its folder may not be searched')
})
