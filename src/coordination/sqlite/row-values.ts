// Cells of a row, as what their column holds.
import type { Row } from '../log-entry.ts'

export const text = (row: Row, column: string): string => String(row[column])
export const number = (row: Row, column: string): number => Number(row[column])
export const textOrNull = (row: Row, column: string): string | null => (row[column] === null ? null : text(row, column))
export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : number(row, column)

/** Of a time that another machine read: nothing but the wall is known of it here, and no boot is called this. */
export const ELSEWHERE = { boot: '', monoMs: 0 } as const
