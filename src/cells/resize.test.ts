// The cursor stays behind the character that it stood behind, however the lines are broken.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { inside } from './internals.ts'
import { resizeTerminal } from './resize.ts'
import { createTerminal } from './terminal.ts'

const written = (terminal: ReturnType<typeof createTerminal>, text: string): Promise<void> =>
  new Promise((resolve) => {
    terminal.write(text, resolve)
  })

test('what is written next goes on where it would have without any change of size', async () => {
  const part = fc.constantFrom('a', 'bcdef', ' ', '日本', 'é', '👋🏽', '\r\n', 'x'.repeat(30))
  const sizes = fc.array(fc.record({ cols: fc.integer({ min: 4, max: 50 }), rows: fc.integer({ min: 4, max: 12 }) }), {
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 8 }), sizes, async (parts, steps) => {
      const terminal = createTerminal({ cols: 30, rows: 6, scrollback: 500 })
      await written(terminal, parts.join(''))
      for (const size of steps) resizeTerminal(terminal, size)
      await written(terminal, '!')
      expect(textOf(terminal)).toBe(`${parts.join('')}!`.replaceAll('\r', ''))
    }),
    { numRuns: scaled(30, 5_000) },
  )
})

test('a cursor in the middle of a line stays before the same character', async () => {
  const terminal = createTerminal({ cols: 20, rows: 5, scrollback: 100 })
  await written(terminal, 'first\r\n$ 0123456789ABCDEFGHIJKLMNOP\u001b[A\u001b[8G')
  for (const cols of [10, 33, 7, 20]) resizeTerminal(terminal, { cols, rows: 5 })
  await written(terminal, '!')
  expect(textOf(terminal)).toBe('first\n$ 01234!6789ABCDEFGHIJKLMNOP')
})

test('the place that a full-screen program returns to moves along', async () => {
  const terminal = createTerminal({ cols: 20, rows: 5, scrollback: 100 })
  await written(terminal, '$ 0123456789ABCDEF\u001b[?1049h\u001b[Hfull screen')
  resizeTerminal(terminal, { cols: 10, rows: 5 })
  expect(inside(terminal).service.buffers.normal.savedX).toBe(8)
  await written(terminal, '\u001b[?1049l!')
  expect(textOf(terminal)).toBe('$ 0123456789ABCDEF!')
})

test('the line of an editor of lines, which writes it again, is left to it', async () => {
  const terminal = createTerminal({ cols: 20, rows: 5, scrollback: 100 })
  await written(terminal, '\u001b[?2004h$ 0123456789ABCDEFGHIJKLMNOP')
  resizeTerminal(terminal, { cols: 10, rows: 5 })
  // As bash does it: to the beginning of the second row, cleared, to the first, cleared, and written.
  await written(terminal, '\r\u001b[K\r\u001b[A\u001b[K\r$ 0123456789ABCDEFGHIJKLMNOP')
  expect(textOf(terminal)).toBe('$ 0123456789ABCDEFGHIJKLMNOP')
})

/** Lines as they were written. */
function textOf(terminal: ReturnType<typeof createTerminal>): string {
  const buffer = terminal.buffer.active
  let text = ''
  for (let y = 0; y < buffer.length; y += 1) {
    const line = buffer.getLine(y)
    const isBroken = y + 1 < buffer.length && buffer.getLine(y + 1)?.isWrapped === true
    // A wide character that found no room in the last column has left it empty.
    const isShort =
      isBroken && line?.getCell(terminal.cols - 1)?.getCode() === 0 && line.getCell(terminal.cols - 1)?.getWidth() === 1
    text += line?.translateToString(!isBroken, 0, isShort ? terminal.cols - 1 : terminal.cols) ?? ''
    if (!isBroken) text += '\n'
  }
  return text.replace(/\n+$/, '')
}
