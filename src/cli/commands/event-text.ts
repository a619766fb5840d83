// Calls and events as text: tables, TSV and CSV rows, one line for an event, and one call in full.
import { escapeControls } from '../../ids.ts'
import { CALLS_IN_FLIGHT_MAX } from '../../limits.ts'
import { callFacts, type IndexedCall, numberIn, objectIn, textIn } from '../../runs/index/call-facts.ts'
import type { EventObject } from '../../runs/index/entry-lines.ts'
import { fieldsOf } from '../../runs/index/event-fields.ts'
import { FOLLOWS, type NextCall } from '../../runs/index/next-calls.ts'

export const TSV_HEADER = [
  'ts',
  'run_id',
  'server',
  'tool',
  'decision',
  'status',
  'latency_ms',
  'bytes_in',
  'bytes_out',
  'call_id',
] as const

export function tsvRow(call: IndexedCall): string {
  const { ts, run_id, server_name, tool_name, decision, status, latency_ms, bytes_in, bytes_out, call_id } = call
  return [ts, run_id, server_name, tool_name, decision, status, latency_ms, bytes_in, bytes_out, call_id]
    .map((value) => escapeControls(String(value ?? '')))
    .join('\t')
}

export const TABLE_HEADER = ['TIME', 'AGENT', 'RUN', 'TOOL', 'DECISION', 'RULE', 'STATUS', 'MS', 'CALL'] as const

export function tableRow(call: IndexedCall): string[] {
  const watched = call.enforced === false && call.decision !== 'ALLOW' ? ' (watched)' : ''
  return [
    call.ts,
    call.agent_id,
    call.run_id,
    toolOf(call),
    call.decision === null ? null : `${call.decision}${watched}`,
    call.rule_id,
    call.status,
    call.latency_ms === null ? null : String(call.latency_ms),
    call.call_id,
  ].map((value) => escapeControls(value ?? '-'))
}

export function toolOf({ server_name, tool_name }: Pick<IndexedCall, 'server_name' | 'tool_name'>): string {
  return `${server_name ?? '?'}/${tool_name ?? '?'}`
}

/** New columns go to the end, for programs that read by position. */
export const CSV_COLUMNS = [
  'ts',
  'run_id',
  'agent_id',
  'server_name',
  'tool_name',
  'call_id',
  'seq',
  'decision',
  'rule_id',
  'reason_code',
  'severity',
  'enforced',
  'summary',
  'hint_text',
  'status',
  'latency_ms',
  'bytes_in',
  'bytes_out',
  'truncated',
  'args_hash',
  'args_preview',
  'result_preview',
  'error',
] as const satisfies readonly (keyof IndexedCall)[]

export function csvRow(values: readonly unknown[]): string {
  return values.map(csvCell).join(',')
}

/** A spreadsheet runs a cell that begins like this as a formula, also after spaces; an apostrophe makes it text. */
const FORMULA = /^[\s\u0000-\u001f]*[=+\-@\t\r|%＝＋－＠]/

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const raw = typeof value === 'string' ? value : JSON.stringify(value)
  // Line ends and tabs may be in a cell.
  const text = raw.replace(/[^\t\r\n]+/g, escapeControls)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Not escaped: the caller escapes control characters. */
export function eventLine(event: EventObject): string {
  const time = textIn(event, 'ts') ?? '-'
  const who = textIn(event, 'agent_id') ?? '-'
  return [time, textIn(event, 'run_id') ?? '-', who, whatOf(event)].join('  ')
}

function whatOf(event: EventObject): string {
  const type = textIn(event, 'type') ?? '?'
  const call = objectIn(event, 'call')
  const tool = call === undefined ? '' : `${textIn(call, 'server_name') ?? '?'}/${textIn(call, 'tool_name') ?? '?'}`
  switch (type) {
    case 'run_start': {
      const run = objectIn(event, 'run')
      return `run started, ${textIn(run, 'mode') ?? '?'}, policy ${textIn(objectIn(run, 'policy'), 'policy_id') ?? '?'}`
    }
    case 'run_end': {
      const run = objectIn(event, 'run')
      const summary = objectIn(run, 'summary')
      return `run ended, ${textIn(run, 'status') ?? '?'}, ${numberIn(summary, 'calls_total') ?? '?'} calls, ${numberIn(summary, 'calls_blocked') ?? '?'} blocked`
    }
    case 'tool_call_start':
      return [`${tool} called`, textIn(objectIn(call, 'preview'), 'args_preview')]
        .filter((part) => part !== null)
        .join(' ')
    case 'tool_call_decision':
      return `${tool} ${decisionOf(objectIn(event, 'decision'))}`
    case 'tool_call_end':
      return `${tool} ${endOf(event)}`
    default:
      return `${type}${tool === '' ? '' : ` ${tool}`} ${restOf(event)}`
  }
}

function decisionOf(decision: EventObject | undefined): string {
  const action = textIn(decision, 'action') ?? '?'
  if (action === 'ALLOW') return action
  const rule = textIn(decision, 'rule_id')
  const isWatched = decision?.['enforced'] === false
  return [
    `${action}${isWatched ? ' (watched)' : ''}`,
    rule === null ? null : `by ${rule}:`,
    textIn(objectIn(decision, 'explain'), 'summary'),
  ]
    .filter((part) => part !== null)
    .join(' ')
}

function endOf(event: EventObject): string {
  const latency = numberIn(event, 'latency_ms')
  const error = textIn(objectIn(event, 'error'), 'message')
  return [textIn(event, 'status') ?? '?', latency === null ? null : `in ${latency} ms`, error]
    .filter((part) => part !== null)
    .join(' ')
}

const ENVELOPE = new Set([
  'v',
  'type',
  'ts',
  'run_id',
  'agent_id',
  'client',
  'env',
  'source',
  'principal',
  'workload',
  'haid',
  'session_id',
  'call',
])

function restOf(event: EventObject): string {
  return JSON.stringify(Object.fromEntries(Object.entries(event).filter(([key]) => !ENVELOPE.has(key))))
}

/** One call in full; `after` adds its other events and the calls that followed. */
export function callText(
  call: IndexedCall,
  decision: EventObject | undefined,
  after?: { readonly events: readonly EventObject[]; readonly next: readonly NextCall[] },
): string {
  const hint = objectIn(decision, 'hint')
  const policy = objectIn(decision, 'policy')
  const backoff = decision?.['backoff_ms']
  const rows: (readonly [string, string | null])[] = [
    ['call', `${toolOf(call)}, ${call.call_id}`],
    ['run', `${call.run_id}, call ${call.seq ?? '?'}, at ${call.ts}`],
    ['agent', call.agent_id],
    ['arguments', call.args_preview ?? (call.truncated === true ? 'too large to show' : null)],
    [
      'decision',
      call.decision === null
        ? 'not recorded'
        : `${call.decision}${call.enforced === false ? ', not enforced: the call was forwarded' : ''}`,
    ],
    ['rule', call.rule_id ?? (call.decision === null ? null : 'none')],
    ['because', call.reason_code === null ? null : `${call.reason_code}: ${call.summary ?? ''}`],
    ...countersOf(decision).map((text) => ['counter', text] as const),
    ['wait', typeof backoff === 'number' ? `${backoff} ms` : null],
    ['hint', call.hint_text],
    [
      'suggested',
      hint?.['suggested_args'] === undefined || hint['suggested_args'] === null
        ? null
        : JSON.stringify(hint['suggested_args']),
    ],
    ['advice', textIn(hint, 'retry_advice')],
    ['ends run', textIn(objectIn(decision, 'terminate'), 'terminate_message')],
    [
      'policy',
      policy === undefined
        ? null
        : `${textIn(policy, 'policy_id') ?? '?'} ${textIn(policy, 'policy_version') ?? ''}, ${textIn(policy, 'policy_hash')?.slice(0, 12) ?? ''}`,
    ],
    ['outcome', outcomeOf(call)],
    ['result', call.result_preview],
    ...(after?.events ?? [])
      .filter(({ type }) => !String(type).startsWith('tool_call_') && type !== 'hint_issued')
      .map((event) => ['also', `${String(event['type'])} at ${textIn(event, 'ts') ?? '?'}`] as const),
    ...(after?.next ?? []).map((one) => ['next', nextText(one)] as const),
    ['next', after?.next.length === 0 ? 'no further call of this agent in the run' : null],
  ]
  return rows
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name.padEnd(9)}  ${escapeControls(value ?? '')}`)
    .join('\n')
}

function countersOf(decision: EventObject | undefined): string[] {
  const counters = decision?.['counters']
  if (!Array.isArray(counters)) return []
  return counters.map(
    (one: EventObject) =>
      `${String(one['counter'])} of ${String(one['rule_id'])}: ${String(one['before'])} before, ${String(one['after'])} after, limit ${String(one['limit'])}`,
  )
}

function outcomeOf({ status, latency_ms, error, bytes_out }: IndexedCall): string {
  if (status === null) return 'no end is recorded'
  const message = textIn(error ?? undefined, 'message')
  return `${status} after ${latency_ms ?? '?'} ms, ${bytes_out ?? '?'} bytes${message === null ? '' : `: ${message}`}`
}

function nextText(call: NextCall): string {
  const { ts, follows, decision, status, call_id } = call
  return `${ts}  ${FOLLOWS[follows]}${follows === 'other_tool' ? `, ${toolOf(call)}` : ''}: ${decision ?? '?'} ${status ?? ''}  ${call_id ?? ''}`
}

/** Rows of calls from their events: one for the decision, one for the end. */
export class CallRows {
  /** Events of calls that have not ended. */
  readonly #starts = new Map<string, { first?: EventObject; decision?: EventObject }>()

  take(event: EventObject): string | undefined {
    const { type, callId, runId, atMs, ...fields } = fieldsOf(event)
    if (callId === null || runId === null || !type.startsWith('tool_call_')) return undefined
    const key = `${runId} ${callId}`
    const known = this.#starts.get(key) ?? {}
    if (type === 'tool_call_end') this.#starts.delete(key)
    else this.#remember(key, type === 'tool_call_start' ? { ...known, first: event } : { ...known, decision: event })
    if (type === 'tool_call_start') return undefined
    const { first, decision } = type === 'tool_call_decision' ? { ...known, decision: event } : known
    const decided = decision === undefined ? fields : fieldsOf(decision)
    const entry = {
      id: 0,
      runId,
      origin: NO_ORIGIN,
      record: '',
      atMs: first === undefined ? atMs : fieldsOf(first).atMs,
      type,
      callId,
    }
    const places = { first: null, decided: null, ended: null }
    const names = { ...fields, decision: decided.decision, rule: decided.rule, reason: decided.reason }
    const end = type === 'tool_call_end' ? event : undefined
    const call = callFacts({ ...entry, ...names, ...places }, { first, decision, end })
    return tsvRow(call)
  }

  #remember(key: string, call: { first?: EventObject; decision?: EventObject }): void {
    const [oldest] = this.#starts.keys()
    if (this.#starts.size >= CALLS_IN_FLIGHT_MAX && oldest !== undefined) this.#starts.delete(oldest)
    this.#starts.set(key, call)
  }
}

const NO_ORIGIN = { haid: null, repoPath: null }
