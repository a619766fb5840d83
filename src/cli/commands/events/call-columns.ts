// A call as a row: for people, and tab-separated in the columns that programs of the field know.
import { escapeControls } from '../../../ids.ts'
import type { IndexedCall } from '../../../runs/index/call-facts.ts'

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
