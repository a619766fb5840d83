// Questions on a screen, and text that only looks like one.
import { expect, test } from 'vitest'
import { NeedsInputState } from './needs-input.ts'
import { findQuestion } from './questions.ts'

test.each([
  'Do you want to make this edit to main.ts?',
  'Proceed? [y/N]',
  'Overwrite existing file? (yes/no)',
  'Are you sure you want to continue connecting (yes/no/[fingerprint])?',
  '[sudo] password for ana:',
  "Enter passphrase for key '/home/ana/.ssh/id':",
  'Press ENTER to continue',
  ' ❯ 1. Yes',
  '│ ❯ 1. Yes, and do not ask again',
  '? Project name: › ',
  'Waiting for your approval',
])('asks: %s', (line) => expect(findQuestion(['text', line, ''], 2)).toBe(line.trim()))

test.each([
  'Compiling 12 of 40 files',
  'ana@box:~/project$ ',
  'Is this a question? It is only text that goes on.',
  'yes it works, no problem',
  'error: expected ; before }',
  '1. Yes',
])('does not ask: %s', (line) => expect(findQuestion(['text', line, ''], 2)).toBeUndefined())

test('a question far above the cursor was answered long ago', () => {
  expect(findQuestion(['Proceed? [y/N]', ...Array.from({ length: 30 }, () => 'output')], 30)).toBeUndefined()
})

test('signals come before the screen, the latest signal counts, input answers', () => {
  const state = new NeedsInputState()
  expect(state.current).toEqual({ value: false, source: 'none', evidence: null })
  state.see('Proceed? [y/N]')
  expect(state.current).toEqual({ value: true, source: 'screen', evidence: 'Proceed? [y/N]' })
  state.tell('osc', false, 'OSC 133: command running')
  expect(state.current).toMatchObject({ value: false, source: 'osc' })
  state.tell('hook', true, 'permission for Bash')
  expect(state.current).toEqual({ value: true, source: 'hook', evidence: 'permission for Bash' })
  state.answered()
  expect(state.current).toEqual({ value: false, source: 'none', evidence: null })
})
