// The words of the event stream (seed 004, contract A), as they stand on the wire.
import type { TokenCounts } from '../token-counts.ts'

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
  'approval_withdrawn',
  'budget_raised',
  'tool_call_settled',
  'run_joined',
  'run_left',
  'wait_start',
  'wait_end',
  'files_changed',
  'session_end',
  'tools_pinned',
  'tools_changed',
  'tools_approved',
  'model_usage',
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

/** An agent that waits for a person; who says so, and what was seen. */
export interface WaitStart {
  readonly wait_id: string
  readonly started_at: string
  /** `hook`, `osc`, `screen` and whoever else can tell. */
  readonly source: string
  readonly evidence: string | null
}

export interface WaitEnd extends WaitStart {
  readonly ended_at: string
  readonly waited_ms: number
  /** How it came to its end, in the words of whoever saw it. */
  readonly answer: string
  /** Who has answered, where that is known: the person of a question of policy, or whoever typed, as processes show it. */
  readonly answered_by: string | null
  /** Who had the session ended that waited, as its record says it; absent where nobody did. */
  readonly ended_by?: string
}

/** What is other in the worktree than it was at the start, as git sees it: by whoever worked there meanwhile. */
export interface FilesChanged {
  readonly commit_before: string | null
  readonly commit_after: string | null
  readonly commits: number | null
  /** The first of them, and how many there are. */
  readonly files: readonly string[]
  readonly total: number
}

export interface SessionEnd {
  readonly exit_code: number | null
  readonly signal: number | null
  /** `exit`, `kill`, `lost`, or `unknown` where no record of it is left. */
  readonly reason: string
  readonly ended_by: string | null
  /** What clients have done to it: `kill`, `rename`, `secrets`; by whom, as processes show it. */
  readonly acts: readonly { readonly at: string; readonly act: string; readonly by: string; readonly what: string }[]
  readonly waits: number
  readonly waited_ms: number
}

/** What a run has cost so far. */
export interface UsageTotal {
  readonly messages: number
  readonly tokens: TokenCounts
  /** Of the models that have a price. */
  readonly usd: number
  /** Models without a price, whose tokens are in no dollar. */
  readonly unpriced: readonly string[]
  /** Lines of transcripts that should have told something and could not be understood. */
  readonly unread: number
  /** Date of the table of prices. */
  readonly prices: string
}

/** One message of a model, booked once; what was found to be other later is booked as the difference. */
export interface ModelUsage {
  /** The host counted: nobody has estimated. */
  readonly source: 'runtime'
  readonly host: string
  readonly host_version: string | null
  /** The host's id of its session; a subagent's is its parent's. */
  readonly host_session: string | null
  readonly is_subagent: boolean
  readonly message_id: string
  readonly model: string | null
  /** When the host wrote it. */
  readonly said_at: string | null
  readonly tokens: TokenCounts
  /** Null where the model has no price. */
  readonly usd: number | null
  readonly is_correction: boolean
  /** Of the run, with this. */
  readonly total: UsageTotal
}

export interface CallError {
  readonly class: ErrorClass
  readonly message: string
  readonly code?: number | string
  readonly retryable?: boolean
}
