// Seed 000's own suite, at the seed's path: `bin/protocol/test-protocol.sh`, 55 assertions, exit 0 if and only if all hold.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { temporaryIsland } from './island.ts'

test('seed 000, "bin/protocol/test-protocol.sh drives every mechanism": 55 assertions hold', async () => {
  const { code, stdout, stderr } = await runProgram(['bash', resolve('bin/protocol/test-protocol.sh')])
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'RESULT: 55 passed, 0 failed\n', stderr: '' })
})

test('seed 000, "Exit 0 iff all pass": a launcher that does nothing fails it', async () => {
  const root = temporaryFolder()
  cpSync('bin', join(root, 'bin'), { recursive: true })
  symlinkSync(resolve('dist'), join(root, 'dist'))
  writeFileSync(join(root, 'bin/heimdall-resolve'), '#!/bin/sh\nexit 0\n')
  const { code, stdout } = await runProgram(['bash', join(root, 'bin/protocol/test-protocol.sh')])
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^RESULT: \d+ passed, [1-9]\d* failed\n$/),
  })
})

test('no launcher needs jq, which the seed required because its validator was written in it', async () => {
  const island = temporaryIsland()
  const path = join(island.root, 'only-node')
  mkdirSync(path)
  symlinkSync(process.execPath, join(path, 'node'))
  expect(await island.spawn('heimdall-protocol', ['init'], { env: { PATH: path } })).toMatchObject({ code: 0 })
})
