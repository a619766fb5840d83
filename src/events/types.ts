// The words of the event stream (seed 004, contract A), as they stand on the wire.

/** Seed 004 is 0.1.0; what we add to it (enforced, events_lost, nested secret metadata) is a minor step. */
export const PACK_VERSION = '0.2.0'

export const CLIENTS = ['claude', 'codex', 'headless', 'custom', 'unknown'] as const
export const ENVIRONMENTS = ['dev', 'ci', 'prod', 'unknown'] as const
export const TRANSPORTS = ['mcp_stdio', 'mcp_http', 'http', 'unknown'] as const
export const EVENT_TYPES = [
  'run_start',
  'tool_call_start',
  'tool_call_decision',
  'tool_call_end',
  'run_end',
  'hint_issued',
  'policy_loaded',
  'secret_injection',
  'secret_exposed',
  'shim_health',
  'shim_log',
  'breaker_trip',
  'approval_requested',
  'approval_decided',
] as const

export type EventType = (typeof EVENT_TYPES)[number]
export type CallStatus = 'OK' | 'ERROR' | 'TIMEOUT' | 'CANCELLED'
export type RunStatus = 'SUCCEEDED' | 'FAILED' | 'TERMINATED' | 'CANCELLED'
export type ErrorClass = 'upstream_error' | 'policy_block' | 'timeout' | 'transport' | 'unknown'
export type Transport = (typeof TRANSPORTS)[number]

export interface Workload {
  readonly user?: string
  readonly repo_path?: string
  readonly ci_provider?: string
  readonly job_id?: string
  readonly repo?: string
  readonly branch?: string
  readonly namespace?: string
  readonly service_account?: string
  readonly pod?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** What every event says about its producer (§1.3). */
export interface RunIdentity {
  readonly run_id: string
  readonly agent_id: string
  readonly client: (typeof CLIENTS)[number]
  readonly env: (typeof ENVIRONMENTS)[number]
  readonly source: { readonly host_id: string; readonly proc_id: string; readonly shim_id: string }
  readonly principal?: string
  readonly workload?: Workload
  /** The agent's name in coordination, and the session that it runs in: joins this record with both. Additions of pack 0.2.0. */
  readonly haid?: string
  readonly session_id?: string
}

export interface PolicyRef {
  readonly policy_id: string
  readonly policy_version: string
  readonly policy_hash: string
}

export interface RunStart {
  readonly started_at: string
  readonly mode: 'observe' | 'guardrails' | 'control'
  readonly policy: PolicyRef
  /** A run that was closed and is joined again goes on as its next segment; the first is 1. */
  readonly segment?: number
  readonly meta?: Readonly<Record<string, unknown>>
}

export interface RunSummary {
  readonly calls_total: number
  readonly calls_allowed: number
  readonly calls_blocked: number
  readonly calls_throttled: number
  readonly errors_total: number
  readonly duration_ms: number
  /** Events that could not be written; absent when there are none. */
  readonly events_lost?: number
}

export interface CallError {
  readonly class: ErrorClass
  readonly message: string
  readonly code?: number | string
  readonly retryable?: boolean
}
