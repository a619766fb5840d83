// Another size for a screen: lines are broken anew, and the cursor stays behind the character that it stood behind. Pure.
import type { IBufferLine, Terminal } from '@xterm/headless'
import { type BufferInside, inside } from './internals.ts'

interface Size {
  readonly cols: number
  readonly rows: number
}

/** A place in a line as it was written, whatever rows it is broken into. */
interface WrittenPlace {
  /** Its first row, which moves along. */
  readonly start: { readonly line: number; dispose(): void }
  /** Characters before it, and blanks behind the last of them. */
  readonly chars: number
  readonly blanks: number
}

type Line = (y: number) => IBufferLine | undefined

export function resizeTerminal(terminal: Terminal, { cols, rows }: Size): void {
  if (cols === terminal.cols && rows === terminal.rows) return
  // Editors of lines, which ask for marked pastes, write the line of the cursor again, from where they believe it to begin.
  // Everybody else does not: what is beyond the edge of a smaller terminal would be lost.
  const isRewritten = terminal.modes.bracketedPasteMode && terminal.buffer.active.type === 'normal'
  terminal.options.reflowCursorLine = !isRewritten
  if (isRewritten) {
    terminal.resize(cols, rows)
    return
  }
  const { normal } = inside(terminal).service.buffers
  const { normal: rowsOf } = terminal.buffer
  // Beyond its end the emulator hands out rows that it had before.
  const line: Line = (y) => (y < rowsOf.length ? rowsOf.getLine(y) : undefined)
  const cursor = placeOf(normal, line, normal.x, normal.ybase + normal.y)
  const saved = placeOf(normal, line, normal.savedX, normal.savedY)
  terminal.resize(cols, rows)
  const at = cellOf(line, cursor, cols)
  const savedAt = cellOf(line, saved, cols)
  if (at !== undefined) {
    normal.x = at.x
    normal.y = Math.min(rows - 1, Math.max(0, at.y - normal.ybase))
  }
  if (savedAt !== undefined) {
    normal.savedX = savedAt.x
    normal.savedY = savedAt.y
  }
  cursor.start.dispose()
  saved.start.dispose()
}

function placeOf(buffer: BufferInside, line: Line, x: number, y: number): WrittenPlace {
  let first = y
  while (first > 0 && line(first)?.isWrapped === true) first -= 1
  let chars = 0
  for (let row = first; row < y; row += 1) chars += charsIn(line, row)
  const own = columnsIn(line, y)
  const before = own.filter((column) => column < x).length
  const blanks = before < own.length ? 0 : Math.max(0, x - endOf(line(y), own))
  return { start: buffer.addMarker(first), chars: chars + before, blanks }
}

function cellOf(line: Line, place: WrittenPlace, cols: number): { readonly x: number; readonly y: number } | undefined {
  // It has left the history.
  if (place.start.line < 0) return undefined
  let y = place.start.line
  let { chars } = place
  while (line(y + 1)?.isWrapped === true && chars >= charsIn(line, y)) {
    chars -= charsIn(line, y)
    y += 1
  }
  const columns = columnsIn(line, y)
  const x = columns[chars] ?? endOf(line(y), columns) + place.blanks
  return { x: Math.min(x, place.blanks === 0 ? cols : cols - 1), y }
}

const charsIn = (line: Line, y: number): number => columnsIn(line, y).length

/** Where the characters of a row begin. A wide one that found no room at the end of it has left a cell that is none. */
function columnsIn(line: Line, y: number): number[] {
  const row = line(y)
  if (row === undefined) return []
  const columns: number[] = []
  let end = 0
  for (let x = 0; x < row.length; x += 1) {
    const cell = row.getCell(x)
    if (cell === undefined || cell.getWidth() === 0) continue
    columns.push(x)
    if (cell.getChars() !== '') end = columns.length
  }
  return columns.slice(0, end)
}

/** Behind the last character. */
function endOf(row: IBufferLine | undefined, columns: readonly number[]): number {
  const last = columns.at(-1)
  return last === undefined ? 0 : last + (row?.getCell(last)?.getWidth() ?? 1)
}
