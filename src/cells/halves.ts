// Which cells of a row belong together: a wide character takes two, and one that has lost either is no longer there.
import type { IBufferCell, IBufferLine } from '@xterm/headless'

/**
 * `whole`: a character or a blank begins here. `behind`: the second cell of a wide one. `half`: one of two whose other
 * was written over at the edge or pushed away, which is a blank of one column. The emulator leaves such cells as they are.
 */
export type CellPart = 'whole' | 'behind' | 'half'

/** Of the cell that was read from this column. */
export function partOf(line: IBufferLine, x: number, cell: IBufferCell): CellPart {
  switch (cell.getWidth()) {
    case 1:
      return 'whole'
    case 2:
      return line.getCell(x + 1)?.getWidth() === 0 ? 'whole' : 'half'
    default:
      return line.getCell(x - 1)?.getWidth() === 2 ? 'behind' : 'half'
  }
}
