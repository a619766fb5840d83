// The headless terminal, and the few things of it that its public interface does not show. Runs in the screen's worker.
import type { IBufferCell, Terminal } from '@xterm/headless'
import { createTerminal } from '../cells/terminal.ts'

export type Cell = IBufferCell
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

interface BufferInternals {
  readonly scrollTop: number
  readonly scrollBottom: number
  readonly savedX: number
  readonly savedY: number
  readonly ybase: number
}

/** Pinned with the package's exact version; `draw-screen.test.ts` fails when one of these moves. */
interface Internals {
  readonly _core: {
    readonly _bufferService: { readonly buffers: { readonly normal: BufferInternals; readonly alt: BufferInternals } }
    readonly _inputHandler: { readonly _curAttrData: unknown }
  }
}

const inside = (emulator: Emulator): Internals['_core'] => (emulator as unknown as Internals)._core

/** Rows of the scroll region and the saved cursor, counted from 0 on the screen. */
export function marginsOf(emulator: Emulator, which: 'normal' | 'alt'): Omit<BufferInternals, 'ybase'> {
  const { scrollTop, scrollBottom, savedX, savedY, ybase } = inside(emulator)._bufferService.buffers[which]
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
export function currentAttributes(emulator: Emulator): Cell {
  return inside(emulator)._inputHandler._curAttrData as Cell
}
