// Between the return of `heimdall run --detach` and its keeper's first act the agent was nobody's: a second run took its name, and its claims could be taken over. Here the keeper never acts.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { spine } from '../spine/spine.ts'
import { launcher, runProgram } from '../support/programs.ts'

test('the agent of a run that has just begun is at work, keeper or not', async () => {
  const project = spine()
  const [, bin] = launcher('heimdall')
  const root = join(bin, '../..')
  const copy = join(project.home, 'heimdall')
  mkdirSync(copy)
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'dist/keeper.cjs'), 'setInterval(() => undefined, 1_000)\n')
  const run = (...args: string[]): ReturnType<typeof runProgram> =>
    runProgram([process.execPath, join(copy, 'bin/heimdall'), ...args], { cwd: project.root, env: project.env })
  const first = await run('run', '--agent', 'amber-otter', '--detach', '--', 'sleep', '1000')
  expect(first.code, first.stderr).toBe(0)
  const shown = await run('agent', 'show', '--agent', 'amber-otter')
  expect(shown.stdout).toContain('liveness: active')
  const second = await run('run', '--agent', 'amber-otter', '--detach', '--', 'sleep', '1000')
  expect(second.code, second.stdout).toBe(5)
  expect(second.stderr).toMatch(/amber-otter is at work already: process \d+/)
  expect(project.sheets()).toHaveLength(1)
})
