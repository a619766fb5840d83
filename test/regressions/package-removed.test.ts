// A session whose package was replaced or removed while it ran could not write its exit record, and never ended.
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { hm } from '../hm/hm.ts'
import { temporaryFolder } from '../support/project.ts'
import { runProgram, waitForDeath } from '../support/programs.ts'
import { until } from '../support/wait.ts'

test('it goes on, is looked at and typed into by the newer one, and ends with its record', async () => {
  const home = hm()
  const old = temporaryFolder()
  for (const part of ['bin', 'dist', 'package.json']) cpSync(resolve(part), join(old, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(old, 'node_modules'))
  const command = ['sh', '-c', 'echo ready; read line; echo "got $line"; read line; exit 7']
  const started = await runProgram(
    [process.execPath, join(old, 'bin/hm'), 'run', '--id', 'x', '--detach', '--', ...command],
    { cwd: home.home, env: home.env },
  )
  expect(started).toMatchObject({ code: 0, stderr: '' })
  const shows = (text: string) =>
    until(`${text} on the screen`, async () => (await home.run(['peek', 'x'])).stdout.includes(text))
  await shows('ready')
  for (const part of ['bin', 'dist', 'package.json', 'node_modules']) rmSync(join(old, part), { recursive: true })
  const { supervisorPid = 0 } = readHolder(home.dir, 'x') ?? {}
  await home.run(['send', 'x', 'this', '--enter'])
  await shows('got this')
  await home.run(['send', 'x', 'that', '--enter'])
  await waitForDeath(supervisorPid)
  expect(readExitRecord(home.dir, 'x')).toMatchObject({ exit_code: 7, reason: 'exit' })
  expect((await home.run(['logs', 'x'])).stdout).toContain('got this')
})
