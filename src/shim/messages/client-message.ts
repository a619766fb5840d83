// What a message from the client is, told from its scan: a call to be judged, something to pass on, or something nobody should trust.
import { fold, hasUnseen } from '../../policy/bundle/likeness.ts'
import { type IdKey, idOf, type MessageId } from './message-id.ts'
import type { Scanned } from './scanned.ts'

/** JSON-RPC's own codes. */
export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const INVALID_PARAMS = -32_602

export interface CallMessage {
  readonly kind: 'call'
  /** Null for a notification: it is judged all the same, but there is nobody to answer. */
  readonly id: MessageId | null
  readonly toolName: string
  /** Of a request that is no tool call but that rules name. */
  readonly method?: string
  /** Bytes of the `arguments` object, counted from the start of the message; null where there are none. */
  readonly args: { readonly from: number; readonly to: number } | null
}

/** A message that upstreams may read in more than one way, or not at all: it is never passed on uninspected. */
export interface MalformedMessage {
  readonly kind: 'malformed'
  readonly id: MessageId | null
  readonly code: number
  readonly why: string
  /** What it calls, as far as that can be told; empty where it cannot. */
  readonly toolName: string
}

/** A request or notification that is no tool call. */
export interface RequestMessage {
  readonly kind: 'request'
  /** Null for a notification, and for a request whose id is none. */
  readonly id: MessageId | null
  readonly method: string
}

export type ClientMessage =
  | CallMessage
  | MalformedMessage
  | { readonly kind: 'batch' }
  | RequestMessage
  | { readonly kind: 'cancel'; readonly key: IdKey }
  | { readonly kind: 'other' }

const OTHER: ClientMessage = { kind: 'other' }
const BATCH: ClientMessage = { kind: 'batch' }

/** One JSON-RPC object, or a flat batch of them; everything else is refused, because somebody may still find a call in it. */
export function clientMessage(scanned: Scanned): ClientMessage {
  if (!scanned.valid) return malformed(null, PARSE_ERROR, 'the line is not one JSON text in UTF-8')
  if (scanned.top === 'array') return BATCH
  if (scanned.top !== 'object') return malformed(null, INVALID_REQUEST, 'the message is not an object')
  const { method } = scanned
  const misleading = misleadingMember(scanned)
  if (misleading !== null) return misleading
  if (method.kind === 'none') return responseMessage(scanned)
  const name = method.text
  if (name === 'tools/call') return callMessage(scanned)
  const fault = name === null ? 'is not a short string' : methodFault(name)
  if (fault !== null) return malformed(idOf(scanned.id), INVALID_REQUEST, `method ${fault}`, scanned.name.text)
  if (name === 'notifications/cancelled') {
    const target = idOf(scanned.requestId)
    return target === null ? OTHER : { kind: 'cancel', key: target.key }
  }
  return { kind: 'request', id: scanned.id.kind === 'none' ? null : idOf(scanned.id), method: name ?? '' }
}

/** A request that rules name by its method, to be judged like a call with its `params` as arguments. */
export function governedMessage(request: RequestMessage, scanned: Scanned): CallMessage | MalformedMessage {
  const { id, method } = request
  if (scanned.id.kind !== 'none' && id === null)
    return malformed(null, INVALID_REQUEST, `id is not a short string or number but ${scanned.id.kind}`, method)
  const { kind, from, to } = scanned.params
  if (kind === 'none' || kind === 'null') return { kind: 'call', id, toolName: method, method, args: null }
  if (kind !== 'object') return malformed(id, INVALID_PARAMS, `params is not an object but ${kind}`, method)
  return { kind: 'call', id, toolName: method, method, args: { from, to } }
}

/** Its method resembles one that rules name; a lenient server may take it for that. */
export function variantMessage({ id, method }: RequestMessage): MalformedMessage {
  return malformed(id, INVALID_REQUEST, 'method is a variant of one that policy speaks of', method)
}

/** A member of the message or of its `params` that two readers could take for different ones. */
function misleadingMember({ ambiguous, veiled, id, name }: Scanned): MalformedMessage | null {
  if (ambiguous !== null) {
    const why = `the member ${JSON.stringify(ambiguous)} can be read in two ways: it is there twice or differs only in letter case`
    return malformed(fold(ambiguous) === 'id' ? null : idOf(id), INVALID_REQUEST, why, name.text)
  }
  if (veiled === null) return null
  const why =
    veiled === ''
      ? 'the name of a member is too long to be read'
      : `the name of the member ${JSON.stringify(veiled)} has characters that are not seen`
  return malformed(idOf(id), INVALID_REQUEST, why, name.text)
}

function methodFault(name: string): string | null {
  if (hasUnseen(name)) return 'has characters that are not seen'
  return fold(name).trim() === 'tools/call' ? 'is a variant of tools/call' : null
}

function responseMessage({ id, result, error, name }: Scanned): ClientMessage {
  if (result.kind !== 'none' || error.kind !== 'none') return OTHER
  return malformed(idOf(id), INVALID_REQUEST, 'the message has no method, result or error', name.text)
}

function callMessage(scanned: Scanned): ClientMessage {
  const id = scanned.id.kind === 'none' ? null : idOf(scanned.id)
  const toolName = scanned.name.text
  if (scanned.id.kind !== 'none' && id === null)
    return malformed(null, INVALID_REQUEST, `id is not a short string or number but ${scanned.id.kind}`, toolName)
  if (scanned.params.kind !== 'object')
    return malformed(id, INVALID_PARAMS, `params is not an object but ${scanned.params.kind}`, toolName)
  if (toolName === null) return malformed(id, INVALID_PARAMS, 'params.name is not a short string')
  if (hasUnseen(toolName))
    return malformed(id, INVALID_PARAMS, 'params.name has characters that are not seen', toolName)
  const { kind, from, to } = scanned.args
  if (kind === 'none' || kind === 'null') return { kind: 'call', id, toolName, args: null }
  if (kind !== 'object') return malformed(id, INVALID_PARAMS, `params.arguments is not an object but ${kind}`, toolName)
  return { kind: 'call', id, toolName, args: { from, to } }
}

function malformed(id: MessageId | null, code: number, why: string, toolName: string | null = null): MalformedMessage {
  return { kind: 'malformed', id, code, why, toolName: toolName ?? '' }
}
