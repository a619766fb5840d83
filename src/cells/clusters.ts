// Characters of several code points in a terminal that takes them for several: how wide they are there, and what moves. Pure.
import { cellsOf, isFlag, isSkin, widthOf, ZWJ } from './widths.ts'

/** Cells that each further part adds where it is no part: a skin colour, a joined pictograph, the second half of a flag. */
export interface ClusterWidths {
  readonly skin: number
  readonly joined: number
  readonly flag: number
}

/** A terminal that takes them as we do. */
export const AS_ONE: ClusterWidths = { skin: 0, joined: 0, flag: 0 }

/** Cells that a cluster takes there; never less than with us, so that nothing is drawn over. */
export function clusterCells(chars: string, widths: ClusterWidths): number {
  const ours = cellsOf(chars)
  if (widths === AS_ONE) return ours
  const codes = Array.from(chars, (char) => char.codePointAt(0) ?? 0)
  let cells = widthOf(codes[0] ?? 0) + (isFlag(codes) ? 1 + widths.flag : 0)
  for (const [at, code] of codes.entries())
    if (at > 0 && isSkin(code)) cells += widths.skin
    else if (codes[at - 1] === ZWJ && widthOf(code) > 0) cells += widths.joined
  return Math.max(ours, cells)
}

/** From this column on, everything is drawn so many columns further right; until the next. */
export interface Shift {
  readonly from: number
  readonly by: number
}

/** Where a column is drawn. */
export function drawnColumn(shifts: readonly Shift[], x: number): number {
  const at = shifts.findLastIndex(({ from }) => from <= x)
  const here = x + (shifts[at]?.by ?? 0)
  const next = shifts[at + 1]
  // Of blanks some were left out, to make good what was too wide before them.
  return next === undefined ? here : Math.min(here, next.from + next.by)
}

/** Which column is drawn there. */
export function columnAt(shifts: readonly Shift[], drawn: number): number {
  let x = drawn
  while (x > 0 && drawnColumn(shifts, x) > drawn) x -= 1
  return x
}
