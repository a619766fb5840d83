// From the bytes of one message to what the SDK may see, or to the error that its sender gets.
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { isObject } from '../plain-object.ts'
import type { Framed } from './message-frames.ts'

export type Read =
  | {
      readonly kind: 'message'
      readonly message: JSONRPCMessage
      /** Set for a request: it wants an answer. */
      readonly requestId?: string | number
      /** Set for a cancellation. */
      readonly cancelledId?: string | number
    }
  | { readonly kind: 'refused'; readonly answer: object }

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** The SDK drops what is no valid JSON-RPC without a word, and its sender would wait for ever. */
export function readMessage(framed: Framed): Read {
  if (framed.kind === 'lost')
    return refused(null, INVALID_REQUEST, `Invalid Request: ${framed.reason}; the connection is closed`)
  if (framed.kind === 'refused')
    return framed.id === null
      ? refused(null, PARSE_ERROR, `Parse error: ${framed.reason}`)
      : refused(framed.id, INVALID_REQUEST, `Invalid Request: ${framed.reason}`)
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(framed.bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error
    return refused(null, PARSE_ERROR, 'Parse error: not a JSON text in UTF-8')
  }
  if (Array.isArray(value)) return refused(null, INVALID_REQUEST, 'Invalid Request: batches are not supported')
  if (!isObject(value)) return refused(null, INVALID_REQUEST, 'Invalid Request: not an object')
  const { id, method, params } = value
  const isValidId = typeof id === 'string' || Number.isSafeInteger(id)
  // Every number can be answered to; MCP itself allows whole ones only.
  const answerId = typeof id === 'string' || typeof id === 'number' ? id : null
  if (value['jsonrpc'] !== '2.0') return refused(answerId, INVALID_REQUEST, 'Invalid Request: jsonrpc must be "2.0"')
  if (typeof method !== 'string')
    return isValidId && ('result' in value || 'error' in value)
      ? { kind: 'message', message: value as JSONRPCMessage }
      : refused(answerId, INVALID_REQUEST, 'Invalid Request: method must be a string')
  if ('id' in value && !isValidId)
    return refused(answerId, INVALID_REQUEST, 'Invalid Request: id must be a string or a whole number')
  if (params !== undefined && !isObject(params))
    return refused(answerId, INVALID_REQUEST, 'Invalid Request: params must be an object')
  const message = { ...value, ...(method === 'initialize' ? { params: completed(params ?? {}) } : {}) }
  return {
    kind: 'message',
    message: message as unknown as JSONRPCMessage,
    ...(isValidId ? { requestId: id as string | number } : {}),
    ...(method === 'notifications/cancelled' ? cancelled(params) : {}),
  }
}

/** The seed's own example names neither version nor capabilities; what is absent means the seed's protocol revision. */
function completed(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { clientInfo } = params
  const info = isObject(clientInfo) ? clientInfo : {}
  return {
    ...params,
    protocolVersion: params['protocolVersion'] ?? '2024-11-05',
    capabilities: params['capabilities'] ?? {},
    clientInfo: { ...info, name: info['name'] ?? 'mcp-client', version: info['version'] ?? 'unknown' },
  }
}

function cancelled(params: unknown): { cancelledId?: string | number } {
  const id = isObject(params) ? params['requestId'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? { cancelledId: id } : {}
}

function refused(id: string | number | null, code: number, message: string): Read {
  return { kind: 'refused', answer: { jsonrpc: '2.0', id, error: { code, message } } }
}
