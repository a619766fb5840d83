// Builds events (seed 004, contract A) as plain objects and puts them into the queue of the record.
import { type EventBody, EventLines, type QueuedEvent } from './event-lines.ts'
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

/** A moment of the monotonic clock, which the counters of an event are of. */
export interface EventMoment {
  readonly mono_ms: number
  readonly boot_id: string
}

/** What accumulators had counted before and after. */
export interface EventCounts extends EventMoment {
  readonly counters: readonly object[]
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

  #put(type: EventType, fields: EventBody): QueuedEvent {
    const nowMs = Math.floor(this.#wallMs())
    if (nowMs !== this.#ms) {
      this.#ms = nowMs
      this.#ts = new Date(nowMs).toISOString()
    }
    const event = { type, ts: this.#ts, envelope: this.#envelope, fields }
    this.lines.put(event)
    return event
  }

  /** `member` is who opens the run; it is absent in a stream of one shim alone. */
  runStart(run: RunStart, member: object | undefined, moment: EventMoment): void {
    this.#put('run_start', { run, member, ...moment })
  }

  /** A process takes part in a run that is open, and changes who it waits for. */
  runJoined(member: object, moment: EventMoment): void {
    this.#put('run_joined', { member, ...moment })
  }

  /** A process takes part in the run no more, and has something to report, or was the last. */
  runLeft(member: object, moment: EventMoment): void {
    this.#put('run_left', { member, ...moment })
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

  decision(body: EventBody): QueuedEvent {
    return this.#put('tool_call_decision', body)
  }

  /** A call that has ended in the record was answered later after all, and that counts. */
  callSettled(names: CallNames, counts: EventCounts): QueuedEvent {
    return this.#put('tool_call_settled', { call: names, ...counts })
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
    counts?: EventCounts,
  ): QueuedEvent {
    return this.#put('tool_call_end', {
      call: names,
      status: end.status,
      latency_ms: end.latencyMs,
      bytes_out: end.bytesOut,
      result_stream_hash: end.resultStreamHash,
      error: end.error,
      preview: previewOf(preview),
      ...counts,
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
      /** Of the arguments as the answer is for them; empty where they were not read. */
      readonly args_hash: string
      readonly args_preview: string
    },
  ): QueuedEvent {
    return this.#put('approval_requested', { call: names, approval })
  }

  approvalDecided(approval: Readonly<Record<string, unknown>>): QueuedEvent {
    return this.#put('approval_decided', { approval })
  }

  /** The only call that asked was cancelled. */
  approvalWithdrawn(approval: { readonly id: string; readonly rule_id: string }): QueuedEvent {
    return this.#put('approval_withdrawn', { approval })
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

/** `approvalId` is of the question that the call asks, or whose answer it goes by. */
export function decisionBody(
  names: CallNames,
  decision: DecisionEvent,
  { counters, ...moment }: EventCounts,
  approvalId?: string,
): EventBody {
  return {
    call: { ...names },
    decision: {
      ...decision,
      ...(counters.length === 0 ? {} : { counters }),
      ...(approvalId === undefined ? {} : { approval_id: approvalId }),
    },
    ...moment,
  }
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
