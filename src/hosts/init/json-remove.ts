// A member or an element taken out of a JSON text, with one comma and with the lines that it alone stood on. Comments of others stay.
import { createScanner, type Node } from 'jsonc-parser'
import type { Edit } from '../config-text.ts'

/** `modify` of jsonc-parser guesses at white space and cuts too much where there is none. */
export function removal(text: string, value: Node): Edit[] {
  const node = value.parent?.type === 'property' ? value.parent : value
  const siblings = node.parent?.children ?? []
  const before = siblings[siblings.indexOf(node) - 1]
  const end = endOf(node)
  const comma = commaFrom(text, end)
  if (comma === end) return [lines(text, node.offset, end + 1)]
  const other = comma ?? (before === undefined ? undefined : commaFrom(text, endOf(before)))
  return [lines(text, node.offset, end), ...(other === undefined ? [] : [cut(other, other + 1)])]
}

const endOf = ({ offset, length }: Node): number => offset + length

const cut = (start: number, end: number): Edit => ({ start, end, text: '' })

/** The next thing that is no comment, where it is a comma. */
function commaFrom(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === ',' ? at : undefined
}

/** The blanks before it; where nothing else stands on its lines, the end of the last one too. */
function lines(text: string, start: number, end: number): Edit {
  const blank = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0
  const isFirst = /(?:^|\n)$/.test(text.slice(0, start - blank))
  const rest = isFirst ? (/^[ \t]*\r?\n/.exec(text.slice(end))?.[0].length ?? 0) : 0
  return cut(start - blank, end + rest)
}
