// Servers in a JSON configuration, with or without comments and trailing commas, and the places of their parts.
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { isObject } from '../plain-object.ts'
import {
  type ConfigText,
  type Edit,
  indentBefore,
  kindOf,
  type ListAt,
  type NewList,
  newlineOf,
  type OtherAt,
  placeOf,
  type ServerAt,
  SHOWN,
  type TextSpan,
  type Unreadable,
} from './config-text.ts'

interface Member {
  readonly key: string
  readonly node: Node
  readonly value: Node
}

/** `paths`: where tables of servers are; `*` stands for any key. */
export function readJsonConfig(text: string, paths: readonly (readonly string[])[]): ConfigText | Unreadable {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (first !== undefined) {
    const problem = printParseErrorCode(first.error)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toLowerCase()
    return { ...placeOf(text, first.offset), problem }
  }
  const entries = paths.flatMap((path) => tablesAt(root, path)).flatMap(entriesIn)
  return {
    text,
    servers: entries.flatMap(({ at, node }) => serverIn(text, at, node)),
    others: entries.flatMap(({ at, node }) => otherIn(at, node)),
    hidden() {
      const shown = new Set(
        entries.flatMap(({ node }) => membersOf(node).filter(({ key }) => SHOWN.has(key))).map(({ value }) => value),
      )
      return root === undefined ? [] : [...leavesOf(root, shown)]
    },
  }
}

/** Texts and numbers below a node, but for what is shown. */
function* leavesOf(node: Node, shown: ReadonlySet<Node>): Generator<TextSpan> {
  if (shown.has(node)) return
  if (node.type === 'string' || node.type === 'number') yield spanOf(node)
  // Of a member the value, not the key.
  else for (const child of (node.children ?? []).slice(node.type === 'property' ? 1 : 0)) yield* leavesOf(child, shown)
}

interface Table {
  readonly at: readonly string[]
  readonly node: Node
}

function tablesAt(root: Node | undefined, path: readonly string[]): Table[] {
  let tables: Table[] = root === undefined ? [] : [{ at: [], node: root }]
  for (const wanted of path)
    tables = tables.flatMap(({ at, node }) =>
      membersOf(node)
        .filter(({ key }) => wanted === '*' || key === wanted)
        .map(({ key, value }) => ({ at: [...at, key], node: value })),
    )
  return tables
}

const entriesIn = ({ at, node }: Table): Table[] =>
  membersOf(node).map(({ key, value }) => ({ at: [...at, key], node: value }))

function serverIn(text: string, at: readonly string[], node: Node): ServerAt[] {
  const plain = plainValue(node)
  return isObject(plain) ? [serverAt(text, at, node, plain)] : []
}

function otherIn(at: readonly string[], node: Node): OtherAt[] {
  return node.type === 'object' ? [] : [{ at, kind: kindOf(plainValue(node)) }]
}

/** Of a key that is there twice the last counts, as it does for the hosts. */
function membersOf(node: Node): Member[] {
  if (node.type !== 'object') return []
  const members = (node.children ?? []).flatMap((property): [string, Member][] => {
    const [name, value] = property.children ?? []
    return name === undefined || value === undefined
      ? []
      : [[String(name.value), { key: String(name.value), node: property, value }]]
  })
  return [...new Map(members).values()]
}

function serverAt(text: string, at: readonly string[], node: Node, value: Readonly<Record<string, unknown>>): ServerAt {
  const members = new Map(membersOf(node).map((member) => [member.key, member]))
  const command = members.get('command')
  return {
    at,
    value,
    command: command === undefined ? undefined : spanOf(command.value),
    list(key) {
      const list = members.get(key)?.value
      return list?.type === 'array' ? listAt(list) : undefined
    },
    addLists(lists) {
      const end = command === undefined ? node.offset + 1 : endOf(command.value)
      const indent = command === undefined ? undefined : indentBefore(text, command.node.offset)
      return { start: end, end, text: lists.map((list) => memberText(text, indent, list)).join('') }
    },
    remove: (key) => removal(text, node, members.get(key)),
  }
}

function memberText(text: string, indent: string | undefined, { key, items }: NewList): string {
  const gap = indent === undefined ? ' ' : newlineOf(text) + indent
  return `,${gap}${JSON.stringify(key)}: [${items.join(', ')}]`
}

function removal(text: string, parent: Node, member: Member | undefined): Edit {
  if (member === undefined) return { start: 0, end: 0, text: '' }
  const siblings = parent.children ?? []
  const index = siblings.indexOf(member.node)
  const [before, after] = [siblings[index - 1], siblings[index + 1]]
  if (before !== undefined) {
    const gap = text.slice(endOf(before), member.node.offset)
    // A comment between the two is somebody's, and stays; the comma goes.
    const kept = /^\s*,\s*$/.test(gap) ? '' : gap.replace(',', '')
    return { start: endOf(before), end: endOf(member.node), text: kept }
  }
  return { start: member.node.offset, end: after === undefined ? endOf(member.node) : after.offset, text: '' }
}

const endOf = (node: Node): number => node.offset + node.length
const spanOf = (node: Node): TextSpan => ({ start: node.offset, end: endOf(node) })
const listAt = (node: Node): ListAt => ({ ...spanOf(node), elements: (node.children ?? []).map(spanOf) })

function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue)
  if (node.type === 'object')
    return Object.fromEntries(membersOf(node).map(({ key, value }) => [key, plainValue(value)]))
  return node.value
}
