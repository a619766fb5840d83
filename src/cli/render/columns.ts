// Cuts and pads text to columns of a terminal, by the cells that it takes.
import { cellsOf } from '../../cells/widths.ts'

/** Cuts to `width` cells and ends with `mark` if something was cut. */
export function fit(text: string, width: number, mark = '…'): string {
  if (cellsOf(text) <= width) return text
  let out = ''
  let used = 0
  for (const char of text) {
    const cells = cellsOf(char)
    if (used + cells > width - mark.length) break
    out += char
    used += cells
  }
  return width < mark.length ? '' : out + mark
}

/** Exactly `width` cells. */
export function column(text: string, width: number, mark?: string): string {
  const shown = fit(text, width, mark)
  return shown + ' '.repeat(Math.max(0, width - cellsOf(shown)))
}

export function columnRight(text: string, width: number, mark?: string): string {
  const shown = fit(text, width, mark)
  return ' '.repeat(Math.max(0, width - cellsOf(shown))) + shown
}

/** Cells of the widest text, at most `max`. */
export const widest = (texts: readonly string[], max: number): number =>
  Math.min(max, Math.max(0, ...texts.map((text) => cellsOf(text))))

/** As many whole parts as fit next to the `kept` ones; a part is never cut. */
export function wholeParts(
  parts: readonly string[],
  width: number,
  { gap, kept = [], mark = '' }: { readonly gap: string; readonly kept?: readonly string[]; readonly mark?: string },
): string {
  for (let count = parts.length; count > 0; count -= 1) {
    const left = count < parts.length && mark !== '' ? [mark] : []
    const line = [...parts.slice(0, count), ...left, ...kept].join(gap)
    if (cellsOf(line) <= width) return line
  }
  return fit([...parts.slice(0, 1), ...kept].join(gap), width, mark)
}

const GAP = '  '
/** Shorter, an id or a command cannot be recognised. */
const CELLS_MIN = 12
const COLUMNS_MIN = 3

/**
 * Aligned columns, each line after `indent`; whole in a pipe. On a terminal that is too narrow, columns after the first
 * are cut, the widest first, then columns are left out from the right, then the first column is cut. The first three
 * columns always stay.
 */
export function fittedLines(
  rows: readonly (readonly string[])[],
  { isTty, columns }: { readonly isTty: boolean; readonly columns: number },
  indent = '',
): string[] {
  const space = isTty && columns > 0 ? columns - indent.length : Number.POSITIVE_INFINITY
  const cellsAt = (at: number): string[] => rows.map((row) => row[at] ?? '')
  const widths = (rows[0] ?? []).map((_, at) => widest(cellsAt(at), Number.POSITIVE_INFINITY))
  const shown = [...widths.keys()].filter((at) => (widths[at] ?? 0) > 0)
  const over = (): number => shown.reduce((sum, at) => sum + (widths[at] ?? 0) + GAP.length, -GAP.length) - space
  while (over() > 0) {
    const rest = shown.slice(1).map((at) => widths[at] ?? 0)
    const most = Math.max(0, ...rest)
    const at = shown[rest.lastIndexOf(most) + 1]
    if (most > CELLS_MIN && at !== undefined) widths[at] = Math.max(CELLS_MIN, most - over())
    else if (shown.length > COLUMNS_MIN) shown.pop()
    else break
  }
  widths[0] = Math.max(Math.min(CELLS_MIN, widths[0] ?? 0), (widths[0] ?? 0) - Math.max(0, over()))
  const line = (row: readonly string[]): string => shown.map((at) => column(row[at] ?? '', widths[at] ?? 0)).join(GAP)
  return rows.map((row) => fit((indent + line(row)).trimEnd(), space + indent.length))
}
