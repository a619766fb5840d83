// Events as lines of JSON, from parts that are made once: most of an event is the same for every call of a shim.
import { type CallCounts, EventLines, SEQ_WIDTH } from './event-lines.ts'
import { type CounterReadings, putCounters } from './counter-bytes.ts'
import { jsonString, jsonValue } from './json-text.ts'
import type { LineBytes } from './line-bytes.ts'
import { type Preview, putPreview } from './preview.ts'
import { redactValue } from './redact.ts'
import {
  type CallError,
  type CallStatus,
  type EventType,
  type FilesChanged,
  type RunIdentity,
  PACK_VERSION,
  type PolicyRef,
  type RunStart,
  type RunStatus,
  type RunSummary,
  type ModelUsage,
  type SessionEnd,
  type Transport,
  type WaitEnd,
  type WaitStart,
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

/** The types that a call has; how their lines begin is kept for the millisecond, because many share it. */
const OF_CALLS = ['tool_call_start', 'tool_call_decision', 'tool_call_end'] as const
type OfCall = 0 | 1 | 2
const START: OfCall = 0
const DECISION: OfCall = 1
const END: OfCall = 2

/** Names that most calls of a shim share. */
interface ToolText {
  readonly server: string
  readonly name: string
  readonly text: string
  /** With the quote that ends the id before it. */
  readonly bytes: Buffer
}

/** Puts events into `lines`, one behind the other. */
export class EventText {
  readonly lines: EventLines
  readonly identity: RunIdentity
  readonly #who: RunIdentity
  #identity: string
  readonly #wallMs: () => number
  #openedMs = -1
  readonly #opened: (Buffer | null)[] = [null, null, null]
  #tool: ToolText | null = null
  /** The names in the line before, where that is the start of a call: its decision stands right behind it and names the same. */
  #named: CallNames | null = null
  #namesTo = 0
  #namesBytes = 0
  #tags: readonly string[] = []
  #tagsBytes = NO_BYTES

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
    return `${beforeTime(type)}${new Date(atMs).toISOString()}",${this.#identity}`
  }

  #beginOfCall(type: OfCall, names: CallNames): LineBytes {
    // A decision right behind the start of its call is of the same moment.
    const isSame = type === DECISION && names === this.#named
    const nowMs = isSame ? this.#openedMs : Math.floor(this.#wallMs())
    if (nowMs !== this.#openedMs) this.#stamp(nowMs)
    const line = this.lines.bytes
    line.put((this.#opened[type] ??= Buffer.from(`${this.#open(OF_CALLS[type], nowMs)},"call":{`)))
    if (isSame) line.again(this.#namesTo - this.#namesBytes, this.#namesTo)
    else {
      const from = line.length
      this.#putNames(line, names)
      this.#namesBytes = line.length - from
    }
    return line
  }

  /** How lines begin changes with the millisecond, and in nothing but the time. */
  #stamp(nowMs: number): void {
    this.#openedMs = nowMs
    const time = new Date(nowMs).toISOString()
    for (const type of [START, DECISION, END] as const) {
      const opened = this.#opened[type] ?? null
      // Before the year 0 and after 9999 it is longer.
      if (opened !== null && time.length === TIME_CHARS) opened.write(time, timeAt(type), 'latin1')
      else this.#opened[type] = null
    }
  }

  #putNames(line: LineBytes, names: CallNames): void {
    const { bytes } = this.#toolOf(names)
    const before = line.length
    line.put(CALL_ID)
    if (line.plain(names.call_id)) {
      line.put(bytes)
      if (line.plain(names.args_hash)) {
        line.put(QUOTE)
        return
      }
    }
    line.cutBack(before)
    line.text(this.names(names))
  }

  #whole(type: EventType, rest: string): void {
    this.lines.bytes.text(`${this.#open(type, Math.floor(this.#wallMs()))},${rest}}\n`)
    this.lines.end(null)
  }

  /** The members that the three events of a call share, without braces. */
  names(names: CallNames): string {
    return `"call_id":${jsonString(names.call_id)}${this.#toolOf(names).text}${names.args_hash}"`
  }

  #toolOf({ server_name, tool_name }: CallNames): ToolText {
    if (this.#tool === null || this.#tool.name !== tool_name || this.#tool.server !== server_name) {
      const text = `,"server_name":${jsonString(server_name)},"tool_name":${jsonString(tool_name)},"args_hash":"`
      this.#tool = { server: server_name, name: tool_name, text, bytes: Buffer.from(`"${text}`) }
    }
    return this.#tool
  }

  #tagsOf(tags: readonly string[]): Buffer {
    if (tags !== this.#tags) {
      this.#tags = tags
      this.#tagsBytes = tags.length === 0 ? NO_BYTES : Buffer.from(`,"tags":${jsonValue(tags)}`)
    }
    return this.#tagsBytes
  }

  runStart(run: RunStart): void {
    this.#whole('run_start', `"run":${jsonValue(run)}`)
  }

  runEnd(status: RunStatus, endedAt: string, segment: number, summary: RunSummary): void {
    this.#whole('run_end', `"run":${jsonValue({ ended_at: endedAt, status, segment, summary })}`)
  }

  callStart(
    names: CallNames,
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
    const line = this.#beginOfCall(START, names)
    this.#namesTo = line.length
    line.put(TRANSPORTED[call.transport])
    line.value(call.bytesIn)
    if (call.method !== undefined) line.text(`,"method":${jsonString(call.method)}`)
    line.put(this.#tagsOf(call.tags))
    if (call.argsStreamHash !== undefined) line.text(`,"args_stream_hash":"${call.argsStreamHash}"`)
    line.put(BEFORE_PREVIEW)
    const previewFrom = line.length
    putPreview(line, preview)
    const previewTo = line.length
    const seqAt = line.length + BEFORE_SEQ.length
    line.put(SEQ_AND_END)
    this.lines.end('total', seqAt, previewFrom, previewTo)
    this.#named = names
  }

  decision(names: CallNames, decision: DecisionText, counters?: CounterReadings): void {
    const line = this.#beginOfCall(DECISION, names)
    line.put(decision.bytes)
    if (counters !== undefined && counters.count > 0) putCounters(line, counters)
    line.put(END_OF_DECISION)
    this.#named = null
    this.lines.end(decision.counts)
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
    const line = this.#beginOfCall(END, names)
    line.put(ENDED[end.status])
    line.value(end.latencyMs)
    line.put(BYTES_OUT)
    line.value(end.bytesOut)
    if (end.resultStreamHash !== undefined) line.text(`,"result_stream_hash":"${end.resultStreamHash}"`)
    if (end.error !== undefined) line.text(`,"error":${jsonValue(end.error)}`)
    line.put(BEFORE_PREVIEW)
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
    approval: {
      readonly id: string
      readonly rule_id: string
      /** Of the rule as it stood: an answer is one for exactly that. */
      readonly rule_hash: string
      readonly question: string
      readonly wait_ms: number
    },
  ): void {
    this.#whole('approval_requested', `"call":{${names}},"approval":${jsonValue(approval)}`)
  }

  approvalDecided(approval: Readonly<Record<string, unknown>>): void {
    this.#whole('approval_decided', `"approval":${jsonValue(approval)}`)
  }

  waitStart(wait: WaitStart): void {
    this.#whole('wait_start', `"wait":${jsonValue(wait)}`)
  }

  waitEnd(wait: WaitEnd): void {
    this.#whole('wait_end', `"wait":${jsonValue(wait)}`)
  }

  filesChanged(changes: FilesChanged): void {
    this.#whole('files_changed', `"changes":${jsonValue(changes)}`)
  }

  sessionEnd(session: SessionEnd): void {
    this.#whole('session_end', `"session":${jsonValue(session)}`)
  }

  modelUsage(usage: ModelUsage): void {
    this.#whole('model_usage', `"usage":${jsonValue(usage)}`)
  }

  /** What is known of a server's tools is new, has changed, or has been approved by a person. */
  toolPins(type: 'tools_pinned' | 'tools_changed' | 'tools_approved', pins: Readonly<Record<string, unknown>>): void {
    this.#whole(type, `"pins":${jsonValue(pins)}`)
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

const beforeTime = (type: EventType): string => `{"v":"${PACK_VERSION}","type":"${type}","ts":"`
const timeAt = (type: OfCall): number => beforeTime(OF_CALLS[type]).length
/** As `2026-11-17T01:02:03.456Z`. */
const TIME_CHARS = 24

/** Without the brace that opens it and with that of the whole event still open. */
function identityText(identity: RunIdentity): string {
  const { run_id, agent_id, client, env, source, principal, workload, haid, session_id } = identity
  // These come from the environment of the run, which may hold anything.
  const [agent, by, around] = [agent_id, principal, workload].map(redactValue)
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

const NO_BYTES = Buffer.alloc(0)
const CALL_ID = Buffer.from('"call_id":"')
const QUOTE = Buffer.from('"')
const transported = (transport: Transport): Buffer => Buffer.from(`,"transport":"${transport}","bytes_in":`)
const TRANSPORTED = {
  mcp_stdio: transported('mcp_stdio'),
  mcp_http: transported('mcp_http'),
  http: transported('http'),
  unknown: transported('unknown'),
} as const satisfies Record<Transport, Buffer>
const ended = (status: CallStatus): Buffer => Buffer.from(`},"status":"${status}","latency_ms":`)
const ENDED = {
  OK: ended('OK'),
  ERROR: ended('ERROR'),
  TIMEOUT: ended('TIMEOUT'),
  CANCELLED: ended('CANCELLED'),
} as const satisfies Record<CallStatus, Buffer>
const BYTES_OUT = Buffer.from(',"bytes_out":')
const BEFORE_PREVIEW = Buffer.from(',"preview":')
const BEFORE_SEQ = ',"seq":'
const SEQ_AND_END = Buffer.from(`${BEFORE_SEQ}${' '.repeat(SEQ_WIDTH)}}}\n`)
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

export function policyText(policy: PolicyRef): string {
  const { policy_id, policy_version, policy_hash } = policy
  return jsonValue({ policy_id, policy_version, policy_hash })
}
