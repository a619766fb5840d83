// What tmux has captured of a pane with its attributes, cell by cell.

export interface Cell {
  readonly text: string
  /** Attributes in force, in one order: `bold fg:31 bg:48;5;3`. */
  readonly style: string
}

/** Columns are filled up with blanks, and a blank that shows nothing is the same however it came about. */
export function gridOf(lines: readonly string[], cols: number): string[][] {
  // tmux writes what changes, also from one line to the next.
  const pen: Pen = { style: new Map(), isDrawing: false }
  return lines.map((line) => {
    const cells = cellsOf(line, pen).map(({ text, style }) =>
      text === ' ' && !SHOWS_ON_BLANK.test(style) ? ' ' : `${text} ${style}`.trimEnd(),
    )
    return [...cells, ...Array.from({ length: Math.max(0, cols - cells.length) }, () => ' ')]
  })
}

const SHOWS_ON_BLANK = /bg:|turned|under|struck|over/
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** The line-drawing characters of the DEC set, which tmux keeps as such. */
const DRAWING: Readonly<Record<string, string>> = {
  j: '┘',
  k: '┐',
  l: '┌',
  m: '└',
  n: '┼',
  q: '─',
  t: '├',
  u: '┤',
  v: '┴',
  w: '┬',
  x: '│',
  a: '▒',
  '`': '◆',
  '~': '·',
}

interface Pen {
  readonly style: Map<string, string>
  isDrawing: boolean
}

function cellsOf(line: string, pen: Pen): Cell[] {
  const cells: Cell[] = []
  const { style } = pen
  // oxlint-disable-next-line no-control-regex
  for (const [, sgr, shift, text = ''] of line.matchAll(
    /\u001b\[([\d;:]*)m|([\u000e\u000f])|([^\u001b\u000e\u000f]+)/g,
  )) {
    if (sgr !== undefined) apply(style, sgr)
    if (shift !== undefined) pen.isDrawing = shift === '\u000e'
    const written = [...style.keys()]
      .sort()
      .map((key) => `${key}${style.get(key) ?? ''}`)
      .join(' ')
    for (const { segment } of SEGMENTER.segment(text))
      cells.push({ text: pen.isDrawing ? (DRAWING[segment] ?? segment) : segment, style: written })
  }
  return cells
}

const ON: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  5: 'blinking',
  7: 'turned',
  8: 'hidden',
  9: 'struck',
  53: 'over',
}
const OFF: Readonly<Record<string, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['under:'],
  25: ['blinking'],
  27: ['turned'],
  28: ['hidden'],
  29: ['struck'],
  55: ['over'],
  39: ['fg:'],
  49: ['bg:'],
  59: ['line:'],
}

function apply(style: Map<string, string>, sgr: string): void {
  const parts = sgr === '' ? ['0'] : sgr.split(';')
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const [code = '', ...sub] = part.split(':')
    if (code === '0' || code === '') style.clear()
    else if (ON[code] !== undefined) style.set(ON[code], '')
    else if (code === '4') {
      if (sub[0] === '0') style.delete('under:')
      else style.set('under:', sub[0] ?? '1')
    } else if (OFF[code] !== undefined) for (const name of OFF[code]) style.delete(name)
    else {
      const name = { 38: 'fg:', 48: 'bg:', 58: 'line:' }[code] ?? (/^(?:3|9)\d$/.test(code) ? 'fg:' : 'bg:')
      const isLong = ['38', '48', '58'].includes(code)
      const rest =
        sub.length > 0 ? sub.filter((value) => value !== '') : isLong ? parts.splice(0, parts[0] === '2' ? 4 : 2) : []
      style.set(name, [code, ...rest].join(';'))
    }
  }
}
