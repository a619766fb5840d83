// Which part of a larger screen is shown, and which cell is under the mouse.
import { expect, test } from 'vitest'
import { cellNear, isInside, windowAround } from './view.ts'

const SCREEN = { cols: 100, rows: 40 }
const TERMINAL = { cols: 80, rows: 23 }

test('down and up again only as far as the cursor needs', () => {
  const after = (top: number, y: number): number => windowAround({ x: 0, y }, SCREEN, TERMINAL, { top }).top
  expect([after(0, 22), after(0, 23), after(1, 30), after(8, 8), after(8, 7), after(8, 39)]).toEqual([
    0, 1, 8, 8, 7, 17,
  ])
})

test('from the first column while the cursor is to be seen there, and else with the cursor in the middle', () => {
  const after = (x: number, cols = 200): number =>
    windowAround({ x, y: 0 }, { ...SCREEN, cols }, TERMINAL, { top: 0 }).left
  expect([after(79), after(80), after(99), after(199), after(85, 100)]).toEqual([0, 40, 59, 120, 20])
})

test('cells of the screen, and what is beside it', () => {
  const window = windowAround({ x: 99, y: 39 }, SCREEN, TERMINAL, { top: 0 })
  expect(window).toEqual({ left: 20, top: 17, cols: 80, rows: 23 })
  expect(cellNear(window, { x: 0, y: 22 })).toEqual({ x: 20, y: 39 })
  expect(cellNear(window, { x: 500, y: 500 })).toEqual({ x: 99, y: 39 })
  expect(isInside(window, { x: 79, y: 22 })).toBe(true)
  expect(isInside(window, { x: 5, y: 23 })).toBe(false)
})
