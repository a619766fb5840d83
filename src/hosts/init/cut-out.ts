// Takes out of a configuration what is ours by what the lines say: for a file that others have changed since, or whose record is lost.
import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser'
import { applyEdits } from '../config-text.ts'
import { isObject } from '../../plain-object.ts'
import { isOwnHook, LEDGER_NAME, LEDGER_PROGRAM } from './host-setup.ts'
import { readJson } from './json-insert.ts'
import { removal } from './json-remove.ts'

/** What the value at a path of a parsed file is; nothing where there is none. */
export function valueAt(root: Node, path: readonly string[]): unknown {
  const node = findNodeAtLocation(root, [...path])
  return node === undefined ? undefined : (getNodeValue(node) as unknown)
}

export function withoutOurs(text: string, path: string): string {
  return path.endsWith('.toml') ? withoutTable(text) : withoutMembers(text)
}

/** Our table up to the next one, and tables below it: without the one above them they are no server. */
function withoutTable(text: string): string {
  const name = `mcp_servers[ \\t]*\\.[ \\t]*["']?${LEDGER_NAME}["']?[ \\t]*`
  const table = (below: string): RegExp =>
    new RegExp(
      `(?:\\r?\\n)?^[ \\t]*\\[[ \\t]*${name}${below}\\][ \\t]*(?:#[^\\n]*)?\\r?\\n(?:(?!\\s*\\[)[^\\n]*(?:\\n|$))*`,
      'gm',
    )
  const rest = text.replace(table(''), (found) => (found.includes(LEDGER_PROGRAM) ? '' : found))
  return rest === text ? text : rest.replace(table('\\.[^\\]\\n]*'), '')
}

/** One after the other, since each removal moves the rest. */
function withoutMembers(text: string): string {
  for (let rest = text; ;) {
    const found = firstOurs(rest)
    if (found === undefined) return rest
    rest = applyEdits(rest, removal(rest, found))
  }
}

/** Where something of ours stands; a list or table that it leaves empty goes with it. */
function firstOurs(text: string): Node | undefined {
  const json = readJson(text)
  if (!('root' in json) || json.root === undefined) return undefined
  const path = pathOfOurs(json.root)
  return path === undefined ? undefined : findNodeAtLocation(json.root, [...path])
}

function pathOfOurs(root: Node): readonly (string | number)[] | undefined {
  for (const key of ['mcpServers', 'servers'])
    if (isOwnLedger(valueAt(root, [key, LEDGER_NAME]))) return [key, LEDGER_NAME]
  const hooks = valueAt(root, ['hooks'])
  if (!isObject(hooks)) return undefined
  for (const [event, list] of Object.entries(hooks)) {
    if (!Array.isArray(list)) continue
    const at = list.findIndex(isOurs)
    if (at === -1) {
      const one = firstAmongOthers(list)
      if (one !== undefined) return ['hooks', event, ...one]
      continue
    }
    const isLast = list.length === 1
    return isLast ? (Object.keys(hooks).length === 1 ? ['hooks'] : ['hooks', event]) : ['hooks', event, at]
  }
  return undefined
}

/** Another may have a server under our name: ours is known by what it starts, also from behind the shim. */
export function isOwnLedger(server: unknown): boolean {
  if (!isObject(server)) return false
  const args: unknown[] = Array.isArray(server['args']) ? server['args'] : []
  return args.some((word) => typeof word === 'string' && word.endsWith(LEDGER_PROGRAM))
}

/** A hook of ours in a group to which somebody has added another. */
function firstAmongOthers(list: readonly unknown[]): readonly (string | number)[] | undefined {
  for (const [at, group] of list.entries()) {
    const hooks: unknown = isObject(group) ? group['hooks'] : undefined
    const one = Array.isArray(hooks) ? hooks.findIndex((hook) => isObject(hook) && isOwnHook(hook['command'])) : -1
    if (one !== -1) return [at, 'hooks', one]
  }
  return undefined
}

/** A group of hooks of which all are ours, or one by itself. */
function isOurs(entry: unknown): boolean {
  if (!isObject(entry)) return false
  const { hooks, command } = entry
  if (!Array.isArray(hooks)) return isOwnHook(command)
  return hooks.length > 0 && hooks.every((hook) => isObject(hook) && isOwnHook(hook['command']))
}
