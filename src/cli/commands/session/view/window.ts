// Which part of the session's screen a terminal shows, and which of its cells is under the mouse. Pure.
import type { Size } from '../../../../wire/payloads.ts'

export interface ShownCell {
  readonly x: number
  readonly y: number
}

/** The first cell that is shown, in the terminal's upper left corner, and how many of them there are. */
export interface Window extends Size {
  readonly left: number
  readonly top: number
}

/** Around the cursor, when the screen is larger than the terminal. `top` is moved only as far as the cursor needs. */
export function windowAround(cursor: ShownCell, screen: Size, terminal: Size, { top }: Pick<Window, 'top'>): Window {
  const lowest = Math.max(0, screen.rows - terminal.rows)
  const rightmost = Math.max(0, screen.cols - terminal.cols)
  return {
    top: Math.min(lowest, Math.max(Math.min(top, cursor.y), cursor.y - terminal.rows + 1)),
    // Lines are read from their beginning: as long as the cursor is to be seen there, and else it is in the middle, so
    // that not every further character moves the whole screen.
    left: cursor.x < terminal.cols ? 0 : Math.min(rightmost, cursor.x - Math.floor(terminal.cols / 2)),
    cols: Math.min(screen.cols, terminal.cols),
    rows: Math.min(screen.rows, terminal.rows),
  }
}

/** The nearest cell that is shown. */
export function cellNear({ left, top, cols, rows }: Window, { x, y }: ShownCell): ShownCell {
  return { x: left + Math.min(Math.max(x, 0), cols - 1), y: top + Math.min(Math.max(y, 0), rows - 1) }
}

/** False on the status line, and beside a screen that is smaller than the terminal. */
export function isInside({ cols, rows }: Window, { x, y }: ShownCell): boolean {
  return x >= 0 && y >= 0 && x < cols && y < rows
}
