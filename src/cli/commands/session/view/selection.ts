// A selection of cells, as text. Pure.
import type { IBufferLine } from '@xterm/headless'

export interface CellPlace {
  readonly row: number
  readonly x: number
}

export interface Selection {
  readonly anchor: CellPlace
  /** Where the mouse is, or was let go. */
  readonly head: CellPlace
}

/** Columns of a row that are selected, the last one included; nothing for a row outside. */
export function selectedColumns({ anchor, head }: Selection, row: number): readonly [number, number] | undefined {
  const [from, to] =
    anchor.row < head.row || (anchor.row === head.row && anchor.x <= head.x) ? [anchor, head] : [head, anchor]
  if (row < from.row || row > to.row) return undefined
  return [row === from.row ? from.x : 0, row === to.row ? to.x : Number.POSITIVE_INFINITY]
}

/** Rows that a program's long line was broken into are one line again. */
export function selectedText(selection: Selection, line: (row: number) => IBufferLine | undefined): string {
  const { anchor, head } = selection
  let text = ''
  for (let row = Math.min(anchor.row, head.row); row <= Math.max(anchor.row, head.row); row += 1) {
    const columns = selectedColumns(selection, row)
    const cells = line(row)
    if (columns === undefined || cells === undefined) continue
    const isBroken = line(row + 1)?.isWrapped === true
    const part = cells.translateToString(!isBroken, columns[0], Math.min(cells.length, columns[1] + 1))
    text += part + (isBroken && columns[1] >= cells.length ? '' : '\n')
  }
  return text.replace(/\n$/, '')
}
