// Questions on a screen, and text that only looks like one.
import { expect, test } from 'vitest'
import { cellsOf } from '../../cells/widths.ts'
import { findQuestion } from './terminal-questions.ts'

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
])('asks: %s', (line) =>
  expect(findQuestion(['text', line, ''], 2)).toMatchObject({ text: line.replace(/^│ /, '').trim() }),
)

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

test('of a dialog the sentence is the evidence, and it waits while its choices are shown', () => {
  const dialog = ['│ Allow execution of [Shell]?   │', '│                │', '│ ● 1. Allow once       │', '╰───╯']
  expect(findQuestion(dialog, 3)).toEqual({ text: 'Allow execution of [Shell]?', isOpen: true })
  expect(findQuestion(['Would you like to run it?', '› 1. Yes (y)', 'Press enter to confirm'], 2)?.text).toBe(
    'Would you like to run it?',
  )
  // A list in an answer, as one of the hosts draws it.
  expect(findQuestion(['● 1. Read the file', '  2. Change it'], 1)).toBeUndefined()
})

test('with the cursor on its line a question waits; below it, it may be answered', () => {
  expect(findQuestion(['Proceed? [y/N] '], 0)?.isOpen).toBe(true)
  expect(findQuestion(['Proceed? [y/N] y', ''], 1)?.isOpen).toBe(false)
})

test.each(['Which file?', 'Enter your name:', 'Choose [1-2]:', 'Größe 日本:', '#?'])(
  'may ask, with the cursor right behind it on the last line: %s',
  (line) => {
    const cells = cellsOf(line)
    const guess = { text: line, isOpen: true, isGuess: true }
    expect(findQuestion(['text', `${line} `, ''], 1, cells + 1)).toEqual(guess)
    expect(findQuestion(['text', line], 1, cells)).toEqual(guess)
    // Elsewhere in the line, above other lines, above the cursor; and where the screen is the program's own.
    expect(findQuestion(['text', line], 1, 0)).toBeUndefined()
    expect(findQuestion(['text', line], 1, cells + 2)).toBeUndefined()
    expect(findQuestion(['text', line, 'more'], 1, cells)).toBeUndefined()
    expect(findQuestion(['text', line, ''], 2, 0)).toBeUndefined()
    expect(findQuestion(['text', line], 1)).toBeUndefined()
  },
)

test.each(['ana@box:~/project$', '>>>', '(gdb)', ':', '10:42:', 'Compiling...', 'Really? yes'])(
  'does not ask, wherever the cursor stands: %s',
  (line) => expect(findQuestion([line], 0, line.length + 1)).toBeUndefined(),
)
