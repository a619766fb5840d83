// What the headers of a request claim of its body. Whoever routes by headers and whoever reads the body must see the same call.
import type { Received } from '../call/client-judge.ts'
import { INVALID_REQUEST } from '../messages/client-message.ts'
import { type RawHeaders, valuesOf } from './headers.ts'

/** MCP 2026-07-28: headers and body do not match. */
export const HEADER_MISMATCH = -32_020

/** Said once, or nobody knows which counts. */
const ONCE = ['content-type', 'content-encoding', 'mcp-method', 'mcp-name', 'mcp-session-id', 'mcp-protocol-version']

/** The member of `params` that `Mcp-Name` repeats, by method. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

type Body = Pick<Received, 'scanned' | 'whole'>

export function faultOf(raw: RawHeaders, body: Body): Received['fault'] {
  const twice = ONCE.find((name) => valuesOf(raw, name).length > 1)
  if (twice !== undefined) return { code: INVALID_REQUEST, why: `the header ${twice} is there twice` }
  const why = encodingFault(raw)
  if (why !== null) return { code: INVALID_REQUEST, why }
  const mismatch = mismatchOf(raw, body)
  return mismatch === null ? undefined : { code: HEADER_MISMATCH, why: mismatch }
}

/** A body that is to be read in another way than as UTF-8 is another body. */
function encodingFault(raw: RawHeaders): string | null {
  const [type = ''] = valuesOf(raw, 'content-type')
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  if (media !== 'application/json') return 'the body is not said to be application/json'
  const charset = parameters.find((parameter) => parameter.startsWith('charset'))
  if (charset !== undefined && !/^charset\s*=\s*"?utf-?8"?$/.test(charset))
    return 'the body is said to be in another character set than UTF-8'
  const [encoding = 'identity'] = valuesOf(raw, 'content-encoding')
  return encoding.trim().toLowerCase() === 'identity' ? null : 'the body is compressed'
}

function mismatchOf(raw: RawHeaders, { scanned, whole }: Body): string | null {
  const method = scanned.top === 'object' ? scanned.method.text : null
  const [claimedMethod] = valuesOf(raw, 'mcp-method')
  if (claimedMethod !== undefined && claimedMethod.trim() !== method)
    return 'the header Mcp-Method names another method than the body'
  const [claimedName] = valuesOf(raw, 'mcp-name')
  const member = NAMED_BY.get(method ?? '')
  if (claimedName === undefined || member === undefined) return null
  const name = member === 'name' ? scanned.name.text : memberOf(member, { scanned, whole })
  return decoded(claimedName.trim()) === name ? null : `the header Mcp-Name says something else than params.${member}`
}

function memberOf(member: string, { scanned, whole }: Body): string | null {
  const { kind, from, to } = scanned.params
  if (whole === null || kind !== 'object' || !scanned.valid) return null
  const params = JSON.parse(whole.buffer.toString('utf8', whole.from + from, whole.from + to)) as Record<
    string,
    unknown
  >
  const value = params[member]
  return typeof value === 'string' ? value : null
}

/** Values that are no plain ASCII stand in base64; what is not canonical there stands for nothing. */
function decoded(value: string): string | undefined {
  const inner = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (inner === undefined) return value
  const bytes = Buffer.from(inner, 'base64')
  return bytes.toString('base64') === inner && Buffer.from(bytes.toString()).equals(bytes)
    ? bytes.toString()
    : undefined
}
