// Columns of a terminal: text cut and padded by the cells that it takes.
import { cellsOf } from '../../cells/widths.ts'

/** Cut to `width` cells, with a mark where something is missing. */
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

/** What the widest of them takes, at most `max`. */
export const widest = (texts: readonly string[], max: number): number =>
  Math.min(max, Math.max(0, ...texts.map((text) => cellsOf(text))))

/** The first of the parts that fit beside those that stay, whole: half a word helps nobody. */
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
