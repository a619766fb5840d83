// Wraps text to the width of a terminal, between words and indented. Pure.
import { cellsOf } from '../../cells/widths.ts'

/** A label and its text, in two columns. */
const LABELED = /^( *\S.*? {2,})(\S.*)$/
/** Indent of the text of a label that takes more than half of the line. */
const BELOW = 6
/** Extra indent of continuation lines. */
const HANGING = 2

/** A word that is longer than a line is not broken. */
export function foldText(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => (cellsOf(line) <= columns ? [line] : foldLine(line, columns)))
    .join('\n')
}

function foldLine(line: string, columns: number): string[] {
  const indent = line.length - line.trimStart().length
  const [, label = '', said = ''] = LABELED.exec(line) ?? []
  if (label === '') return fill(line.trim(), indent, indent === 0 ? 0 : indent + HANGING, columns)
  if (cellsOf(label) <= columns / 2) return fill(line.trim(), indent, cellsOf(label), columns, label)
  return [...foldText(label.trimEnd(), columns).split('\n'), ...fill(said, BELOW, BELOW, columns)]
}

/** The first line begins with `start`, or with `first` blanks; the others with `rest`. */
export function fill(text: string, first: number, rest: number, columns: number, start = ''): string[] {
  const words = (start === '' ? text : text.slice(start.trimStart().length)).split(' ')
  const lines: string[] = []
  let line = start === '' ? ' '.repeat(first) : start
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && cellsOf(line) + 1 + cellsOf(word) > columns) {
      lines.push(line)
      line = ' '.repeat(rest)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}
