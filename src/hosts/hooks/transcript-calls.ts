// The tool calls of the last turn, by a host's own transcript: what hooks should have been asked about.
import { isObject } from '../../plain-object.ts'
import type { HookHost } from './hook-table.ts'

/** Ids of calls since the last prompt, oldest first. Of hosts whose hooks are told no ids, none. */
export function callsOfTurn(host: HookHost, transcript: string): string[] {
  let calls: string[] = []
  for (const line of transcript.split('\n')) {
    const entry = parsed(line)
    if (entry === undefined) continue
    if (isPrompt(host, entry)) calls = []
    calls.push(...callsIn(host, entry))
  }
  return [...new Set(calls)]
}

/** A line that is cut, at either end, is passed over. */
function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isPrompt(host: HookHost, entry: Readonly<Record<string, unknown>>): boolean {
  if (host === 'codex') {
    const payload = entry['payload']
    return isObject(payload) && payload['type'] === 'user_message'
  }
  const { message } = entry
  // Answers of tools come as messages of the user, in lists.
  return entry['type'] === 'user' && isObject(message) && typeof message['content'] === 'string'
}

function callsIn(host: HookHost, entry: Readonly<Record<string, unknown>>): string[] {
  if (host === 'codex') {
    const { payload } = entry
    const isCall = isObject(payload) && ['function_call', 'custom_tool_call'].includes(String(payload['type']))
    // Calls of MCP servers pass a shim, and plans and questions change nothing.
    if (!isCall || payload['namespace'] !== undefined || !CODEX_WRITERS.has(String(payload['name']))) return []
    return typeof payload['call_id'] === 'string' ? [payload['call_id']] : []
  }
  const { message } = entry
  const content = isObject(message) && Array.isArray(message['content']) ? (message['content'] as unknown[]) : []
  if (host !== 'claude' || entry['type'] !== 'assistant') return []
  return content.flatMap((block) =>
    isObject(block) && block['type'] === 'tool_use' && CLAUDE_WRITERS.has(String(block['name']))
      ? [String(block['id'])]
      : [],
  )
}

const CLAUDE_WRITERS: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'Bash'])
const CODEX_WRITERS: ReadonlySet<string> = new Set(['exec_command', 'shell', 'local_shell', 'apply_patch'])
