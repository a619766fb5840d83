// Events as lines of text, from parts that are made once: most of an event is the same for every call of a shim.
import { jsonString, jsonValue } from './json-text.ts'
import {
  type CallError,
  type CallStatus,
  type EventType,
  type Identity,
  PACK_VERSION,
  type PolicyRef,
  type RunStart,
  type RunStatus,
  type RunSummary,
  type Transport,
} from './types.ts'

/** A line on its way to a record. The number of a call is given when the line is written, so that no number is ever lost. */
export interface EventLine {
  readonly type: EventType
  head: string
  /** JSON text of the preview; `PREVIEW_OMITTED` once it had to make room. */
  preview: string
  readonly tail: string
  /** `seq` goes between tail and the end. */
  readonly isNumbered: boolean
  /** What the books of the run take from this line. */
  readonly counts: keyof CallCounts | null
}

/** Calls by what became of them; a call is in `total` once, in one of the next three once, and in `errors` if it failed. */
export interface CallCounts {
  total: number
  allowed: number
  blocked: number
  throttled: number
  errors: number
}

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

/** RFC 3339 with milliseconds, in UTC; the text of the last millisecond is kept, because many events share it. */
export function createTimestamps(wallMs: () => number): () => string {
  let lastMs = -1
  let text = ''
  return () => {
    const nowMs = Math.floor(wallMs())
    if (nowMs !== lastMs) {
      lastMs = nowMs
      text = new Date(nowMs).toISOString()
    }
    return text
  }
}

export class EventText {
  readonly #identity: string
  readonly #now: () => string

  constructor(identity: Identity, now: () => string) {
    const { run_id, agent_id, client, env, source, principal, workload } = identity
    const fields = { run_id, agent_id, client, env, source, principal, workload }
    // Without the brace that opens it and with that of the whole event still open.
    this.#identity = jsonValue(fields).slice(1, -1)
    this.#now = now
  }

  #open(type: EventType): string {
    return `{"v":"${PACK_VERSION}","type":"${type}","ts":"${this.#now()}",${this.#identity}`
  }

  #line(type: EventType, rest: string): EventLine {
    return { type, head: `${this.#open(type)},${rest}}`, preview: '', tail: '', isNumbered: false, counts: null }
  }

  runStart(run: RunStart): EventLine {
    return this.#line('run_start', `"run":${jsonValue(run)}`)
  }

  runEnd(status: RunStatus, endedAt: string, summary: RunSummary): EventLine {
    return this.#line('run_end', `"run":${jsonValue({ ended_at: endedAt, status, summary })}`)
  }

  callStart(
    names: string,
    call: {
      readonly transport: Transport
      readonly bytesIn: number
      readonly tags: readonly string[]
      readonly argsStreamHash?: string | undefined
    },
    preview: string,
  ): EventLine {
    const tags = call.tags.length === 0 ? '' : `,"tags":${jsonValue(call.tags)}`
    const hash = call.argsStreamHash === undefined ? '' : `,"args_stream_hash":"${call.argsStreamHash}"`
    return {
      type: 'tool_call_start',
      head: `${this.#open('tool_call_start')},"call":{${names},"transport":"${call.transport}","bytes_in":${call.bytesIn}${tags}${hash},"preview":`,
      preview,
      tail: ',"seq":',
      isNumbered: true,
      counts: 'total',
    }
  }

  decision(names: string, decision: DecisionFields, policy: string): EventLine {
    const { action, rule_id, severity, reason_code, summary, enforced } = decision
    let more = enforced ? '' : ',"enforced":false'
    if (decision.backoff_ms !== undefined) more += `,"backoff_ms":${decision.backoff_ms}`
    if (decision.hint !== undefined) more += `,"hint":${jsonValue(decision.hint)}`
    if (decision.terminate !== undefined) more += `,"terminate":${jsonValue(decision.terminate)}`
    return {
      type: 'tool_call_decision',
      head: `${this.#open('tool_call_decision')},"call":{${names}},"decision":{"action":"${action}","rule_id":${rule_id === null ? 'null' : jsonString(rule_id)},"severity":"${severity}","explain":{"summary":${jsonString(summary)},"reason_code":${jsonString(reason_code)}},"policy":${policy}${more}}}`,
      preview: '',
      tail: '',
      isNumbered: false,
      counts: !enforced || action === 'ALLOW' ? 'allowed' : action === 'THROTTLE' ? 'throttled' : 'blocked',
    }
  }

  callEnd(
    names: string,
    end: {
      readonly status: CallStatus
      readonly latencyMs: number
      readonly bytesOut: number
      readonly error?: CallError | undefined
      readonly resultStreamHash?: string | undefined
    },
    preview: string,
  ): EventLine {
    const hash = end.resultStreamHash === undefined ? '' : `,"result_stream_hash":"${end.resultStreamHash}"`
    const error = end.error === undefined ? '' : `,"error":${jsonValue(end.error)}`
    return {
      type: 'tool_call_end',
      head: `${this.#open('tool_call_end')},"call":{${names}},"status":"${end.status}","latency_ms":${end.latencyMs},"bytes_out":${end.bytesOut}${hash}${error},"preview":`,
      preview,
      tail: '}',
      isNumbered: false,
      counts: end.status === 'ERROR' || end.status === 'TIMEOUT' ? 'errors' : null,
    }
  }

  hintIssued(callId: string, hint: unknown): EventLine {
    return this.#line('hint_issued', `"call":{"call_id":${jsonString(callId)}},"hint":${jsonValue(hint)}`)
  }

  breakerTrip(names: string, ruleId: string): EventLine {
    return this.#line('breaker_trip', `"call":{${names}},"breaker":{"rule_id":${jsonString(ruleId)}}`)
  }

  policyLoaded(policy: string, mode: string, result: { readonly ok: boolean; readonly message?: string }): EventLine {
    const message = result.message === undefined ? '' : `,"message":${jsonString(result.message)}`
    return this.#line('policy_loaded', `"policy":${policy},"mode":"${mode}","ok":${result.ok}${message}`)
  }

  shimHealth(health: Readonly<Record<string, unknown>>): EventLine {
    return this.#line('shim_health', `"health":${jsonValue(health)}`)
  }

  /** Metadata only. Nested, because a field `source` beside the envelope's `source` would overwrite it. */
  secretInjection(secret: Readonly<Record<string, unknown>>): EventLine {
    return this.#line('secret_injection', `"secret":${jsonValue(secret)}`)
  }
}

/** The members that the three events of a call share, without braces. */
export function namesText(names: CallNames): string {
  return `"call_id":"${names.call_id}","server_name":${jsonString(names.server_name)},"tool_name":${jsonString(names.tool_name)},"args_hash":"${names.args_hash}"`
}

export function policyText(policy: PolicyRef): string {
  const { policy_id, policy_version, policy_hash } = policy
  return jsonValue({ policy_id, policy_version, policy_hash })
}

/** The line as it is written, without its newline. */
export function lineText(line: EventLine, seq: number): string {
  if (line.tail === '') return line.head
  return line.isNumbered ? `${line.head}${line.preview}${line.tail}${seq}}}` : `${line.head}${line.preview}${line.tail}`
}
