// When a screen that output was kept from is whole again: by the emulator itself, sequence by sequence.
import { expect, test } from 'vitest'
import { createEmulator } from '../screen/emulator.ts'
import { followWholeness } from './wholeness.ts'

/** Whether the screen is whole after `before`, a loss, and `after`. */
async function isWholeAfter(before: string, after: string): Promise<boolean> {
  const emulator = createEmulator(20, 6)
  const wholeness = followWholeness(emulator)
  const write = (text: string): Promise<void> => new Promise((resolve) => emulator.write(text, resolve))
  await write(before)
  expect(wholeness.isWhole).toBe(true)
  wholeness.lose()
  await write(after)
  return wholeness.isWhole
}

test.each([
  ['nothing at all', 'header', '', false],
  ['text in one row', 'header', '\x1b[3;1Hrow', false],
  ['erasing to the end only', 'header', '\x1b[J', false],
  ['some lines, but not a screenful', 'header', 'a\r\nb\r\nc\r\n', false],
  ['scrolling above a footer that stays', 'header\x1b[6;1Hfooter\x1b[1;5r\x1b[5;1H', '\r\n'.repeat(40), false],
  ['lines on the alternate screen, which keeps no history', '\x1b[?1049hheader', '\r\n'.repeat(40), false],
  ['a screenful of lines', 'header', '\r\n'.repeat(12), true],
  ['more lines than the history holds', 'header', '\r\n'.repeat(600), true],
  ['a cleared screen', 'header', '\x1b[2J', true],
  ['a reset', 'header', '\x1bc', true],
  ['the alternate screen, entered empty', 'header', '\x1b[?1049h', true],
])('after %s', async (_what, before, after, isWhole) => {
  expect(await isWholeAfter(before, after)).toBe(isWhole)
})
