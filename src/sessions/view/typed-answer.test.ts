// What counts as an answer of a person to a session that waits.
import { expect, test } from 'vitest'
import { NEXT_SETTLE_MS } from '../../limits.ts'
import { TypedAnswer } from './view-keys.ts'

const SETTLED = NEXT_SETTLE_MS + 100

/** Whether these reads, all at 100 ms, are an answer by then. */
function isAnswer(...reads: string[]): boolean {
  const typed = new TypedAnswer()
  for (const read of reads) typed.take(Buffer.from(read), 100)
  return typed.isWhole(SETTLED)
}

test.each([
  ['nothing', [], false],
  ['a key alone', ['y'], true],
  ['a line with its Enter', ['yes\r'], true],
  ['a line, byte by byte', ['y', 'e', 's', '\r'], true],
  ['half a line', ['ye'], false],
  ['half a line, byte by byte', ['y', 'e'], false],
  ['arrows alone', ['\u001b[B\u001b[B'], false],
  ['arrows and Enter in one read', ['\u001b[B\u001b[B\r'], true],
  ['Enter as the keyboard protocol of kitty writes it', ['\u001b[13u'], true],
  ['Esc, which says no in a menu', ['\u001b'], true],
  ['the place of the cursor, as a terminal tells it, and an answer in one read', ['\u001b[1;5Ryes\r'], true],
  ['what a terminal says by itself', ['\u001b[?62;22c', '\u001b[I', '\u001b[<35;10;4M'], false],
  ['a paste that nobody has sent off', ['\u001b[200~rm -rf it\u001b[201~'], false],
  ['a paste with its Enter', ['\u001b[200~yes, go on\u001b[201~', '\r'], true],
  ['a character of several bytes alone', ['ä'], true],
])('%s', (_, reads, expected) => {
  expect(isAnswer(...reads)).toBe(expected)
})

test('an answer counts when nobody types any more', () => {
  const typed = new TypedAnswer()
  typed.take(Buffer.from('yes\r'), 1_000)
  expect(typed.isWhole(1_000 + NEXT_SETTLE_MS - 1)).toBe(false)
  expect(typed.isWhole(1_000 + NEXT_SETTLE_MS)).toBe(true)
})
