// From the text of a message to a verdict: valid, or every reason why not, each naming its field.
import type { z } from 'zod'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { MESSAGE_BYTES_MAX } from '../limits.ts'
import { isObject } from '../plain-object.ts'
import { baseSchema, type Message, MESSAGE_TYPES, messageSchema } from './messages.ts'
import { parseStrict } from './strict-json.ts'

export type MessageVerdict =
  | { readonly valid: true; readonly errors: readonly []; readonly message: Message }
  | { readonly valid: false; readonly errors: readonly string[]; readonly message?: undefined }

/** What the seed's command prints. */
export const verdictLine = ({ valid, errors }: MessageVerdict): string => JSON.stringify({ valid, errors })

export function judgeText(bytes: Uint8Array): MessageVerdict {
  if (bytes.byteLength > MESSAGE_BYTES_MAX)
    return rejected(`message of more than ${MESSAGE_BYTES_MAX} bytes: refer to artifacts, do not inline them`)
  try {
    return judge(parseStrict(bytes))
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return rejected(error.code === 'JSON_MALFORMED' ? `unparseable JSON: ${error.message}` : error.message)
  }
}

export function judge(value: unknown): MessageVerdict {
  if (!isObject(value)) return rejected('a message must be a JSON object')
  // Own property or not, validators disagree on what to do with this key; nobody needs it.
  if (Object.hasOwn(value, '__proto__')) return rejected('field not allowed: __proto__')
  const result = messageSchema.safeParse(value)
  if (result.success) return { valid: true, errors: [], message: result.data }
  const { type } = value
  const isKnown = typeof type === 'string' && MESSAGE_TYPES.includes(type)
  if (isKnown) return rejected(...result.error.issues.map((issue) => explain(issue, value, type)))
  const base = baseSchema.safeParse(value).error?.issues ?? []
  return rejected(
    type === undefined ? 'missing required field: type' : `type not in enum: ${shown(type)}`,
    ...base.map((issue) => explain(issue, value, undefined)),
  )
}

function rejected(...errors: string[]): MessageVerdict {
  return { valid: false, errors }
}

const BASE_FIELDS: readonly PropertyKey[] = ['from', 'msg_id', 'reply_to', 'ts']

/** The seed's wording where it has one: `task_result: status not in enum [pass,fail,partial]: banana`. */
function explain(
  issue: z.core.$ZodIssue,
  message: Readonly<Record<string, unknown>>,
  type: string | undefined,
): string {
  const [field = ''] = issue.path
  const where = type === undefined || BASE_FIELDS.includes(field) ? '' : `${type}: `
  const path = issue.path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${shownKey(key)}`))
    .join('')
  const value = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], message)
  if (value === undefined) return `${where}missing required field: ${path}`
  if (issue.code === 'invalid_value')
    return `${where}${path} not in enum [${issue.values.map(String).join(',')}]: ${shown(value)}`
  if (value === '' || (where === '' && type !== undefined && typeof value !== 'string'))
    return `${where}${path} must be a non-empty string`
  if (issue.code === 'invalid_type') return `${where}${path} must be ${article(issue.expected)}, got ${shown(value)}`
  if (issue.code === 'too_big') return `${where}${path} has more than ${issue.maximum} entries`
  return `${where}${path} is too long or holds control characters`
}

const article = (type: string): string =>
  type === 'int' ? 'an integer' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`

const shown = (value: unknown): string =>
  typeof value === 'string' ? printable(value).slice(1, -1) : printable(JSON.stringify(value)).slice(1, -1)

const shownKey = (key: PropertyKey): string => printable(String(key)).slice(1, -1)
