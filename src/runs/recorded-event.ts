// Lines of a record as events: any process of the user can append to a record, so nothing is taken for granted.
import { isObject } from '../plain-object.ts'

/** A line that parses; its members are unchecked. */
export interface RecordedEvent {
  readonly [field: string]: unknown
  readonly type?: unknown
  readonly ts?: unknown
  readonly call?: { readonly seq?: unknown; readonly call_id?: unknown; readonly args_hash?: unknown }
  readonly decision?: Readonly<Record<string, unknown>>
  readonly status?: unknown
  readonly run?: Readonly<Record<string, unknown>>
}

/** One that says what it is: all that readers are given. */
export type TypedEvent = RecordedEvent & { readonly type: string }

/** One line of a record as an event; undefined when it is torn, foreign, or lacks what its type must have. */
export function parseEvent(text: string): RecordedEvent | undefined {
  const event = parseObject(text) as RecordedEvent | undefined
  return event === undefined || isWhole(event) ? event : undefined
}

const OF_CALLS: ReadonlySet<unknown> = new Set(['tool_call_start', 'tool_call_decision', 'tool_call_end'])

/** An event of a call without a call id is invalid, and so is a start of a run without a time. */
function isWhole({ type, ts, call }: RecordedEvent): boolean {
  if (type === 'run_start') return typeof ts === 'string' && !Number.isNaN(Date.parse(ts))
  return !OF_CALLS.has(type) || (isObject(call) && typeof call.call_id === 'string')
}

export function parseObject(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as object
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
