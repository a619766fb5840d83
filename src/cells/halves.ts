// Which cells of a row belong together: a wide character takes two, and one that has lost either is no longer there.
import type { IBufferCell, IBufferLine } from '@xterm/headless'
import { widthOf } from './widths.ts'

/**
 * `whole`: a character or a blank begins here. `behind`: the second cell of a wide one. `half`: one of two whose other
 * was written over at the edge or pushed away, or a combining mark without a character to stand on: a blank of one
 * column. The emulator leaves such cells as they are.
 */
export type CellPart = 'whole' | 'behind' | 'half'

/** Of the cell that was read from this column. */
export function partOf(line: IBufferLine, x: number, cell: IBufferCell): CellPart {
  switch (cell.getWidth()) {
    case 1:
      return isMarkAlone(cell) ? 'half' : 'whole'
    case 2:
      return line.getCell(x + 1)?.getWidth() === 0 ? 'whole' : 'half'
    default:
      return line.getCell(x - 1)?.getWidth() === 2 ? 'behind' : 'half'
  }
}

const FIRST_MARK = 0x300

/** Written to an erased cell. Drawn as it is, it would go to the character before it. The code of a cell is its last one, so that plain text costs no string. */
const isMarkAlone = (cell: IBufferCell): boolean =>
  cell.getCode() >= FIRST_MARK && widthOf(cell.getChars().codePointAt(0) ?? 0) === 0
