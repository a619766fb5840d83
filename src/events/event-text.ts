// Events as lines of JSON, from parts that are made once: most of an event is the same for every call of a shim.
import { POLICY_RULES_MAX } from '../limits.ts'
import { type CallCounts, EventLines, SEQ_WIDTH } from './event-lines.ts'
import { jsonString, jsonValue } from './json-text.ts'
import type { LineBytes } from './line-bytes.ts'
import { type Preview, putPreview } from './preview.ts'
import {
  type CallError,
  type CallStatus,
  type EventType,
  type RunIdentity,
  PACK_VERSION,
  type PolicyRef,
  type RunStart,
  type RunStatus,
  type RunSummary,
  type Transport,
} from './types.ts'

export interface CallNames {
  readonly call_id: string
  readonly server_name: string
  readonly tool_name: string
  readonly args_hash: string
}

/** What an accumulator had counted before a call and after it. */
export interface CounterFields {
  readonly rule_id: string
  readonly counter: string
  readonly before: number
  readonly after: number
  readonly limit: number
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

/** Puts events into `lines`, one behind the other. */
export class EventText {
  readonly lines: EventLines
  readonly identity: RunIdentity
  readonly #who: RunIdentity
  #identity: string
  readonly #wallMs: () => number
  #openedMs = -1
  readonly #opened: (Buffer | null)[] = [null, null, null]
  #tool: { readonly server: string; readonly name: string; readonly text: string } | null = null
  /** The names in the line before, where that is the start of a call: its decision stands right behind it and names the same. */
  #named = ''
  #namesTo = 0
  #namesBytes = 0
  #tags: readonly string[] = []
  #tagsText = ''

  constructor(identity: RunIdentity, wallMs: () => number, lines = new EventLines()) {
    this.lines = lines
    this.identity = identity
    this.#who = identity
    this.#identity = identityText(identity)
    this.#wallMs = wallMs
  }

  /** The client has said its name; before that nobody knew it. */
  nameClient(client: RunIdentity['client']): void {
    this.#identity = identityText({ ...this.#who, client })
    this.#opened.fill(null)
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
    const line = this.lines.bytes
    line.put((this.#opened[type] ??= Buffer.from(`${this.#open(OF_CALLS[type], nowMs)},"call":{`)))
    if (type === DECISION && names === this.#named) line.again(this.#namesTo - this.#namesBytes, this.#namesTo)
    else {
      const from = line.length
      line.text(names)
      this.#namesBytes = line.length - from
    }
    return line
  }

  #whole(type: EventType, rest: string): void {
    this.lines.bytes.text(`${this.#open(type, Math.floor(this.#wallMs()))},${rest}}\n`)
    this.lines.end(null)
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

  runStart(run: RunStart): void {
    this.#whole('run_start', `"run":${jsonValue(run)}`)
  }

  runEnd(status: RunStatus, endedAt: string, segment: number, summary: RunSummary): void {
    this.#whole('run_end', `"run":${jsonValue({ ended_at: endedAt, status, segment, summary })}`)
  }

  callStart(
    names: string,
    call: {
      readonly transport: Transport
      readonly bytesIn: number
      /** Of a request that is no tool call. */
      readonly method?: string | undefined
      readonly tags: readonly string[]
      readonly argsStreamHash?: string | undefined
    },
    preview: Preview,
  ): void {
    const method = call.method === undefined ? '' : `,"method":${jsonString(call.method)}`
    const hash = call.argsStreamHash === undefined ? '' : `,"args_stream_hash":"${call.argsStreamHash}"`
    const line = this.#beginOfCall(START, names)
    this.#namesTo = line.length
    line.text(
      `,"transport":"${call.transport}","bytes_in":${call.bytesIn}${method}${this.#tagsOf(call.tags)}${hash},"preview":`,
    )
    const previewFrom = line.length
    putPreview(line, preview)
    const previewTo = line.length
    line.put(BEFORE_SEQ)
    const seqAt = line.length
    line.put(SEQ_AND_END)
    this.lines.end('total', seqAt, previewFrom, previewTo)
    this.#named = names
  }

  decision(names: string, decision: DecisionText, counters: readonly CounterFields[]): void {
    const line = this.#beginOfCall(DECISION, names)
    line.put(decision.bytes)
    if (counters.length > 0) line.text(countersText(counters))
    line.put(END_OF_DECISION)
    this.#named = ''
    this.lines.end(decision.counts)
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
  ): void {
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
    this.lines.end(end.status === 'ERROR' || end.status === 'TIMEOUT' ? 'errors' : null, 0, previewFrom, previewTo)
  }

  hintIssued(callId: string, hint: unknown): void {
    this.#whole('hint_issued', `"call":{"call_id":${jsonString(callId)}},"hint":${jsonValue(hint)}`)
  }

  breakerTrip(names: string, ruleId: string): void {
    this.#whole('breaker_trip', `"call":{${names}},"breaker":{"rule_id":${jsonString(ruleId)}}`)
  }

  /** A person is asked about a call; once for a question, however often the call is made. */
  approvalRequested(
    names: string,
    approval: { readonly id: string; readonly rule_id: string; readonly question: string; readonly wait_ms: number },
  ): void {
    this.#whole('approval_requested', `"call":{${names}},"approval":${jsonValue(approval)}`)
  }

  approvalDecided(approval: Readonly<Record<string, unknown>>): void {
    this.#whole('approval_decided', `"approval":${jsonValue(approval)}`)
  }

  policyLoaded(policy: string, mode: string, result: { readonly ok: boolean; readonly message?: string }): void {
    const message = result.message === undefined ? '' : `,"message":${jsonString(result.message)}`
    this.#whole('policy_loaded', `"policy":${policy},"mode":"${mode}","ok":${result.ok}${message}`)
  }

  shimHealth(health: Readonly<Record<string, unknown>>): void {
    this.#whole('shim_health', `"health":${jsonValue(health)}`)
  }

  /** What the server or the shim itself says on stderr, where events are written there. */
  shimLog(from: 'server' | 'shim', text: string): void {
    this.#whole('shim_log', `"log":{"from":"${from}","text":${jsonString(text)}}`)
  }

  /** Metadata only. Nested, because a field `source` beside the envelope's `source` would overwrite it. */
  secretInjection(secret: object): void {
    this.#whole('secret_injection', `"secret":${jsonValue(secret)}`)
  }

  /** The agent has been sent a secret of the server's, in the answer to a call or in another message. */
  secretExposed(secret: object, names: string | null): void {
    const call = names === null ? '' : `"call":{${names}},`
    this.#whole('secret_exposed', `${call}"severity":"critical","secret":${jsonValue(secret)}`)
  }
}

/** Without the brace that opens it and with that of the whole event still open. */
function identityText(identity: RunIdentity): string {
  const { run_id, agent_id, client, env, source, principal, workload, haid, session_id } = identity
  return jsonValue({ run_id, agent_id, client, env, source, principal, workload, haid, session_id }).slice(1, -1)
}

const BEFORE_SEQ = Buffer.from(',"seq":')
const SEQ_AND_END = Buffer.from(`${' '.repeat(SEQ_WIDTH)}}}\n`)
const END_OF_DECISION = Buffer.from('}}\n')
const END_OF_LINE = Buffer.from('}\n')

/** A decision as its event says it, up to its counters; made once for decisions that many calls share. */
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
      `},"decision":{"action":"${action}","rule_id":${rule},"severity":"${severity}","explain":${explain},"policy":${policy}${more}`,
    ),
    counts: !enforced || action === 'ALLOW' ? 'allowed' : action === 'THROTTLE' ? 'throttled' : 'blocked',
  }
}

/** Rules count the same things for call after call: only the numbers are new. */
function countersText(counters: readonly CounterFields[]): string {
  let text = ''
  for (const { rule_id, counter, before, after, limit } of counters)
    text += `${text === '' ? '' : ','}${counterNamed(rule_id)}"${counter}","before":${before},"after":${after},"limit":${limit}}`
  return `,"counters":[${text}]`
}

const named = new Map<string, string>()

function counterNamed(ruleId: string): string {
  let text = named.get(ruleId)
  if (text === undefined) {
    text = `{"rule_id":${jsonString(ruleId)},"counter":`
    if (named.size >= POLICY_RULES_MAX) named.clear()
    named.set(ruleId, text)
  }
  return text
}

export function policyText(policy: PolicyRef): string {
  const { policy_id, policy_version, policy_hash } = policy
  return jsonValue({ policy_id, policy_version, policy_hash })
}
