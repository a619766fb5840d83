// Builds events (seed 004, contract A) as plain objects and puts them into the queue of the record.
import { type EventBody, EventLines } from './event-lines.ts'
import { jsonValue } from './json-text.ts'
import { type Preview, previewOf } from './preview.ts'
import { redactValue } from './redact.ts'
import type {
  CallError,
  CallStatus,
  EventType,
  FilesChanged,
  ModelUsage,
  PolicyRef,
  RunIdentity,
  RunStart,
  RunStatus,
  RunSummary,
  SessionEnd,
  Transport,
  WaitEnd,
  WaitStart,
} from './types.ts'

export interface CallNames {
  readonly call_id: string
  readonly server_name: string
  readonly tool_name: string
  readonly args_hash: string
}

export interface DecisionFields {
  readonly action: 'ALLOW' | 'BLOCK' | 'THROTTLE' | 'REJECT_WITH_HINT' | 'TERMINATE_RUN'
  readonly rule_id: string | null
  readonly severity: 'info' | 'warn' | 'critical'
  readonly reason_code: string
  readonly summary: string
  readonly enforced: boolean
  readonly backoff_ms?: number
  readonly hint?: unknown
  readonly terminate?: unknown
}

/** What accumulators had counted before a call and after it. */
export interface CounterReadings {
  readonly count: number
  counted(at: number): { readonly rule_id: string; readonly counter: string; readonly limit: number }
  before(at: number): number
  after(at: number): number
}

/** Puts events into `lines` in the order of the calls. */
export class EventText {
  readonly lines: EventLines
  readonly identity: RunIdentity
  #envelope: string
  readonly #wallMs: () => number
  #ms = Number.NaN
  #ts = ''

  constructor(identity: RunIdentity, wallMs: () => number, lines = new EventLines()) {
    this.lines = lines
    this.identity = identity
    this.#envelope = envelopeOf(identity)
    this.#wallMs = wallMs
  }

  /** Sets the client in later events, once its handshake has named it. */
  nameClient(client: RunIdentity['client']): void {
    this.#envelope = envelopeOf({ ...this.identity, client })
  }

  #put(type: EventType, fields: EventBody): void {
    const nowMs = Math.floor(this.#wallMs())
    if (nowMs !== this.#ms) {
      this.#ms = nowMs
      this.#ts = new Date(nowMs).toISOString()
    }
    this.lines.put({ type, ts: this.#ts, envelope: this.#envelope, fields })
  }

  runStart(run: RunStart): void {
    this.#put('run_start', { run })
  }

  runEnd(status: RunStatus, endedAt: string, segment: number, summary: RunSummary): void {
    this.#put('run_end', { run: { ended_at: endedAt, status, segment, summary } })
  }

  callStart(
    names: CallNames,
    call: {
      readonly transport: Transport
      readonly bytesIn: number
      /** For a request that is not a tool call. */
      readonly method?: string | undefined
      readonly tags: readonly string[]
      readonly argsStreamHash?: string | undefined
    },
    preview: Preview,
  ): void {
    const { call_id, server_name, tool_name, args_hash } = names
    this.#put('tool_call_start', {
      call: {
        call_id,
        server_name,
        tool_name,
        args_hash,
        transport: call.transport,
        bytes_in: call.bytesIn,
        method: call.method,
        tags: call.tags.length === 0 ? undefined : call.tags,
        args_stream_hash: call.argsStreamHash,
        preview: previewOf(preview),
        seq: 0,
      },
    })
  }

  decision(names: CallNames, decision: DecisionEvent, counters?: CounterReadings): void {
    const hasCounters = counters !== undefined && counters.count > 0
    this.#put('tool_call_decision', {
      call: names,
      decision: hasCounters ? { ...decision, counters: countersOf(counters) } : decision,
    })
  }

  callEnd(
    names: CallNames,
    end: {
      readonly status: CallStatus
      readonly latencyMs: number
      readonly bytesOut: number
      readonly error?: CallError | undefined
      readonly resultStreamHash?: string | undefined
    },
    preview: Preview,
  ): void {
    this.#put('tool_call_end', {
      call: names,
      status: end.status,
      latency_ms: end.latencyMs,
      bytes_out: end.bytesOut,
      result_stream_hash: end.resultStreamHash,
      error: end.error,
      preview: previewOf(preview),
    })
  }

  hintIssued(callId: string, hint: unknown): void {
    this.#put('hint_issued', { call: { call_id: callId }, hint })
  }

  breakerTrip(names: CallNames, ruleId: string): void {
    this.#put('breaker_trip', { call: names, breaker: { rule_id: ruleId } })
  }

  /** A human is asked about a call; once per question, however often the call is repeated. */
  approvalRequested(
    names: CallNames,
    approval: {
      readonly id: string
      readonly rule_id: string
      /** Hash of the rule: an answer is valid for this version of it only. */
      readonly rule_hash: string
      readonly question: string
      readonly wait_ms: number
    },
  ): void {
    this.#put('approval_requested', { call: names, approval })
  }

  approvalDecided(approval: Readonly<Record<string, unknown>>): void {
    this.#put('approval_decided', { approval })
  }

  /** The only call that asked was cancelled. */
  approvalWithdrawn(approval: { readonly id: string; readonly rule_id: string }): void {
    this.#put('approval_withdrawn', { approval })
  }

  waitStart(wait: WaitStart): void {
    this.#put('wait_start', { wait })
  }

  waitEnd(wait: WaitEnd): void {
    this.#put('wait_end', { wait })
  }

  filesChanged(changes: FilesChanged): void {
    this.#put('files_changed', { changes })
  }

  sessionEnd(session: SessionEnd): void {
    this.#put('session_end', { session })
  }

  modelUsage(usage: ModelUsage): void {
    this.#put('model_usage', { usage })
  }

  /** Tools of a server are new, have changed, or were approved by a human. */
  toolPins(type: 'tools_pinned' | 'tools_changed' | 'tools_approved', pins: Readonly<Record<string, unknown>>): void {
    this.#put(type, { pins })
  }

  policyLoaded(policy: PolicyRef, mode: string, result: { readonly ok: boolean; readonly message?: string }): void {
    this.#put('policy_loaded', { policy, mode, ...result })
  }

  shimHealth(health: Readonly<Record<string, unknown>>): void {
    this.#put('shim_health', { health })
  }

  /** A line that the server or the shim writes to stderr, where stderr carries events. */
  shimLog(from: 'server' | 'shim', text: string): void {
    this.#put('shim_log', { log: { from, text } })
  }

  /** Metadata only. Nested, because a member `source` would overwrite the envelope's `source`. */
  secretInjection(secret: object): void {
    this.#put('secret_injection', { secret })
  }

  /** The agent received a secret of the server, in the answer to a call or in another message. */
  secretExposed(secret: object, names: CallNames | null): void {
    this.#put('secret_exposed', { ...(names === null ? {} : { call: names }), severity: 'critical', secret })
  }
}

function envelopeOf(identity: RunIdentity): string {
  const { run_id, agent_id, client, env, source, principal, workload, haid, session_id } = identity
  // These come from the environment of the run, which may hold a secret.
  const [agent, by, around] = [agent_id, principal, workload].map((one) => redactValue(one))
  return jsonValue({
    run_id,
    agent_id: agent,
    client,
    env,
    source,
    principal: by,
    workload: around,
    haid,
    session_id,
  }).slice(1, -1)
}

function countersOf(counters: CounterReadings): object[] {
  return Array.from({ length: counters.count }, (_, at) => {
    const { rule_id, counter, limit } = counters.counted(at)
    return { rule_id, counter, before: counters.before(at), after: counters.after(at), limit }
  })
}

/** `decision` of a `tool_call_decision` event, without counters. */
export interface DecisionEvent {
  readonly action: DecisionFields['action']
  readonly rule_id: string | null
  readonly severity: DecisionFields['severity']
  readonly explain: { readonly summary: string; readonly reason_code: string }
  readonly policy: PolicyRef
  readonly enforced?: false
  readonly backoff_ms?: number
  readonly hint?: unknown
  readonly terminate?: unknown
}

export function decisionEvent(decision: DecisionFields, policy: PolicyRef): DecisionEvent {
  const { action, rule_id, severity, reason_code, summary, enforced, backoff_ms, hint, terminate } = decision
  return {
    action,
    rule_id,
    severity,
    explain: { summary, reason_code },
    policy,
    ...(enforced ? {} : { enforced: false as const }),
    ...(backoff_ms === undefined ? {} : { backoff_ms }),
    ...(hint === undefined ? {} : { hint }),
    ...(terminate === undefined ? {} : { terminate }),
  }
}
