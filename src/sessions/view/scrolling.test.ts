// Looking back through rows: where one gets to, what is found.
import { expect, test } from 'vitest'
import { SHOWS_ALL } from '../../cells/pen.ts'
import { createTerminal } from '../../cells/terminal.ts'
import { rowsOf } from './history.ts'
import { Scrolling } from './scrolling.ts'
import type { Act, Mouse } from './view-keys.ts'

const ROWS = 5

const SIZE = { cols: 40, rows: ROWS }

/** The window is at the end unless said otherwise. */
async function scrolling(text: string, session = SIZE, window = { left: 0, top: session.rows }): Promise<Scrolling> {
  const terminal = createTerminal({ ...session, scrollback: 1_000 })
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  return new Scrolling(rowsOf(terminal), SIZE, window)
}

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `row ${i}`).join('\r\n')
const press = (view: Scrolling, ...names: string[]): string[] => names.map((name) => view.act({ is: 'key', name }))
const typing = (text: string): string[] => Array.from(text)
const mouse = (does: Mouse['does'], x: number, y: number): Act => ({
  is: 'mouse',
  does,
  x,
  y,
  button: 0,
  isRelease: false,
})
/** Rows as text: what is drawn, without sequences. */
const shown = (view: Scrolling): string[] =>
  view.lines(SHOWS_ALL).map((line) => line.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, ''))

test('pages, rows, the beginning, the end; down past the end leads back', async () => {
  const view = await scrolling(numbered(20))
  expect(shown(view)).toEqual(['row 15', 'row 16', 'row 17', 'row 18', 'row 19'])
  press(view, 'page-up')
  expect(shown(view)[0]).toBe('row 11')
  press(view, 'k', 'up')
  expect(shown(view)[0]).toBe('row 9')
  press(view, 'g')
  expect(shown(view)[0]).toBe('row 0')
  expect(view.words[0]).toBe('history: line 5 of 20 · / searches · Esc returns')
  expect(press(view, 'G', 'page-down')).toEqual(['stay', 'leave'])
  expect(press(view, 'x')).toEqual(['stay'])
  expect(press(view, 'escape')).toEqual(['leave'])
})

test('the wheel moves by three', async () => {
  const view = await scrolling(numbered(20))
  view.act(mouse('wheel-up', 0, 0))
  expect(shown(view)[0]).toBe('row 12')
  view.act(mouse('wheel-down', 0, 0))
  expect(view.act(mouse('wheel-down', 0, 0))).toBe('leave')
})

test('a search goes back in time, again with n, forward with N, around the end, and shows what it found', async () => {
  const view = await scrolling(
    `${numbered(9)}\r\nan Error here\r\n${numbered(30)}\r\nthe error there\r\n${numbered(9)}`,
  )
  press(view, '/', ...typing('erorx'), 'backspace', 'backspace', 'backspace', ...typing('ror'))
  expect(view.words[0]).toBe('/error▏')
  press(view, 'enter')
  expect(shown(view)[2]).toBe('the error there')
  expect(view.lines(SHOWS_ALL)[2]).toContain('the \u001b[0;7merror\u001b[0m there')
  press(view, 'n')
  expect(shown(view)[2]).toBe('an Error here')
  press(view, 'N')
  expect(shown(view)[2]).toBe('the error there')
  press(view, '/', ...typing('Error'), 'enter', 'n')
  expect(shown(view)[2]).toBe('an Error here')
  press(view, '/', ...typing('nowhere'), 'enter')
  expect(view.words[0]).toContain('no nowhere')
  expect(press(view, '/', 'a', 'escape', 'escape')).toEqual(['stay', 'stay', 'stay', 'leave'])
})

test('what is searched for is taken back character by character, as they are seen', async () => {
  const view = await scrolling(`${numbered(9)}\r\nthanks 👩🏽‍💻 and 👋🏽\r\n${numbered(30)}`)
  press(view, '/', ...typing('x👋🏽👩🏽‍💻'), 'backspace', 'backspace', 'backspace', ...typing('s 👩🏽‍💻'), 'enter')
  expect(shown(view)[2]).toMatch(/^thanks/)
})

test('what was broken over two rows is found', async () => {
  const view = await scrolling(`${numbered(20)}\r\n${'x'.repeat(38)}needle${'y'.repeat(10)}\r\nend`)
  press(view, '/', ...typing('needle'), 'enter')
  expect(shown(view).some((line) => line.startsWith('xxx'))).toBe(true)
})

test('a full-screen program: its screen, and before it what it covers', async () => {
  const view = await scrolling(`before\r\n$ \u001b[?1049h\u001b[Htop\u001b[5;1Hbottom`)
  expect(shown(view)).toEqual(['top', '', '', '', 'bottom'])
  press(view, 'page-up')
  expect(shown(view)).toEqual(['before', '$', 'top', '', ''])
})

test('a larger session: looking back begins with the part that was seen', async () => {
  const view = await scrolling(numbered(30), { cols: 60, rows: 10 }, { left: 2, top: 3 })
  expect(shown(view)[0]).toBe('w 23')
})

test('a smaller session stays in the upper part, where it was seen, with what was before it above', async () => {
  const view = await scrolling(numbered(20), { cols: 40, rows: 3 })
  expect(shown(view)).toEqual(['row 17', 'row 18', 'row 19', '', ''])
  press(view, 'up')
  expect(shown(view)).toEqual(['row 16', 'row 17', 'row 18', 'row 19', ''])
})

test('rows longer than the terminal is wide: arrows move sideways, and what is found is moved to', async () => {
  const view = await scrolling(`${'a'.repeat(40)}${'b'.repeat(40)}needle`, { cols: 100, rows: 5 })
  expect(shown(view)[0]).toBe('a'.repeat(40))
  press(view, 'right')
  expect(shown(view)[0]).toBe('a'.repeat(20) + 'b'.repeat(20))
  press(view, 'h', '/', ...typing('needle'), 'enter')
  expect(shown(view)[0]).toBe(`${'b'.repeat(34)}needle`)
  press(view, '/', ...typing('ab'), 'enter')
  expect(shown(view)[0]).toBe(`a${'b'.repeat(39)}`)
})
