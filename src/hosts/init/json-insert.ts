// Members and elements put into a JSON text, and nothing else changed: what is inserted can be cut out again.
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { type Edit, indentBefore, newlineOf, placeOf, type TextSpan, type Unreadable } from '../config-text.ts'

export interface JsonText {
  readonly text: string
  /** Nothing for a file without anything in it. */
  readonly root: Node | undefined
}

export function readJson(text: string): JsonText | Unreadable {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (first !== undefined) return { ...placeOf(text, first.offset), problem: printParseErrorCode(first.error) }
  if (root !== undefined && root.type !== 'object') return { line: 1, column: 1, problem: 'not an object' }
  return { text, root }
}

/** What is to stand under a key, or be added to the list there. */
export interface WantedInsert {
  readonly path: readonly string[]
  /** Added to the list at `path`, which is made where there is none; else the value of a new member. */
  readonly element?: unknown
  readonly value?: unknown
}

/** One edit for each place; `wanted` with a common beginning that is not there yet go in together. A text says what stands in the way. */
export function insertions(json: JsonText, wanted: readonly WantedInsert[]): Edit[] | string {
  const { text, root } = json
  if (root === undefined) return [{ start: text.length, end: text.length, text: `${built(wanted, [], text)}\n` }]
  const edits: Edit[] = []
  const groups = new Map<Node, { readonly key: string; readonly items: WantedInsert[]; readonly depth: number }[]>()
  for (const one of wanted) {
    const place = deepest(root, one.path)
    if (typeof place === 'string') return place
    const { node, depth } = place
    if (depth === one.path.length) {
      if (node.type !== 'array') return `${one.path.join('.')} is not a list`
      edits.push(appended(text, node, valueText(one.element, unitOf(text), lineIndent(text, node) + unitOf(text))))
      continue
    }
    if (node.type !== 'object') return `${one.path.slice(0, depth).join('.')} is not an object`
    const key = one.path[depth] ?? ''
    const known = groups.get(node) ?? []
    const group = known.find((other) => other.key === key)
    if (group === undefined) groups.set(node, [...known, { key, items: [one], depth }])
    else group.items.push(one)
  }
  for (const [node, members] of groups) {
    const indent = lineIndent(text, node) + unitOf(text)
    const texts = members.map(
      ({ key, items, depth }) =>
        `${JSON.stringify(key)}: ${valueText(valueOf(items, depth + 1), unitOf(text), indent)}`,
    )
    edits.push(withMembers(text, node, texts, indent))
  }
  return edits
}

/** The first key on the way that an object has more than once. */
export function keyTwice(root: Node | undefined, path: readonly string[]): string | undefined {
  for (const [depth, key] of path.entries()) {
    const node = root === undefined ? undefined : findNodeAtLocation(root, path.slice(0, depth))
    const keys = (node?.children ?? []).map((member) => member.children?.[0]?.value as unknown)
    if (keys.filter((one) => one === key).length > 1) return path.slice(0, depth + 1).join('.')
  }
  return undefined
}

/** The node that the path leads to, or as far as it goes. */
function deepest(root: Node, path: readonly string[]): { readonly node: Node; readonly depth: number } | string {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, depth))
    if (node !== undefined) return { node, depth }
  }
  return 'the file is not an object'
}

/** Several wishes below one key as one value. */
function valueOf(items: readonly WantedInsert[], depth: number): unknown {
  const [first] = items
  if (first !== undefined && first.path.length === depth)
    return first.element === undefined ? first.value : items.map(({ element }) => element)
  const keys = [...new Set(items.map(({ path }) => path[depth] ?? ''))]
  return Object.fromEntries(
    keys.map((key) => [
      key,
      valueOf(
        items.filter(({ path }) => path[depth] === key),
        depth + 1,
      ),
    ]),
  )
}

const built = (wanted: readonly WantedInsert[], path: readonly string[], text: string): string =>
  JSON.stringify(valueOf(wanted, path.length), null, 2).replaceAll('\n', newlineOf(text))

function valueText(value: unknown, unit: string, indent: string): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`)
}

function withMembers(text: string, node: Node, members: readonly string[], indent: string): Edit {
  const newline = newlineOf(text)
  const lines = members.map((member) => newline + indent + member.replaceAll('\n', newline))
  const last = node.children?.at(-1)
  if (last !== undefined) return insertAt(last.offset + last.length, lines.map((line) => `,${line}`).join(''))
  return insertAt(node.offset + 1, `${lines.join(',')}${newline}${lineIndent(text, node)}`)
}

function appended(text: string, node: Node, element: string): Edit {
  const newline = newlineOf(text)
  const indent = lineIndent(text, node)
  const line = `${newline}${indent}${unitOf(text)}${element.replaceAll('\n', newline)}`
  const last = node.children?.at(-1)
  if (last !== undefined) return insertAt(last.offset + last.length, `,${line}`)
  return insertAt(node.offset + 1, `${line}${newline}${indent}`)
}

/** Texts and numbers: nobody needs to see them in order to judge what is put in beside them, and tokens may be among them. */
export function hiddenIn({ root }: JsonText): TextSpan[] {
  const spans: TextSpan[] = []
  const walk = (node: Node): void => {
    if (node.type === 'string' || node.type === 'number')
      spans.push({ start: node.offset, end: node.offset + node.length })
    // Of a member the value, not the key.
    else for (const child of (node.children ?? []).slice(node.type === 'property' ? 1 : 0)) walk(child)
  }
  if (root !== undefined) walk(root)
  return spans
}

const insertAt = (at: number, text: string): Edit => ({ start: at, end: at, text })

/** White space that the line begins with in which the node begins. */
function lineIndent(text: string, node: Node): string {
  const start = text.lastIndexOf('\n', node.offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? ''
}

/** By the first member of the file that stands on a line of its own. */
function unitOf(text: string): string {
  const indent = indentBefore(text, text.search(/"/))
  return indent === undefined || indent === '' ? '  ' : indent
}
