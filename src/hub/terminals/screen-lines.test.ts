// A thumbnail has what the screen shows, in its columns.
import { expect, test } from 'vitest'
import { createTerminal } from '../../cells/terminal.ts'
import { linesOf } from './screen-lines.ts'

test('half of a wide character is a blank, whichever half was pushed away or written over', async () => {
  const terminal = createTerminal({ cols: 10, rows: 2 })
  await new Promise<void>((resolve) => {
    terminal.write('日本x\u001b[2G\u001b[2@\r\n\u001b[?7l\u001b[9G日a', resolve)
  })
  expect(linesOf(terminal, 2)).toEqual([[['    本x', 'plain']], [['         a', 'plain']]])
})
