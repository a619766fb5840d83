// docs/client.md: its program runs as it is printed, through the door that the package exports.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/programs.ts'
import { hm } from '../hm/hm.ts'

test('the client in ten lines works against a real session', async () => {
  const program = /```js\n([^]*?)```/.exec(readFileSync('docs/client.md', 'utf8'))?.[1] ?? ''
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(10)
  const home = hm()
  mkdirSync(join(home.home, 'node_modules'))
  symlinkSync(resolve('.'), join(home.home, 'node_modules/heimdall-agents'))
  writeFileSync(join(home.home, 'client.mjs'), program)
  await home.session('demo', ['bash', '--norc', '--noprofile', '-i'])
  const { stdout, stderr, code } = await runProgram([process.execPath, join(home.home, 'client.mjs'), 'demo'], {
    env: home.env,
  })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/state: '(active|idle)'/)
  expect(stdout).toMatch(/^from the client\r?$/m)
  expect(code).toBe(3)
})
