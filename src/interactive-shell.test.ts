import { expect, test } from 'vitest'
import { isInteractiveShell } from './interactive-shell.ts'

test.each([
  ['bash', true],
  ['-zsh', true],
  ['/bin/mksh -l', true],
  ['bash --norc --noprofile -i', true],
  ['sh -c make', false],
  ['sh -ec make', false],
  ['bash script.sh', false],
  ['node', false],
  ['', false],
])('%s', (line, isOne) => {
  expect(isInteractiveShell(line.split(' '))).toBe(isOne)
})
