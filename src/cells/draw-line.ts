// One line of a screen as text with the escape sequences that draw it, for a snapshot as for a viewer's terminal.
import type { IBufferCell, IBufferLine } from '@xterm/headless'
import { isLinked } from './cell.ts'
import { clusterCells, type Shift } from './clusters.ts'
import { partOf } from './halves.ts'
import type { Pen } from './pen.ts'

export interface DrawnLine {
  readonly text: string
  /** Columns drawn; the rest of the line is blank. */
  readonly width: number
  /** The last column was written, so that the terminal is about to wrap. */
  readonly isFull: boolean
  /** Where columns, counted from the first that is drawn, are not in their place. */
  readonly shifts: readonly Shift[]
}

/**
 * `cleared`: the line is blank, and what was only erased stays so, and is no space when it is copied. `used`: something
 * may stand there, and blanks are written over it; those at the end are left to whoever calls. `text`: like that, and
 * without movements of the cursor.
 */
export type Ground = 'cleared' | 'used' | 'text'

export interface LinePart {
  /** The first column that is drawn. */
  readonly left: number
  readonly cols: number
  readonly ground: Ground
  /** Columns that are drawn in reverse, first and last, in place of their own attributes. */
  readonly marks?: readonly MarkedColumns[]
}

export type MarkedColumns = readonly [first: number, last: number]

/** Draws a part of a line, from a pen that is lifted to one that is lifted. */
export function drawLine(
  line: IBufferLine,
  pen: Pen,
  { left, cols, ground, marks = [] }: LinePart,
  cell: IBufferCell,
): DrawnLine {
  let text = ''
  let blanks = 0
  let width = 0
  let isFull = false
  let isAdrift = false
  /** Columns that everything is drawn further right, behind what takes more of the terminal's cells than of ours. */
  let by = 0
  const shifts: Shift[] = []
  const place = (column: number): string => {
    const move = isAdrift ? `\x1b[${column + 1}G` : ''
    isAdrift = false
    return move
  }
  for (let x = 0; x < Math.min(cols, line.length - left); x += 1) {
    line.getCell(left + x, cell)
    const part = partOf(line, left + x, cell)
    // The first that is drawn may be the second half of a wide character: a blank, as every half alone.
    if (part === 'behind' && x > 0) continue
    const chars = part === 'whole' ? cell.getChars() : ''
    const cells = part === 'whole' ? cell.getWidth() : 1
    const isMarked = marks.some(([first, last]) => left + x >= first && left + x <= last)
    if (!isMarked && isBlank(chars, cell, ground)) {
      blanks += 1
      continue
    }
    // Blanks make good what was too wide before them, all but one.
    const spared = Math.max(0, Math.min(by, blanks - 1))
    const column = x + by - spared
    // Pushed over the edge, and with it all that follows.
    if (column >= cols) break
    text += place(x + by - blanks)
    if (spared > 0) shifts.push({ from: x, by: by - spared })
    by -= spared
    blanks -= spared
    if (blanks > 0) text += ground === 'cleared' ? `\x1b[${blanks}C` : pen.lift() + ' '.repeat(blanks)
    const drawnCells = chars.length > 1 && ground === 'used' ? clusterCells(chars, pen.shows.clusters) : cells
    text += isMarked ? pen.mark() : pen.style(cell)
    // Erasing moves nothing: the cell is still to be passed.
    blanks = chars === '' && ground === 'cleared' ? 1 : 0
    if (chars === '') text += ground === 'cleared' ? '\x1b[X' : ' '
    // A wide character that the edge cuts in half is not drawn: it would push the terminal into the next line.
    else if (column + cells > cols) text += ' '
    else if (chars.length === 1 || ground === 'text') text += chars
    else {
      // Terminals do not agree on how wide such characters are. What follows is placed, not left to them, and nothing
      // of before shows beside one that comes out narrower.
      const room = Math.min(drawnCells, cols - column)
      const drawn = room < drawnCells ? firstOf(chars) : column + 1 === cols ? atEdge(chars) : chars
      text += ground === 'used' ? `${' '.repeat(room)}\x1b[${column + 1}G${drawn}` : chars
      isAdrift = true
    }
    if (drawnCells > cells) shifts.push({ from: x + cells, by: (by += drawnCells - cells) })
    width = Math.min(column + drawnCells, cols)
    isFull = chars !== '' && width === cols
  }
  if (width < cols) text += place(width)
  return { text: text + pen.lift(), width, isFull, shifts }
}

/** Where the edge leaves no room for the others. */
const firstOf = (chars: string): string => String.fromCodePoint(chars.codePointAt(0) ?? 0)

/** A character with marks that no terminal takes for wider than nothing. Those that choose an emoji may make it wider. */
const MARKED = /^.(?:(?![\ufe00-\ufe0f])[\p{Mn}\p{Me}])+$/su

/**
 * In the last column, for a terminal that is drawn into without wrapping. There the cursor of some (tmux) stays on the
 * cell that was written, and a mark goes to the one before the cursor. With wrapping it waits behind the cell.
 */
const atEdge = (chars: string): string => (MARKED.test(chars) ? `\x1b[?7h${chars}\x1b[?7l` : chars)

function isBlank(chars: string, cell: IBufferCell, ground: Ground): boolean {
  if (!cell.isBgDefault()) return false
  // What was erased has no marks; a space may have them, and they show.
  if (ground === 'cleared') return chars === ''
  // Flags, and the highest bit is one of them: struck through is less than nothing.
  const isMarked = (cell.isUnderline() | cell.isInverse() | cell.isStrikethrough() | cell.isOverline()) !== 0
  return (chars === '' || chars === ' ') && !isLinked(cell) && !isMarked
}
