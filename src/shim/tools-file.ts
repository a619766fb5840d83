// Tool lists from files: a `tools/list` response, its result, or the list alone.
import { readFile } from 'node:fs/promises'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Annotations } from '../policy/types.ts'
import { type ListedTool, listedTools } from './call/tool-annotations.ts'

export type ToolsByServer = ReadonlyMap<string, readonly ListedTool[]>

/** Each word is `SERVER=FILE`. */
export async function readTools(words: readonly string[], resolve: (file: string) => string): Promise<ToolsByServer> {
  const servers = new Map<string, readonly ListedTool[]>()
  for (const word of words) {
    const at = word.indexOf('=')
    if (at < 1) throw new HeimdallError('USAGE', `--tools takes SERVER=FILE, got ${printable(word)}`)
    servers.set(word.slice(0, at), await readList(word.slice(at + 1), resolve))
  }
  return servers
}

export function annotationsIn(servers: ToolsByServer): (server: string, tool: string) => Annotations | undefined {
  const bySaid = new Map(
    [...servers].map(([server, tools]) => [server, new Map(tools.map(({ name, annotations }) => [name, annotations]))]),
  )
  // A list is complete: a tool that is not in it has no annotations.
  return (server, tool) => (bySaid.has(server) ? (bySaid.get(server)?.get(tool) ?? NOTHING_SAID) : undefined)
}

const NOTHING_SAID: Annotations = {}

async function readList(file: string, resolve: (file: string) => string): Promise<readonly ListedTool[]> {
  let text: string
  try {
    text = await readFile(resolve(file), 'utf8')
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ELOOP')) throw error
    throw new HeimdallError('EVENTS_UNREADABLE', `${file} cannot be read (${error.code})`, { cause: error })
  }
  const tools = listedTools(text)
  if (tools === null)
    throw new HeimdallError('USAGE', `${printable(file)} is not a tools/list response`, {
      hint: 'expected a JSON object with a list "tools", or the whole response with a result',
    })
  return tools
}
