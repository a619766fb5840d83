// A fault that rises past every frame printed the built file that it came from.
import { expect, test } from 'vitest'
import { startProgram } from '../support/programs.ts'

test('an uncaught error is said by its code, message and stack, without the source', async () => {
  const source = "require('./dist/cli.cjs').start('heimdall'); setImmediate(() => { throw new Error('gone wrong') })"
  const { code, stderr } = await startProgram([process.execPath, '-e', source, 'heimdall', '--version']).ended
  expect([code, stderr.split('\n')[0]]).toEqual([1, 'error: INTERNAL: Error: gone wrong'])
  expect(stderr).not.toContain('setImmediate(() =>')
})
