// All that the record says of one call, in one flat object; null for what it does not say.
import { isObject } from '../../plain-object.ts'
import type { EntryEvents, EventObject } from './entry-lines.ts'
import type { IndexEntry } from './search.ts'

export interface IndexedCall {
  readonly ts: string
  readonly run_id: string
  readonly agent_id: string | null
  readonly server_name: string | null
  readonly tool_name: string | null
  readonly call_id: string | null
  readonly seq: number | null
  readonly args_hash: string | null
  readonly decision: string | null
  readonly rule_id: string | null
  readonly reason_code: string | null
  readonly severity: string | null
  /** False where the policy only watches: the decision is what would have been done. */
  readonly enforced: boolean | null
  readonly summary: string | null
  readonly hint_text: string | null
  readonly status: string | null
  readonly latency_ms: number | null
  readonly bytes_in: number | null
  readonly bytes_out: number | null
  readonly truncated: boolean | null
  readonly args_preview: string | null
  readonly result_preview: string | null
  readonly error: EventObject | null
}

export function callFacts(entry: IndexEntry, { first, decision, end }: EntryEvents): IndexedCall {
  const call = objectIn(first, 'call') ?? objectIn(decision, 'call') ?? objectIn(end, 'call')
  const decided = objectIn(decision, 'decision')
  const before = objectIn(objectIn(first, 'call'), 'preview')
  const after = objectIn(end, 'preview')
  return {
    ts: new Date(entry.atMs).toISOString(),
    run_id: entry.runId,
    agent_id: entry.agent,
    server_name: entry.server,
    tool_name: entry.tool,
    call_id: entry.callId,
    seq: numberIn(call, 'seq'),
    args_hash: textIn(call, 'args_hash'),
    decision: entry.decision,
    rule_id: entry.rule,
    reason_code: entry.reason,
    severity: textIn(decided, 'severity'),
    enforced: decided === undefined ? null : decided['enforced'] !== false,
    summary: textIn(objectIn(decided, 'explain'), 'summary'),
    hint_text: textIn(objectIn(decided, 'hint'), 'hint_text'),
    status: entry.status,
    latency_ms: entry.latencyMs,
    bytes_in: numberIn(call, 'bytes_in'),
    bytes_out: numberIn(end, 'bytes_out'),
    truncated: before === undefined && after === undefined ? null : isTrue(before) || isTrue(after),
    args_preview: textIn(before, 'args_preview'),
    result_preview: textIn(after, 'result_preview'),
    error: objectIn(end, 'error') ?? null,
  }
}

const isTrue = (preview: EventObject | undefined): boolean => preview?.['truncated'] === true

export function objectIn(object: EventObject | undefined, key: string): EventObject | undefined {
  const value = object?.[key]
  return isObject(value) ? value : undefined
}

export function textIn(object: EventObject | undefined, key: string): string | null {
  const value = object?.[key]
  return typeof value === 'string' ? value : null
}

export function numberIn(object: EventObject | undefined, key: string): number | null {
  const value = object?.[key]
  return typeof value === 'number' ? value : null
}
