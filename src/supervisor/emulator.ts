// The headless terminal, and the few things of it that its public interface does not show. Runs in the screen's worker.
import headless from '@xterm/headless'
import type { IBufferCell, IBufferLine, Terminal as Headless } from '@xterm/headless'

export type Cell = IBufferCell
export type Line = IBufferLine
export type Emulator = Headless

/** History helps only when the screen grows; the screen is what is kept. */
const SCROLLBACK_LINES = 200

export function createEmulator(cols: number, rows: number): Emulator {
  return new headless.Terminal({
    cols,
    rows,
    scrollback: SCROLLBACK_LINES,
    allowProposedApi: true,
    logLevel: 'off',
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

interface Extended {
  readonly urlId: number
  readonly underlineStyle: number
}

interface CellInternals {
  /** Colours and flags, packed. */
  readonly fg: number
  readonly bg: number
  readonly extended: Extended & { readonly ext: number }
  isUnderlineColorDefault(): number
  isUnderlineColorRGB(): boolean
  getUnderlineColor(): number
}

/** Pinned with the package's exact version; `draw-screen.test.ts` fails when one of these moves. */
interface Internals {
  readonly _core: {
    readonly _bufferService: { readonly buffers: { readonly normal: BufferInternals; readonly alt: BufferInternals } }
    readonly _oscLinkService: { getLinkData(id: number): { readonly uri: string } | undefined }
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

export function linkOf(emulator: Emulator, cell: Cell): string {
  const { urlId } = (cell as unknown as CellInternals).extended
  return urlId === 0 ? '' : (inside(emulator)._oscLinkService.getLinkData(urlId)?.uri ?? '')
}

/** All attributes in four numbers: equal numbers look equal, so that a run of cells is styled once. */
export function attributesOf(cell: Cell): readonly [number, number, number, number] {
  const { fg, bg, extended } = cell as unknown as CellInternals
  return [fg, bg, extended.ext, extended.urlId]
}

/** 0 none, 1 straight, 2 double, 3 curly, 4 dotted, 5 dashed. */
export function underlineStyleOf(cell: Cell): number {
  return cell.isUnderline() === 0 ? 0 : (cell as unknown as CellInternals).extended.underlineStyle
}

/** Parameters of SGR 58, or nothing for the colour of the text. */
export function underlineColorOf(cell: Cell): string {
  const attributes = cell as unknown as CellInternals
  if (cell.isUnderline() === 0 || attributes.isUnderlineColorDefault() !== 0) return ''
  const color = attributes.getUnderlineColor()
  return attributes.isUnderlineColorRGB()
    ? `58:2::${(color >>> 16) & 0xff}:${(color >>> 8) & 0xff}:${color & 0xff}`
    : `58:5:${color & 0xff}`
}

/** The attributes that the next character will have. */
export function currentAttributes(emulator: Emulator): Cell {
  return inside(emulator)._inputHandler._curAttrData as Cell
}
