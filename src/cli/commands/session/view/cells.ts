// A line of the emulator's buffer as text with the escape sequences that draw it.
import type { IBuffer, IBufferCell, IBufferLine } from '@xterm/headless'

export interface DrawnLine {
  readonly text: string
  /** Columns drawn; the rest of the line is blank. */
  readonly width: number
}

/** Draws up to `cols` columns from a reset style and ends with a reset one. Blanks at the end are left out. */
function drawLine(line: IBufferLine, cols: number, cell: IBufferCell): DrawnLine {
  const end = usedColumns(line, Math.min(cols, line.length), cell)
  let text = ''
  let style = '0'
  let width = 0
  for (let x = 0; x < end; x += 1) {
    line.getCell(x, cell)
    const cellWidth = cell.getWidth()
    if (cellWidth === 0) continue
    const next = styleOf(cell)
    if (next !== style) text += `\u001b[${next}m`
    style = next
    const chars = cell.getChars()
    // A wide character that the edge cuts in half is not drawn: it would push the terminal into the next line.
    text += chars === '' || width + cellWidth > cols ? ' ' : chars
    width += cellWidth
  }
  return { text: style === '0' ? text : `${text}\u001b[0m`, width: Math.min(width, cols) }
}

function usedColumns(line: IBufferLine, cols: number, cell: IBufferCell): number {
  let end = cols
  while (end > 0) {
    line.getCell(end - 1, cell)
    const chars = cell.getChars()
    const isBlank = cell.getWidth() > 0 && (chars === '' || chars === ' ') && cell.isBgDefault() && hasNoMark(cell)
    if (!isBlank) return end
    end -= 1
  }
  return end
}

/** Marks that show on a blank cell too. */
function hasNoMark(cell: IBufferCell): boolean {
  return cell.isUnderline() + cell.isInverse() + cell.isStrikethrough() + cell.isOverline() === 0
}

function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return '0'
  let style = '0'
  if (cell.isBold() !== 0) style += ';1'
  if (cell.isDim() !== 0) style += ';2'
  if (cell.isItalic() !== 0) style += ';3'
  if (cell.isUnderline() !== 0) style += ';4'
  if (cell.isBlink() !== 0) style += ';5'
  if (cell.isInverse() !== 0) style += ';7'
  if (cell.isInvisible() !== 0) style += ';8'
  if (cell.isStrikethrough() !== 0) style += ';9'
  if (cell.isOverline() !== 0) style += ';53'
  if (cell.isFgRGB()) style += `;38;2;${rgb(cell.getFgColor())}`
  else if (cell.isFgPalette()) style += `;${palette(cell.getFgColor(), cell.getFgColorMode(), 30)}`
  if (cell.isBgRGB()) style += `;48;2;${rgb(cell.getBgColor())}`
  else if (cell.isBgPalette()) style += `;${palette(cell.getBgColor(), cell.getBgColorMode(), 40)}`
  return style
}

const rgb = (color: number): string => `${(color >> 16) & 0xff};${(color >> 8) & 0xff};${color & 0xff}`

/** How the emulator marks a colour of the 256; the first 16 set by number are not those that bold makes brighter. */
const MODE_256 = 0x200_0000

function palette(color: number, mode: number, base: 30 | 40): string {
  if (mode === MODE_256) return `${base + 8};5;${color}`
  return String(color < 8 ? base + color : base + 60 + color - 8)
}

/** `count` rows of a buffer from row `start` of the screen. */
export function drawRows(buffer: IBuffer, start: number, count: number, cols: number): DrawnLine[] {
  const cell = buffer.getNullCell()
  return Array.from({ length: count }, (_, y) => {
    const line = buffer.getLine(buffer.baseY + start + y)
    return line === undefined ? { text: '', width: 0 } : drawLine(line, cols, cell)
  })
}
