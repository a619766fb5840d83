// Rows of a screen as a viewer draws them.
import type { IBuffer, Terminal } from '@xterm/headless'
import { type DrawnLine, drawLine, type Ground } from '../../../../cells/draw-line.ts'
import { Pen, type Shows } from '../../../../cells/pen.ts'

export interface RowsToDraw {
  /** First row, counted from the top of the screen; negative rows are history. */
  readonly start: number
  readonly count: number
  readonly cols: number
  readonly ground: Exclude<Ground, 'cleared'>
  readonly shows: Shows
}

export function drawRows(
  terminal: Terminal,
  buffer: IBuffer,
  { start, count, cols, ground, shows }: RowsToDraw,
): DrawnLine[] {
  const cell = buffer.getNullCell()
  const pen = new Pen(terminal, shows)
  return Array.from({ length: count }, (_, y) => {
    const line = buffer.getLine(buffer.baseY + start + y)
    return line === undefined ? { text: '', width: 0, isFull: false } : drawLine(line, pen, cols, ground, cell)
  })
}
