// What a cell looks like beyond what the emulator's public interface shows: underlines in their styles and colours, links.
import type { IBufferCell, Terminal } from '@xterm/headless'

/** Pinned with the package's exact version; `draw-screen.test.ts` fails when one of these moves. */
interface CellInternals {
  /** Colours and flags, packed. */
  readonly fg: number
  readonly bg: number
  /** Of the last cell that had any, where this one has none. The public style of a linked cell is always dashed. */
  readonly extended: { readonly _ext: number; readonly urlId: number }
}

interface TerminalInternals {
  readonly _core: { readonly _oscLinkService: { getLinkData(id: number): { readonly uri: string } | undefined } }
}

const UNDERLINED = 0x1000_0000
const EXTENDED = 0x1000_0000
const UNDERLINE = { style: 0x1c00_0000, styleShift: 26, mode: 0x300_0000, rgb: 0x300_0000, value: 0xff_ffff }
/** What the emulator keeps for "the colour of the text again": the same as for white. */
const COLOR_OF_TEXT = 0x3ff_ffff

const inside = (cell: IBufferCell): CellInternals => cell as unknown as CellInternals
const extendedOf = ({ bg, extended }: CellInternals): { readonly _ext: number; readonly urlId: number } =>
  bg & EXTENDED ? extended : { _ext: 0, urlId: 0 }

/** All attributes in four numbers: equal numbers look equal, so that a run of cells is styled once. */
export function attributesOf(cell: IBufferCell): readonly [number, number, number, number] {
  const { fg, bg } = inside(cell)
  const { _ext: ext, urlId } = extendedOf(inside(cell))
  return [fg, bg, ext, urlId]
}

export const isLinked = (cell: IBufferCell): boolean => extendedOf(inside(cell)).urlId !== 0

/** Where the link of a cell leads, and a number that cells of the same link share; nothing where it has none. */
export function linkOf(
  terminal: Terminal,
  cell: IBufferCell,
): { readonly id: number; readonly uri: string } | undefined {
  const { urlId: id } = extendedOf(inside(cell))
  const links = (terminal as unknown as TerminalInternals)._core._oscLinkService
  const uri = id === 0 ? undefined : links.getLinkData(id)?.uri
  return uri === undefined ? undefined : { id, uri }
}

/** 0 none, 1 straight, 2 double, 3 curly, 4 dotted, 5 dashed. */
export function underlineStyleOf(cell: IBufferCell): number {
  if ((inside(cell).fg & UNDERLINED) === 0) return 0
  const style = (extendedOf(inside(cell))._ext & UNDERLINE.style) >>> UNDERLINE.styleShift
  return style === 0 ? 1 : style
}

/** Parameters of SGR 58, or nothing for the colour of the text. */
export function underlineColorOf(cell: IBufferCell): string {
  const ext = extendedOf(inside(cell))._ext
  const mode = ext & UNDERLINE.mode
  const value = ext & UNDERLINE.value
  if (underlineStyleOf(cell) === 0 || mode === 0 || (ext & COLOR_OF_TEXT) === COLOR_OF_TEXT) return ''
  return mode === UNDERLINE.rgb
    ? `58:2::${value >>> 16}:${(value >>> 8) & 0xff}:${value & 0xff}`
    : `58:5:${value & 0xff}`
}
