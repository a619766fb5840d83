// Events as lines of JSON, from parts that are made once: most of an event is the same for every call of a shim.
import { jsonString, jsonValue } from './json-text.ts'
import { LineBytes } from './line-bytes.ts'
import { type Preview, PREVIEW_NONE, PREVIEW_OMITTED, putPreview } from './preview.ts'
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
  /** The slab that its bytes stand in, beside those of other lines. */
  readonly slab: Buffer
  readonly from: number
  /** Behind its newline; of a line that is numbered, before its number, two braces and the newline, which are still to come. */
  readonly to: number
  /** Where its preview stands, counted from the start of the line; it may have to make room. Nowhere when both are 0. */
  readonly previewFrom: number
  readonly previewTo: number
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

/** The types that a call has; how their lines begin is kept for the millisecond, because many share it. */
const OF_CALLS = ['tool_call_start', 'tool_call_decision', 'tool_call_end'] as const
type OfCall = 0 | 1 | 2
const START: OfCall = 0
const DECISION: OfCall = 1
const END: OfCall = 2

export class EventText {
  readonly #identity: string
  readonly #wallMs: () => number
  readonly #line = new LineBytes()
  #openedMs = -1
  readonly #opened: (Buffer | null)[] = [null, null, null]
  #tool: { readonly server: string; readonly name: string; readonly text: string } | null = null
  #tags: readonly string[] = []
  #tagsText = ''

  constructor(identity: Identity, wallMs: () => number) {
    const { run_id, agent_id, client, env, source, principal, workload } = identity
    const fields = { run_id, agent_id, client, env, source, principal, workload }
    // Without the brace that opens it and with that of the whole event still open.
    this.#identity = jsonValue(fields).slice(1, -1)
    this.#wallMs = wallMs
  }

  #open(type: EventType, atMs: number): string {
    return `{"v":"${PACK_VERSION}","type":"${type}","ts":"${new Date(atMs).toISOString()}",${this.#identity}`
  }

  #beginOfCall(type: OfCall, names: string): LineBytes {
    const nowMs = Math.floor(this.#wallMs())
    if (nowMs !== this.#openedMs) {
      this.#openedMs = nowMs
      this.#opened.fill(null)
    }
    const line = this.#line
    line.begin()
    line.put((this.#opened[type] ??= Buffer.from(`${this.#open(OF_CALLS[type], nowMs)},"call":{`)))
    line.text(names)
    return line
  }

  #whole(type: EventType, rest: string): EventLine {
    const slab = Buffer.from(`${this.#open(type, Math.floor(this.#wallMs()))},${rest}}\n`)
    return { type, slab, from: 0, to: slab.length, previewFrom: 0, previewTo: 0, isNumbered: false, counts: null }
  }

  /** The members that the three events of a call share, without braces. */
  names({ call_id, server_name, tool_name, args_hash }: CallNames): string {
    if (this.#tool === null || this.#tool.name !== tool_name || this.#tool.server !== server_name)
      this.#tool = {
        server: server_name,
        name: tool_name,
        text: `,"server_name":${jsonString(server_name)},"tool_name":${jsonString(tool_name)},"args_hash":"`,
      }
    return `"call_id":${jsonString(call_id)}${this.#tool.text}${args_hash}"`
  }

  #tagsOf(tags: readonly string[]): string {
    if (tags !== this.#tags) {
      this.#tags = tags
      this.#tagsText = tags.length === 0 ? '' : `,"tags":${jsonValue(tags)}`
    }
    return this.#tagsText
  }

  runStart(run: RunStart): EventLine {
    return this.#whole('run_start', `"run":${jsonValue(run)}`)
  }

  runEnd(status: RunStatus, endedAt: string, summary: RunSummary): EventLine {
    return this.#whole('run_end', `"run":${jsonValue({ ended_at: endedAt, status, summary })}`)
  }

  callStart(
    names: string,
    call: {
      readonly transport: Transport
      readonly bytesIn: number
      readonly tags: readonly string[]
      readonly argsStreamHash?: string | undefined
    },
    preview: Preview,
  ): EventLine {
    const hash = call.argsStreamHash === undefined ? '' : `,"args_stream_hash":"${call.argsStreamHash}"`
    const line = this.#beginOfCall(START, names)
    line.text(`,"transport":"${call.transport}","bytes_in":${call.bytesIn}${this.#tagsOf(call.tags)}${hash},"preview":`)
    const previewFrom = line.length
    putPreview(line, preview)
    const previewTo = line.length
    line.put(BEFORE_SEQ)
    const { slab, from, to } = line.end()
    return { type: 'tool_call_start', slab, from, to, previewFrom, previewTo, isNumbered: true, counts: 'total' }
  }

  decision(names: string, decision: DecisionText): EventLine {
    const line = this.#beginOfCall(DECISION, names)
    line.put(decision.bytes)
    const { slab, from, to } = line.end()
    const { counts } = decision
    return { type: 'tool_call_decision', slab, from, to, previewFrom: 0, previewTo: 0, isNumbered: false, counts }
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
    preview: Preview,
  ): EventLine {
    const hash = end.resultStreamHash === undefined ? '' : `,"result_stream_hash":"${end.resultStreamHash}"`
    const error = end.error === undefined ? '' : `,"error":${jsonValue(end.error)}`
    const line = this.#beginOfCall(END, names)
    line.text(
      `},"status":"${end.status}","latency_ms":${end.latencyMs},"bytes_out":${end.bytesOut}${hash}${error},"preview":`,
    )
    const previewFrom = line.length
    putPreview(line, preview)
    const previewTo = line.length
    line.put(END_OF_LINE)
    const { slab, from, to } = line.end()
    const counts = end.status === 'ERROR' || end.status === 'TIMEOUT' ? 'errors' : null
    return { type: 'tool_call_end', slab, from, to, previewFrom, previewTo, isNumbered: false, counts }
  }

  hintIssued(callId: string, hint: unknown): EventLine {
    return this.#whole('hint_issued', `"call":{"call_id":${jsonString(callId)}},"hint":${jsonValue(hint)}`)
  }

  breakerTrip(names: string, ruleId: string): EventLine {
    return this.#whole('breaker_trip', `"call":{${names}},"breaker":{"rule_id":${jsonString(ruleId)}}`)
  }

  policyLoaded(policy: string, mode: string, result: { readonly ok: boolean; readonly message?: string }): EventLine {
    const message = result.message === undefined ? '' : `,"message":${jsonString(result.message)}`
    return this.#whole('policy_loaded', `"policy":${policy},"mode":"${mode}","ok":${result.ok}${message}`)
  }

  shimHealth(health: Readonly<Record<string, unknown>>): EventLine {
    return this.#whole('shim_health', `"health":${jsonValue(health)}`)
  }

  /** Metadata only. Nested, because a field `source` beside the envelope's `source` would overwrite it. */
  secretInjection(secret: Readonly<Record<string, unknown>>): EventLine {
    return this.#whole('secret_injection', `"secret":${jsonValue(secret)}`)
  }
}

const BEFORE_SEQ = Buffer.from(',"seq":')
const END_OF_LINE = Buffer.from('}\n')

/** A decision as its event says it; made once for decisions that many calls share. */
export interface DecisionText {
  readonly bytes: Buffer
  readonly counts: keyof CallCounts
}

export function decisionText(decision: DecisionFields, policy: string): DecisionText {
  const { action, rule_id, severity, reason_code, summary, enforced } = decision
  let more = enforced ? '' : ',"enforced":false'
  if (decision.backoff_ms !== undefined) more += `,"backoff_ms":${decision.backoff_ms}`
  if (decision.hint !== undefined) more += `,"hint":${jsonValue(decision.hint)}`
  if (decision.terminate !== undefined) more += `,"terminate":${jsonValue(decision.terminate)}`
  const rule = rule_id === null ? 'null' : jsonString(rule_id)
  const explain = `{"summary":${jsonString(summary)},"reason_code":${jsonString(reason_code)}}`
  return {
    bytes: Buffer.from(
      `},"decision":{"action":"${action}","rule_id":${rule},"severity":"${severity}","explain":${explain},"policy":${policy}${more}}}\n`,
    ),
    counts: !enforced || action === 'ALLOW' ? 'allowed' : action === 'THROTTLE' ? 'throttled' : 'blocked',
  }
}

export function policyText(policy: PolicyRef): string {
  const { policy_id, policy_version, policy_hash } = policy
  return jsonValue({ policy_id, policy_version, policy_hash })
}

/** The same line without its preview, in memory of its own: the slab that it stood in, with the previews of others, can go. */
export function withoutPreview(line: EventLine): EventLine {
  const { slab, from, to, previewFrom, previewTo } = line
  const isShown = previewTo - previewFrom > PREVIEW_NONE.length
  const own = isShown
    ? Buffer.concat([slab.subarray(from, from + previewFrom), PREVIEW_OMITTED, slab.subarray(from + previewTo, to)])
    : Buffer.from(slab.subarray(from, to))
  return {
    ...line,
    slab: own,
    from: 0,
    to: own.length,
    previewTo: isShown ? previewFrom + PREVIEW_OMITTED.length : previewTo,
  }
}
