// Where in a row a match stands, also behind characters of two columns.
import { expect, test } from 'vitest'
import { createTerminal } from '../../cells/terminal.ts'
import { matchesIn } from './history.ts'

test.each([
  ['behind a wide character', '日x needle', [[4, 9]]],
  ['behind half of one, which is a blank', '日x needle\u001b[2G\u001b[@', [[5, 10]]],
  ['of a wide character', 'a日b', [[1, 2]], '日'],
])('a match %s is marked in its own columns', async (_name, output, columns, query = 'needle') => {
  const terminal = createTerminal({ cols: 20, rows: 1 })
  await new Promise<void>((resolve) => {
    terminal.write(output, resolve)
  })
  expect(matchesIn(terminal.buffer.active.getLine(0), query)).toEqual(columns)
})
