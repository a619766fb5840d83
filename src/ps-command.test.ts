// What counts as an answer of `ps`: silence, and half an answer, would have those who live taken for gone.
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { answerOf } from './ps-command.ts'

const sh = (script: string) => spawnSync('sh', ['-c', script], { encoding: 'utf8' })
const unreadable = expect.objectContaining({ code: 'PROCESSES_UNREADABLE' }) as Error

describe('the answer of a program', () => {
  test('that ended well is what it printed', () => {
    expect(answerOf(sh('echo 1'))).toBe('1\n')
  })

  test.each([
    ['was killed half-way', 'echo 1; kill -9 $$', 'SIGKILL'],
    ['failed', 'echo 1; exit 3', 'code 3'],
  ])('that %s is none', (_how, script, reason) => {
    expect(() => answerOf(sh(script))).toThrow(unreadable)
    expect(() => answerOf(sh(script))).toThrow(reason)
  })

  test('that cannot be started is none', () => {
    expect(() => answerOf(spawnSync('/no/such/ps', [], { encoding: 'utf8' }))).toThrow(unreadable)
  })
})
