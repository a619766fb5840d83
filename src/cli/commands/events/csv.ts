// Calls as comma-separated values (RFC 4180) that a spreadsheet can open, and a terminal show, without doing what they say.
import { escapeControls } from '../../../ids.ts'
import type { IndexedCall } from '../../../runs/index/call-facts.ts'

/** New ones go to the end: whoever reads by position goes on reading. */
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

/** A cell that begins like this is a formula to a spreadsheet, also behind spaces; an apostrophe makes it text. */
const FORMULA = /^[\s\u0000-\u001f]*[=+\-@\t\r|%＝＋－＠]/

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const raw = typeof value === 'string' ? value : JSON.stringify(value)
  // Lines and tabs are a cell's own.
  const text = raw.replace(/[^\t\r\n]+/g, escapeControls)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
