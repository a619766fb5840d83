// Terminals that do not know their size.
import { expect, test } from 'vitest'
import { terminalSize } from './user-terminal.ts'

test('a terminal without a size is taken for 80x24, each number by itself', () => {
  expect(terminalSize({ columns: 0, rows: 0 })).toEqual({ cols: 80, rows: 24 })
  expect(terminalSize({ columns: 132, rows: 0 })).toEqual({ cols: 132, rows: 24 })
  expect(terminalSize({ columns: 100, rows: 40 })).toEqual({ cols: 100, rows: 40 })
})
