// The commands of the settings, as real processes: how they end, and what ends with them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WORKTREE_COMMAND_MS } from '../../src/limits.ts'
import { failureOfCommand } from '../../src/spine/worktrees/shell-command.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { waitForFile } from '../support/wait.ts'

function run(
  command: string,
  cwd = temporaryFolder(),
): { readonly cwd: string; readonly clock: FakeClock; readonly failure: Promise<string | undefined> } {
  const clock = fakeClock()
  const failure = failureOfCommand({ command, cwd, checkout: cwd, env: process.env, clock })
  return { cwd, clock, failure }
}

test('a command that cannot be started is a failure, and leaves no timer that would kill something else', async () => {
  const { failure, clock } = run('true', join(temporaryFolder(), 'missing'))
  expect(await failure).toMatch(/^cannot start: /)
  expect(clock.pending()).toBe(0)
})

test('a program that left the process group and holds the output open delays nothing', async () => {
  const { failure, cwd, clock } = run('setsid sleep 300 & echo $! > pid; echo last words; exit 3')
  try {
    expect(await failure).toBe('exit 3: last words')
    expect(clock.pending()).toBe(0)
  } finally {
    process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')), 'SIGKILL')
  }
})

test('what the command leaves running in its process group ends with it', async () => {
  const { failure, cwd } = run('sleep 300 & echo $! > pid')
  expect(await failure).toBeUndefined()
  await waitForDeath(Number(readFileSync(join(cwd, 'pid'), 'utf8')))
})

test('the time limit ends the command and what it has started', async () => {
  const { failure, cwd, clock } = run('sleep 300 & echo $! > pid; wait')
  const pid = Number(await waitForFile(join(cwd, 'pid'), (text) => text.endsWith('\n')))
  clock.advance(WORKTREE_COMMAND_MS)
  expect(await failure).toBe('exit SIGKILL')
  await waitForDeath(pid)
})
