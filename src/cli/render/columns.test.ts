import { expect, test } from 'vitest'
import { fittedLines } from './columns.ts'
import { renderTable, styleFor } from './style.ts'

const ROWS = [
  ['RUN', 'STATE', 'AGENT', 'STARTED', 'SIZE'],
  ['01M7R6B1BVSQ8544MEEPZ28GX6', 'open', 'cobalt-harbor-with-a-long-name', 'Nov 18 20:42', '3.2 KiB'],
]

test.each([
  [120, '01M7R6B1BVSQ8544MEEPZ28GX6  open   cobalt-harbor-with-a-long-name  Nov 18 20:42  3.2 KiB'],
  [80, '01M7R6B1BVSQ8544MEEPZ28GX6  open   cobalt-harbor-with-a-…  Nov 18 20:42  3.2 KiB'],
  [62, '01M7R6B1BVSQ8544MEEPZ28GX6  open   cobalt-harb…  Nov 18 20:42'],
  [40, '01M7R6B1BVSQ8544ME…  open   cobalt-harb…'],
])('a table on a terminal of %d columns', (columns, line) => {
  const [, row = ''] = fittedLines(ROWS, { isTty: true, columns })
  expect(row).toBe(line)
  expect(row.length).toBeLessThanOrEqual(columns)
})

test('a pipe gets whole cells and times as recorded, a terminal short local times', () => {
  const at = '2026-11-18T20:42:27.655Z'
  const table = (stream: object) => renderTable(styleFor(stream, {}, false), ['RUN', 'AT'], [['one', at]])
  expect(table({})).toBe(`RUN\tAT\none\t${at}`)
  expect(table({ isTTY: true, columns: 40 })).toMatch(/^RUN {2}AT\none {2}Nov 1[789] \d\d:\d\d$/)
})
