// What the index takes from an event. A record can hold anything, also what a newer version wrote: each field is taken if it is what it should be.
import { PACK_VERSION } from '../../events/types.ts'
import { INDEX_NAME_CHARS_MAX, INDEX_TEXT_CHARS_MAX } from '../../limits.ts'

export interface EventFields {
  readonly type: string
  /** Not a number where the event has no time that can be read. */
  readonly atMs: number
  readonly runId: string | null
  readonly agent: string | null
  readonly callId: string | null
  readonly server: string | null
  readonly tool: string | null
  readonly decision: string | null
  readonly rule: string | null
  readonly reason: string | null
  readonly status: string | null
  readonly latencyMs: number | null
  /** What can be searched for by its words. */
  readonly text: string
  /** Of a later major version than this program knows. */
  readonly isNewer: boolean
}

type Fields = Readonly<Record<string, unknown>>

const NONE: Fields = {}
const OWN_MAJOR = Number.parseInt(PACK_VERSION, 10)

export function fieldsOf(event: object): EventFields {
  const { type, ts, run_id, agent_id, call, decision, status, latency_ms, v, run, breaker } = event as Fields
  const ofCall = fields(call)
  const ofDecision = fields(decision)
  const { reason_code } = fields(ofDecision['explain'])
  return {
    type: String(type),
    atMs: typeof ts === 'string' ? Date.parse(ts) : Number.NaN,
    runId: name(run_id),
    agent: name(agent_id),
    callId: name(ofCall['call_id']),
    server: name(ofCall['server_name']),
    tool: name(ofCall['tool_name']),
    decision: name(ofDecision['action']),
    rule: name(ofDecision['rule_id']) ?? name(fields(breaker)['rule_id']),
    reason: name(reason_code),
    status: name(status) ?? name(fields(run)['status']),
    latencyMs: typeof latency_ms === 'number' && Number.isSafeInteger(latency_ms) ? latency_ms : null,
    text: textOf(event as Fields),
    isNewer: typeof v === 'string' && Number.parseInt(v, 10) > OWN_MAJOR,
  }
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : NONE
}

function name(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, INDEX_NAME_CHARS_MAX) : null
}

function textOf(event: Fields): string {
  switch (event['type']) {
    case 'tool_call_start':
      return searchable(fields(fields(event['call'])['preview'])['args_preview'])
    case 'tool_call_decision':
      return decisionText(fields(event['decision']))
    case 'tool_call_end':
      return searchable(fields(event['preview'])['result_preview'], fields(event['error'])['message'])
    default:
      return otherText(event)
  }
}

/** That a call was allowed is said in the same words of every call. */
function decisionText(decision: Fields): string {
  if (decision['action'] === 'ALLOW') return ''
  const { summary } = fields(decision['explain'])
  const { hint_text, retry_advice, suggested_args } = fields(decision['hint'])
  const suggested = typeof suggested_args === 'object' && suggested_args !== null ? JSON.stringify(suggested_args) : ''
  return searchable(summary, hint_text, retry_advice, suggested, fields(decision['terminate'])['terminate_message'])
}

const ENVELOPE = new Set(['v', 'type', 'ts', 'run_id', 'agent_id', 'client', 'env', 'source', 'workload'])

function otherText(event: Fields): string {
  const own = Object.entries(event).filter(([key]) => !ENVELOPE.has(key))
  return own.length === 0 ? '' : searchable(JSON.stringify(Object.fromEntries(own)))
}

function searchable(...parts: readonly unknown[]): string {
  let text = ''
  for (const part of parts) if (typeof part === 'string' && part !== '') text += text === '' ? part : `\n${part}`
  if (text.length > INDEX_TEXT_CHARS_MAX) text = text.slice(0, INDEX_TEXT_CHARS_MAX)
  return text.includes('\\') ? text.replaceAll(ESCAPE, unescape) : text
}

/** Previews are JSON text: `\n` in them would become part of the word behind it. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/gs

function unescape(_escape: string, code: string | undefined): string {
  return code === undefined ? ' ' : String.fromCharCode(Number.parseInt(code, 16))
}
