// The screen as bytes that draw it on any terminal, whatever state that is in. Never a query: nothing in it is answered.
import { drawLine } from '../../cells/draw-line.ts'
import { partOf } from '../../cells/halves.ts'
import { CLOSE_LINK, Pen, SHOWS_ALL } from '../../cells/pen.ts'
import { currentAttributes, type Emulator, marginsOf } from './emulator.ts'
import { plainText } from '../state/osc-signals.ts'
import type { TerminalModes } from './terminal-modes.ts'

const csi = (text: string): string => `\x1b[${text}`
const at = (row: number, col: number): string => csi(`${row + 1};${col + 1}H`)

/** Modes that would make a terminal send or show something else than it should while it is drawn on. */
const QUIET = [
  '?1049l',
  '!p',
  ...[1, 66, 9, 1_000, 1_002, 1_003, 1_004, 1_005, 1_006, 1_015, 1_016, 2_004].map((n) => `?${n}l`),
]
const CLEAN = `${QUIET.map(csi).join('')}\x1b(B\x0f${csi('=0;1u')}${CLOSE_LINK}${csi('0m')}${csi('r')}${csi('H')}${csi('2J')}`

export function drawScreen(emulator: Emulator, modes: TerminalModes, title: string): string {
  const isAlternate = emulator.buffer.active.type === 'alternate'
  const main = drawBuffer(emulator, 'normal') + placeCursor(emulator, 'normal')
  const alternate = isAlternate
    ? `${csi('?1049h')}${csi('0m')}${csi('H')}${csi('2J')}${drawBuffer(emulator, 'alt')}`
    : ''
  return CLEAN + main + alternate + restoreModes(emulator, modes, isAlternate ? 'alt' : 'normal', title)
}

function drawBuffer(emulator: Emulator, which: 'normal' | 'alt'): string {
  const buffer = which === 'alt' ? emulator.buffer.alternate : emulator.buffer.normal
  const pen = new Pen(emulator, SHOWS_ALL)
  const cell = buffer.getNullCell()
  let text = ''
  let isContinued = false
  for (let row = 0; row < emulator.rows; row += 1) {
    const line = buffer.getLine(buffer.baseY + row)
    if (line === undefined) break
    const cells = drawLine(line, pen, { left: 0, cols: emulator.cols, ground: 'cleared' }, cell)
    // A line that runs on is written on, so that the receiving terminal knows it as one line too.
    if (cells.text !== '') text += (isContinued && line.isWrapped ? '' : at(row, 0)) + cells.text
    isContinued = cells.isFull
  }
  return text
}

function placeCursor(emulator: Emulator, which: 'normal' | 'alt'): string {
  const buffer = which === 'alt' ? emulator.buffer.alternate : emulator.buffer.normal
  return at(buffer.cursorY, Math.min(buffer.cursorX, emulator.cols - 1))
}

/** A cursor that stands behind the last column gets there by writing that column, and in no other way. */
function pendingWrap(emulator: Emulator, row: number): string {
  const { active } = emulator.buffer
  const line = active.getLine(active.baseY + active.cursorY)
  const last = line?.getCell(emulator.cols - 1)
  if (line === undefined || last === undefined) return ''
  const col = partOf(line, emulator.cols - 1, last) === 'behind' ? emulator.cols - 2 : emulator.cols - 1
  const cell = line.getCell(col)
  const pen = new Pen(emulator, SHOWS_ALL)
  return cell === undefined || cell.getChars() === '' || partOf(line, col, cell) === 'half'
    ? ''
    : at(row, col) + pen.style(cell) + cell.getChars() + pen.lift()
}

/** In this order: setting margins homes the cursor, and the saved cursor must be saved before the real one is placed. */
function restoreModes(emulator: Emulator, modes: TerminalModes, which: 'normal' | 'alt', title: string): string {
  const { scrollTop, scrollBottom, savedX, savedY } = marginsOf(emulator, which)
  const { originMode, wraparoundMode, insertMode } = emulator.modes
  const hasMargins = scrollTop !== 0 || scrollBottom !== emulator.rows - 1
  const buffer = emulator.buffer.active
  const row = Math.max(0, buffer.cursorY - (originMode ? scrollTop : 0))
  return [
    hasMargins ? csi(`${scrollTop + 1};${scrollBottom + 1}r`) : '',
    `${at(savedY, savedX)}\x1b7`,
    originMode ? csi('?6h') : '',
    wraparoundMode ? '' : csi('?7l'),
    insertMode ? csi('4h') : '',
    ...modes.privateModes.map((mode) => csi(`?${mode}h`)),
    emulator.modes.applicationKeypadMode ? '\x1b=' : '',
    modes.keyboardFlags === 0 ? '' : csi(`=${modes.keyboardFlags};1u`),
    modes.otherKeys === 0 ? '' : csi(`>4;${modes.otherKeys}m`),
    modes.cursorStyle === 0 ? '' : csi(`${modes.cursorStyle} q`),
    title === '' ? '' : `\x1b]2;${plainText(title)}\x1b\\`,
    at(row, Math.min(buffer.cursorX, emulator.cols - 1)),
    buffer.cursorX < emulator.cols ? '' : pendingWrap(emulator, row),
    // What the program writes next goes on in its colours and its link.
    new Pen(emulator, SHOWS_ALL).style(currentAttributes(emulator)),
    modes.isCursorHidden ? csi('?25l') : csi('?25h'),
  ].join('')
}
