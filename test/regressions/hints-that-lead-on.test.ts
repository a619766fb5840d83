// Small words that led nowhere: a command without --, a number without a unit, groups that were described by their own name.
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { temporaryFolder } from '../support/project.ts'

const run = async (bin: string, ...words: string[]) =>
  await runLauncher(bin, [...words], { env: { HOME: temporaryFolder() } })

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

test('help of what there is not offers what was meant, and nothing that only has as many letters', async () => {
  expect((await run('heimdall', 'help', 'dashboard')).stderr).toContain('hint: did you mean heimdall up?')
  expect((await run('heimdall', 'help', 'nope')).stderr).toContain('hint: topics: exit-codes')
})

test('the exit codes of contract names are told beside ours', async () => {
  const { stdout } = await run('heimdall', 'help', 'exit-codes')
  expect(stdout).toMatch(/such as hm[^\n]*\n[^]*SESSION_NOT_FOUND +1 in place of 3: /)
})

test.each(['events tail', 'watch'])('help of %s says one thing of --json: that it prints lines', async (command) => {
  const { stdout } = await run('heimdall', ...command.split(' '), '--help')
  expect(stdout).toMatch(/^ +--json +print one [^\n]* a line on stdout/m)
  expect(stdout).not.toContain('{ok, command, data, error}')
})
