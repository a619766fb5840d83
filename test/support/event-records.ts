// Records of runs made by hand, and what stands in them read in the plainest way: the oracle of the run index.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from './shim-client.ts'

export interface CallOptions {
  readonly callId: string
  readonly server?: string
  readonly tool?: string
  readonly action?: string
  readonly rule?: string | null
  readonly reason?: string
  readonly status?: string
  readonly agent?: string
  readonly atMs?: number
  readonly args?: string
  readonly result?: string
  readonly hint?: string
}

export const BASE_MS = Date.UTC(2026, 9, 1)

export function envelope(type: string, run: string, atMs = 0, agent = 'amber-otter'): Json {
  return {
    v: '0.2.0',
    type,
    ts: new Date(BASE_MS + atMs).toISOString(),
    run_id: run,
    agent_id: agent,
    client: 'custom',
    env: 'dev',
    source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
  }
}

export function runStart(run: string, atMs = 0): Json {
  return {
    ...envelope('run_start', run, atMs),
    run: { started_at: new Date(BASE_MS + atMs).toISOString(), mode: 'guardrails', policy: POLICY, segment: 1 },
  }
}

const POLICY = { policy_id: 'p', policy_version: '1', policy_hash: 'f'.repeat(64) }

const numbers = new Map<string, number>()

function nextNumber(run: string): number {
  const number = (numbers.get(run) ?? 0) + 1
  numbers.set(run, number)
  return number
}

/** The three events of a call (seed 004 §1.5 to §1.7). */
export function callEvents(run: string, options: CallOptions): [Json, Json, Json] {
  const { callId, server = 'fake', tool = 'echo', action = 'ALLOW', rule = null, agent, atMs = 0 } = options
  const { reason = 'DEFAULT_ALLOW', status = 'OK', args = '{}', result = '{}', hint } = options
  const call = { call_id: callId, server_name: server, tool_name: tool, args_hash: 'a'.repeat(64) }
  return [
    {
      ...envelope('tool_call_start', run, atMs, agent),
      call: {
        ...call,
        transport: 'mcp_stdio',
        bytes_in: 10,
        preview: { truncated: false, args_preview: args },
        seq: nextNumber(run),
      },
    },
    {
      ...envelope('tool_call_decision', run, atMs, agent),
      call,
      decision: {
        action,
        rule_id: rule,
        severity: 'info',
        explain: { summary: `because of ${rule}`, reason_code: reason },
        policy: POLICY,
        ...(hint === undefined
          ? {}
          : { hint: { hint_text: hint, suggested_args: null, retry_advice: null, hint_kind: 'OTHER' } }),
      },
    },
    {
      ...envelope('tool_call_end', run, atMs + 3, agent),
      call,
      status,
      latency_ms: 3,
      bytes_out: 20,
      preview: { truncated: false, result_preview: result },
    },
  ]
}

export const linesOf = (events: readonly unknown[]): string =>
  events.map((event) => `${JSON.stringify(event)}\n`).join('')

/** Returns the path of the record. */
export function writeRecord(runsDir: string, run: string, events: readonly unknown[]): string {
  mkdirSync(join(runsDir, run), { recursive: true, mode: 0o700 })
  const path = join(runsDir, run, 'events.jsonl')
  writeFileSync(path, linesOf(events))
  return path
}

export interface PlainCall {
  readonly run: string
  readonly callId: string
  server?: string
  tool?: string
  action?: string
  rule?: string | null
  reason?: string
  status?: string
}

/** The calls of a record, by reading all of it. */
export function callsIn(path: string): PlainCall[] {
  const calls = new Map<string, PlainCall>()
  for (const event of eventsIn(path)) {
    if (!/^tool_call_(start|decision|end)$/.test(event['type'] as string) || event['call'] === undefined) continue
    const { call_id: callId, server_name: server, tool_name: tool } = event['call'] as Json
    const call = calls.get(callId as string) ?? { run: event['run_id'] as string, callId: callId as string }
    Object.assign(call, { server, tool })
    if (event['type'] === 'tool_call_decision')
      Object.assign(call, {
        action: event['decision'].action,
        rule: event['decision'].rule_id,
        reason: event['decision'].explain.reason_code,
      })
    if (event['type'] === 'tool_call_end') call.status = event['status'] as string
    calls.set(callId as string, call)
  }
  return [...calls.values()]
}

/** Whole lines that are events. */
export function eventsIn(path: string): Json[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        const event = JSON.parse(line) as Json | null
        return typeof event?.['type'] === 'string' ? [event] : []
      } catch {
        return []
      }
    })
}
