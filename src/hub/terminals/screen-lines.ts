// The last lines of a screen as runs of one tone, from the cells of a headless terminal: a thumbnail is text, never bytes of a program.
import type { IBufferCell, Terminal } from '@xterm/headless'
import { partOf } from '../../cells/halves.ts'
import type { Thumbnail } from '../contract.ts'

type Line = Thumbnail['lines'][number]
type Tone = Line[number][1]

/** The last `count` lines down to the last one that has something on it. */
export function linesOf(terminal: Terminal, count: number): Thumbnail['lines'] {
  const buffer = terminal.buffer.active
  const rows: Line[] = []
  const cell = buffer.getNullCell()
  for (let y = 0; y < terminal.rows; y += 1) {
    const line = buffer.getLine(buffer.baseY + y)
    const runs: [string, Tone][] = []
    for (let x = 0; x < terminal.cols; x += 1) {
      if (line?.getCell(x, cell) === undefined) continue
      const part = partOf(line, x, cell)
      if (part === 'behind') continue
      add(runs, part === 'half' || cell.getChars() === '' ? ' ' : cell.getChars(), toneOf(cell))
    }
    rows.push(withoutTail(runs))
  }
  const last = rows.findLastIndex((runs) => runs.length > 0)
  return rows.slice(Math.max(0, last + 1 - count), last + 1)
}

function add(runs: [string, Tone][], text: string, tone: Tone): void {
  const before = runs.at(-1)
  // Blanks have no tone of their own.
  if (before !== undefined && (before[1] === tone || text === ' ')) before[0] += text
  else runs.push([text, tone])
}

function withoutTail(runs: readonly [string, Tone][]): Line {
  const kept = runs.map(([text, tone]): [string, Tone] => [text, tone])
  for (;;) {
    const last = kept.at(-1)
    if (last === undefined) return kept
    last[0] = last[0].trimEnd()
    if (last[0] !== '') return kept
    kept.pop()
  }
}

const ANSI_TONES: readonly Tone[] = ['dim', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'plain']

function toneOf(cell: IBufferCell): Tone {
  if (cell.isFgPalette() && cell.getFgColor() < 16) {
    // 8 is the grey of the bright ones.
    if (cell.getFgColor() === 8) return 'dim'
    const tone = ANSI_TONES[cell.getFgColor() % 8] ?? 'plain'
    if (tone !== 'plain') return tone
  }
  if (cell.isFgRGB() || (cell.isFgPalette() && cell.getFgColor() >= 16)) return toneOfColor(rgbOf(cell))
  return cell.isDim() !== 0 ? 'dim' : cell.isBold() !== 0 ? 'bold' : 'plain'
}

const LEVELS = [0, 95, 135, 175, 215, 255]

function rgbOf(cell: IBufferCell): readonly [number, number, number] {
  const color = cell.getFgColor()
  if (cell.isFgRGB()) return [(color >> 16) & 255, (color >> 8) & 255, color & 255]
  if (color >= 232) {
    const grey = 8 + (color - 232) * 10
    return [grey, grey, grey]
  }
  const level = (divisor: number): number => LEVELS[Math.floor((color - 16) / divisor) % 6] ?? 0
  return [level(36), level(6), level(1)]
}

/** The page has nine tones, of its own theme: the nearest hue, or how bright it is where there is none. */
function toneOfColor([r, g, b]: readonly [number, number, number]): Tone {
  const most = Math.max(r, g, b)
  const least = Math.min(r, g, b)
  if (most - least < 40) return most < 160 ? 'dim' : 'plain'
  const isHigh = (part: number): boolean => part > (most + least) / 2
  const hue = `${isHigh(r) ? 'r' : ''}${isHigh(g) ? 'g' : ''}${isHigh(b) ? 'b' : ''}`
  return HUES[hue] ?? 'plain'
}

const HUES: Readonly<Record<string, Tone>> = {
  r: 'red',
  g: 'green',
  b: 'blue',
  rg: 'yellow',
  rb: 'magenta',
  gb: 'cyan',
}
