// Rows of a screen as a viewer draws them.
import type { IBuffer, Terminal } from '@xterm/headless'
import { type DrawnLine, drawLine, type LinePart } from '../../../../cells/draw-line.ts'
import { Pen, type Shows } from '../../../../cells/pen.ts'

export interface RowsToDraw extends LinePart {
  /** First row, counted from the top of the screen; negative rows are history. */
  readonly start: number
  readonly count: number
  readonly shows: Shows
}

export function drawRows(terminal: Terminal, buffer: IBuffer, rows: RowsToDraw): DrawnLine[] {
  const cell = buffer.getNullCell()
  const pen = new Pen(terminal, rows.shows)
  return Array.from({ length: rows.count }, (_, y) => {
    const line = buffer.getLine(buffer.baseY + rows.start + y)
    return line === undefined ? { text: '', width: 0, isFull: false, shifts: [] } : drawLine(line, pen, rows, cell)
  })
}
