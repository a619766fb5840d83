// Servers in a TOML configuration, whichever way their tables are written, and the places of their parts.
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'
import { isObject } from '../plain-object.ts'
import {
  type ConfigText,
  type Edit,
  indentBefore,
  kindOf,
  type ListAt,
  type NewList,
  newlineOf,
  type ServerAt,
  SHOWN,
  type TextSpan,
  type Unreadable,
} from './config-text.ts'

/** A key with its value, wherever it stands: in a table, under dotted keys, in an inline table. */
interface Member {
  readonly path: readonly string[]
  readonly node: AST.TOMLKeyValue
}

/** `paths` are keys that lead to tables of servers. */
export function readTomlConfig(text: string, paths: readonly (readonly string[])[]): ConfigText | Unreadable {
  let program: AST.TOMLProgram
  try {
    // The newest of the language: reading more than a host does harms nobody, reading less would refuse its files.
    program = parseTOML(text, { tomlVersion: 'latest' })
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return { line: error.lineNumber, column: error.column + 1, problem: error.message }
  }
  const members = [...membersOf(program)]
  const values = valuesOf(program)
  const entries = paths.flatMap((path) => {
    const table = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), values)
    return Object.entries(isObject(table) ? table : {}).map(([name, value]) => ({ at: [...path, name], value }))
  })
  return {
    text,
    servers: entries.flatMap(({ at, value }) => (isObject(value) ? [serverAt(text, members, at, value)] : [])),
    others: entries.flatMap(({ at, value }) => (isObject(value) ? [] : [{ at, kind: kindOf(value) }])),
    hidden: () => members.filter(({ path }) => !isShown(path, paths)).flatMap(({ node }) => [...leavesOf(node.value)]),
  }
}

function isShown(path: readonly string[], tables: readonly (readonly string[])[]): boolean {
  return tables.some(
    (keys) => keys.every((key, index) => key === path[index]) && SHOWN.has(path[keys.length + 1] ?? ''),
  )
}

/** What stands in an inline table is a member by itself, unless the table stands in a list. */
function* leavesOf(node: AST.TOMLContentNode, isInList = false): Generator<TextSpan> {
  if (node.type === 'TOMLArray') for (const element of node.elements) yield* leavesOf(element, true)
  else if (node.type !== 'TOMLInlineTable') yield spanOf(node)
  else if (isInList) for (const member of node.body) yield* leavesOf(member.value, true)
}

type Table = Record<string, unknown>

/** Nothing in it but what the text says: in an object with a prototype some names are no members. */
const emptyTable = (): Table => Object.create(null) as Table

function valuesOf(program: AST.TOMLProgram): Table {
  const root = emptyTable()
  for (const node of program.body[0].body) {
    if (node.type === 'TOMLKeyValue') put(root, node)
    else {
      const table = inner(root, node.resolvedKey)
      for (const member of node.body) put(table, member)
    }
  }
  return root
}

function put(table: Table, node: AST.TOMLKeyValue): void {
  const keys = keysOf(node)
  const last = keys.pop() ?? ''
  inner(table, keys)[last] = valueOf(node.value)
}

/** The table that keys lead to; a number is a place in a list of tables. */
function inner(table: Table, keys: readonly (string | number)[]): Table {
  return keys.reduce<Table>((outer, key, index) => {
    outer[key] ??= typeof keys[index + 1] === 'number' ? [] : emptyTable()
    return outer[key] as Table
  }, table)
}

function valueOf(node: AST.TOMLContentNode): unknown {
  if (node.type === 'TOMLArray') return node.elements.map(valueOf)
  if (node.type !== 'TOMLInlineTable') return getStaticTOMLValue(node)
  const table = emptyTable()
  for (const member of node.body) put(table, member)
  return table
}

const keysOf = ({ key }: AST.TOMLKeyValue): string[] =>
  key.keys.map((one) => (one.type === 'TOMLBare' ? one.name : one.value))

function* membersOf(program: AST.TOMLProgram): Generator<Member> {
  for (const node of program.body[0].body) {
    if (node.type === 'TOMLKeyValue') yield* below([], node)
    else for (const member of node.body) yield* below(node.resolvedKey.map(String), member)
  }
}

function* below(base: readonly string[], node: AST.TOMLKeyValue): Generator<Member> {
  const path = [...base, ...keysOf(node)]
  yield { path, node }
  if (node.value.type === 'TOMLInlineTable') for (const member of node.value.body) yield* below(path, member)
}

function serverAt(
  text: string,
  members: readonly Member[],
  at: readonly string[],
  value: Readonly<Record<string, unknown>>,
): ServerAt {
  const member = (key: string): AST.TOMLKeyValue | undefined =>
    members.find(
      ({ path }) => path.length === at.length + 1 && path.at(-1) === key && at.every((k, i) => path[i] === k),
    )?.node
  const command = member('command')
  return {
    at,
    value,
    command: command === undefined ? undefined : spanOf(command.value),
    list(key) {
      const list = member(key)?.value
      return list?.type === 'TOMLArray' ? listAt(list) : undefined
    },
    addLists(lists) {
      const end = command?.range[1] ?? text.length
      return {
        start: end,
        end,
        text: command === undefined ? '' : lists.map((one) => lineText(text, command, one)).join(''),
      }
    },
    remove: (key) => removal(text, member(key)),
  }
}

/** Under the command, with the same dotted keys before it; in an inline table, behind it. */
function lineText(text: string, command: AST.TOMLKeyValue, { key, items }: NewList): string {
  const list = `${key} = [${items.join(', ')}]`
  if (command.parent.type === 'TOMLInlineTable') return `, ${dotted(text, command)}${list}`
  return `${newlineOf(text)}${indentBefore(text, command.range[0]) ?? ''}${dotted(text, command)}${list}`
}

/** `mcp_servers.fs.` of `mcp_servers.fs.command`. */
function dotted(text: string, { key }: AST.TOMLKeyValue): string {
  return text.slice(key.range[0], key.keys.at(-1)?.range[0])
}

function removal(text: string, node: AST.TOMLKeyValue | undefined): Edit {
  if (node === undefined) return { start: 0, end: 0, text: '' }
  const [start, end] = node.range
  if (node.parent.type === 'TOMLInlineTable') {
    const { body } = node.parent
    const index = body.indexOf(node)
    const [before, after] = [body[index - 1], body[index + 1]]
    if (before !== undefined) return { start: before.range[1], end, text: '' }
    return { start, end: after?.range[0] ?? end, text: '' }
  }
  const indent = indentBefore(text, start) ?? ''
  const lineStart = start - indent.length
  const broken = text[lineStart - 1] === '\n' ? (text[lineStart - 2] === '\r' ? 2 : 1) : 0
  return { start: lineStart - broken, end, text: '' }
}

const spanOf = ({ range: [start, end] }: AST.TOMLContentNode): TextSpan => ({ start, end })
const listAt = (node: AST.TOMLArray): ListAt => ({ ...spanOf(node), elements: node.elements.map(spanOf) })
