// What the GenAI and MCP semantic conventions want to know of a call and do not find in a field of the event.
import { objectIn, textIn } from '../index/call-facts.ts'
import type { EventObject } from '../index/entry-lines.ts'
import type { Attributes } from './span.ts'

/** Whose models a client speaks to, where that is known; of any other command nobody can tell. */
const PROVIDERS: Readonly<Record<string, string>> = { claude: 'anthropic', codex: 'openai' }

export function providerOf(start: EventObject): Attributes {
  const provider = PROVIDERS[textIn(start, 'client') ?? '']
  return provider === undefined ? {} : { 'gen_ai.provider.name': provider }
}

export const methodOf = (start: EventObject): string => textIn(objectIn(start, 'call'), 'method') ?? 'tools/call'

export function callNameOf(start: EventObject, method: string): string {
  const tool = textIn(objectIn(start, 'call'), 'tool_name')
  return method === 'tools/call' && tool !== null ? `${method} ${tool}` : method
}

export function networkOf(start: EventObject): Attributes {
  const transport = textIn(objectIn(start, 'call'), 'transport')
  if (transport === 'mcp_stdio') return { 'network.transport': 'pipe' }
  if (transport === 'mcp_http') return { 'network.transport': 'tcp', 'network.protocol.name': 'http' }
  return {}
}

/** The code of the JSON-RPC error where there is one; a tool that reports its own failure has none. */
export function errorTypeOf(status: string, error: EventObject | undefined): Attributes {
  const code = error?.['code']
  if (typeof code === 'number' || typeof code === 'string')
    return { 'error.type': String(code), 'rpc.response.status_code': String(code) }
  if (status === 'TIMEOUT') return { 'error.type': 'timeout' }
  const kind = textIn(error, 'class') ?? 'upstream_error'
  return { 'error.type': kind === 'upstream_error' ? 'tool_error' : kind }
}
