// Small words that led nowhere: a command without --, a number without a unit, groups that were described by their own name.
import { expect, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

const run = async (bin: string, ...words: string[]) =>
  await runProgram([...launcher(bin), ...words], { env: { HOME: temporaryFolder() } })

test('a command line without -- is told where it goes', async () => {
  const { code, stderr } = await run('hm', 'run', 'bash')
  expect([code, stderr]).toEqual([2, expect.stringContaining('hint: put the command after --: hm run -- bash')])
})

test('a duration without a unit is told that there are days', async () => {
  const { code, stderr } = await run('heimdall', 'runs', 'prune', '--older-than', '7')
  expect([code, stderr]).toEqual([2, expect.stringMatching(/such as .*\b7d\b/)])
})

test.each(['sub', 'heimdall', 'hm', 'bb'])(
  'no group in the overview of %s is described by its own name',
  async (bin) => {
    const { stdout } = await run(bin, '--help')
    expect(stdout).not.toMatch(/^ +(\S+(?: \S+)*?) +\1:/m)
  },
)
