// What a message from the client is, told from its scan: a call to be judged, something to pass on, or something nobody should trust.
import { type IdKey, idOf, type MessageId } from './message-id.ts'
import { fold } from './message-scan.ts'
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
  /** Bytes of the `arguments` object, counted from the start of the message; null where there are none. */
  readonly args: { readonly from: number; readonly to: number } | null
}

/** A message that upstreams may read in more than one way, or not at all: it is never passed on uninspected. */
export interface MalformedMessage {
  readonly kind: 'malformed'
  readonly id: MessageId | null
  readonly code: number
  readonly why: string
  /** It is, or may be taken for, a tool call; what it calls, as far as that can be told. */
  readonly call: { readonly toolName: string } | null
}

export type ClientMessage =
  | CallMessage
  | MalformedMessage
  | { readonly kind: 'batch' }
  | { readonly kind: 'request'; readonly key: IdKey }
  | { readonly kind: 'cancel'; readonly key: IdKey }
  | { readonly kind: 'other' }

const OTHER: ClientMessage = { kind: 'other' }
const BATCH: ClientMessage = { kind: 'batch' }

export function clientMessage(scanned: Scanned, isUtf8: boolean): ClientMessage {
  if (!scanned.valid || !isUtf8) return malformed(null, PARSE_ERROR, 'the line is not one JSON text in UTF-8', null)
  if (scanned.top === 'array') return BATCH
  if (scanned.top !== 'object') return malformed(null, INVALID_REQUEST, 'the message is not an object', null)
  const toolName = scanned.name.text ?? ''
  if (scanned.ambiguous !== null) {
    const id = fold(scanned.ambiguous) === 'id' ? null : idOf(scanned.id)
    const why = `the member ${JSON.stringify(scanned.ambiguous)} can be read in two ways: it is there twice or differs only in letter case`
    return malformed(id, INVALID_REQUEST, why, { toolName })
  }
  const { method } = scanned
  if (method.kind === 'none') return OTHER
  const name = method.text
  if (name === null) return malformed(idOf(scanned.id), INVALID_REQUEST, 'method is not a short string', { toolName })
  if (name === 'tools/call') return callMessage(scanned)
  if (fold(name).trim() === 'tools/call')
    return malformed(idOf(scanned.id), INVALID_REQUEST, 'method is a variant of tools/call', { toolName })
  if (name === 'notifications/cancelled') {
    const target = idOf(scanned.requestId)
    return target === null ? OTHER : { kind: 'cancel', key: target.key }
  }
  const id = scanned.id.kind === 'none' ? null : idOf(scanned.id)
  return id === null ? OTHER : { kind: 'request', key: id.key }
}

function callMessage(scanned: Scanned): ClientMessage {
  const id = scanned.id.kind === 'none' ? null : idOf(scanned.id)
  const toolName = scanned.name.text
  const call = { toolName: toolName ?? '' }
  if (scanned.id.kind !== 'none' && id === null)
    return malformed(null, INVALID_REQUEST, `id is not a short string or number but ${scanned.id.kind}`, call)
  if (scanned.params.kind !== 'object')
    return malformed(id, INVALID_PARAMS, `params is not an object but ${scanned.params.kind}`, call)
  if (toolName === null) return malformed(id, INVALID_PARAMS, 'params.name is not a short string', call)
  const { kind, from, to } = scanned.args
  if (kind === 'none' || kind === 'null') return { kind: 'call', id, toolName, args: null }
  if (kind !== 'object') return malformed(id, INVALID_PARAMS, `params.arguments is not an object but ${kind}`, call)
  return { kind: 'call', id, toolName, args: { from, to } }
}

function malformed(
  id: MessageId | null,
  code: number,
  why: string,
  call: { readonly toolName: string } | null,
): MalformedMessage {
  return { kind: 'malformed', id, code, why, call }
}

/** Where the elements of a JSON array are; `bytes` must have been scanned as valid. */
export function elementsOf(bytes: Buffer): readonly { readonly from: number; readonly to: number }[] {
  const elements: { from: number; to: number }[] = []
  let depth = 0
  let from = -1
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number
    if (byte === 0x22) {
      if (from < 0) from = i
      i = endOfString(bytes, i)
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth === 2 && from < 0) from = i
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
    else if (byte > 0x20 && byte !== 0x2c && depth === 1 && from < 0) from = i
    const isEnd = (byte === 0x2c && depth === 1) || depth === 0
    if (isEnd && from >= 0) {
      elements.push({ from, to: i })
      from = -1
    }
  }
  return elements
}

/** Index of the quote that ends the string which begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  let i = start + 1
  while (bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1
  return i
}
