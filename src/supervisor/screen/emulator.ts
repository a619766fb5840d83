// The headless terminal of a session, and where its margins and cursor are. Runs in the screen's worker.
import type { IBufferCell, Terminal } from '@xterm/headless'
import { inside } from '../../cells/internals.ts'
import { createTerminal } from '../../cells/terminal.ts'

export type ScreenCell = IBufferCell
export type Emulator = Terminal

/** History helps only when the screen grows; the screen is what is kept. */
const SCROLLBACK_LINES = 200

export function createEmulator(cols: number, rows: number): Emulator {
  return createTerminal({
    cols,
    rows,
    scrollback: SCROLLBACK_LINES,
    windowOptions: { getWinSizeChars: true },
  })
}

interface Margins {
  readonly scrollTop: number
  readonly scrollBottom: number
  readonly savedX: number
  readonly savedY: number
}

/** Rows of the scroll region and the saved cursor, counted from 0 on the screen. */
export function marginsOf(emulator: Emulator, which: 'normal' | 'alt'): Margins {
  const { scrollTop, scrollBottom, savedX, savedY, ybase } = inside(emulator).service.buffers[which]
  const within = (value: number, size: number): number => Math.min(Math.max(0, value), size - 1)
  // The emulator counts the saved row from the start of its history.
  return {
    scrollTop,
    scrollBottom,
    savedX: within(savedX, emulator.cols),
    savedY: within(savedY - ybase, emulator.rows),
  }
}

/** The attributes that the next character will have. */
export function currentAttributes(emulator: Emulator): ScreenCell {
  return inside(emulator).attributes as ScreenCell
}
