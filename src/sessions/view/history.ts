// The rows that a session still has of its output: loaded on a second connection, searched.
import type { IBufferLine, Terminal } from '@xterm/headless'
import type { DrawnLine, LinePart } from '../../cells/draw-line.ts'
import { inside } from '../../cells/internals.ts'
import type { Shows } from '../../cells/pen.ts'
import { createTerminal } from '../../cells/terminal.ts'
import { WholeCharacters } from '../../cells/whole-characters.ts'
import { openConnection } from '../../client/connection.ts'
import type { Endpoint } from '../../client/endpoint.ts'
import { HISTORY_LINES_MAX } from '../../limits.ts'
import { drawRows } from './emulator.ts'

/** Rows of the past, oldest first, and the screen as it was when they were loaded. Nothing of it changes. */
export interface History {
  readonly count: number
  /** The first row of the screen. */
  readonly screenTop: number
  readonly cols: number
  line(row: number): IBufferLine | undefined
  /** The row with the sequences that draw it, and the columns it takes. */
  draw(row: number, part: LinePart, shows: Shows): DrawnLine | undefined
}

export async function loadHistory(endpoint: Endpoint): Promise<History> {
  const connection = await openConnection(endpoint)
  try {
    const { cols, rows, offset_start: start } = await connection.info()
    const terminal = createTerminal({ cols, rows, scrollback: HISTORY_LINES_MAX })
    keepCleared(terminal)
    const whole = new WholeCharacters()
    // A byte that is no longer kept is asked for where there is one: then the replay begins between two sequences.
    const from = Math.max(0, start - 1)
    for await (const event of connection.subscribe({ from, readOnly: true, gaps: true, replayEnd: true })) {
      if (event.type === 'output')
        await new Promise<void>((resolve) => terminal.write(whole.push(event.bytes), resolve))
      if (event.type === 'replay-end') break
    }
    return rowsOf(terminal)
  } finally {
    connection.close()
  }
}

/** What a full-screen program covers comes before its screen. */
export function rowsOf(terminal: Terminal): History {
  const { normal, active } = terminal.buffer
  const isCovered = active.type === 'alternate'
  const past = isCovered ? normal.baseY + normal.cursorY + 1 : normal.baseY
  const place = (row: number) =>
    row < past ? { buffer: normal, y: row } : { buffer: active, y: active.baseY + row - past }
  return {
    count: past + terminal.rows,
    screenTop: past,
    cols: terminal.cols,
    line: (row) => {
      const { buffer, y } = place(row)
      return buffer.getLine(y)
    },
    draw: (row, part, shows) => {
      const { buffer, y } = place(row)
      return drawRows(terminal, buffer, { ...part, start: y - buffer.baseY, count: 1, shows })[0]
    },
  }
}

/**
 * Not the emulator's own `scrollOnEraseInDisplay`: that one scrolls instead of erasing, so that rows with nothing but
 * a background stay, a scroll region keeps the rest of the screen, and the saved cursor moves.
 */
export function keepCleared(terminal: Terminal): void {
  terminal.parser.registerCsiHandler({ final: 'J' }, ([part]) => {
    const { active } = terminal.buffer
    const isAll = part === 2 || (part === 0 && active.cursorX === 0 && active.cursorY === 0)
    if (isAll && active.type === 'normal') pushScreen(terminal)
    // The emulator erases what is there now.
    return false
  })
}

function pushScreen(terminal: Terminal): void {
  const { service, attributes } = inside(terminal)
  const { buffer } = service
  const { scrollTop, scrollBottom, ybase } = buffer
  let used = terminal.rows
  while (used > 0 && (buffer.lines.get(ybase + used - 1)?.getTrimmedLength() ?? 0) === 0) used -= 1
  buffer.scrollTop = 0
  buffer.scrollBottom = terminal.rows - 1
  for (let row = 0; row < used; row += 1) service.scroll(attributes)
  buffer.scrollTop = scrollTop
  buffer.scrollBottom = scrollBottom
  buffer.savedY += buffer.ybase - ybase
}

export interface SearchedRows {
  readonly count: number
  line(row: number): IBufferLine | undefined
}

/** Without a capital letter, any case will do. */
const folded = (text: string, query: string): string => (query === query.toLowerCase() ? text.toLowerCase() : text)

/** The next row in this direction that holds the query, around the end if need be; nothing when none does. */
export function findRow(rows: SearchedRows, query: string, from: number, step: 1 | -1): number | undefined {
  for (let n = 1; n <= rows.count; n += 1) {
    const row = (from + step * n + rows.count * 2) % rows.count
    if (startsHere(rows, query, row)) return row
  }
  return undefined
}

/** A match belongs to the row that it begins in, also when the row was broken in the midst of it. */
function startsHere(rows: SearchedRows, query: string, row: number): boolean {
  const own = rows.line(row)?.translateToString(true) ?? ''
  const next = rows.line(row + 1)
  const text = next?.isWrapped === true ? own + next.translateToString(true).slice(0, query.length - 1) : own
  return folded(text, query).includes(query)
}

/** Columns of each match in a row, the last one included. */
export function matchesIn(line: IBufferLine | undefined, query: string): (readonly [number, number])[] {
  if (line === undefined || query === '') return []
  const text = folded(line.translateToString(true), query)
  const columns = columnsOf(line)
  const found: (readonly [number, number])[] = []
  for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length))
    found.push([columns[at] ?? at, (columns[at + query.length] ?? at + query.length) - 1])
  return found
}

/** The column of each character of a row's text, in the steps in which the emulator makes that text. */
function columnsOf(line: IBufferLine): number[] {
  const columns: number[] = []
  let x = 0
  while (x < line.length) {
    const cell = line.getCell(x)
    for (let i = 0; i < Math.max(1, cell?.getChars().length ?? 0); i += 1) columns.push(x)
    x += Math.max(1, cell?.getWidth() ?? 0)
  }
  return columns
}
