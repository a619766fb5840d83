// Finding text in rows. Pure.
import type { IBufferLine } from '@xterm/headless'

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
