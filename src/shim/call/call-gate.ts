// The core that every adapter asks (seed 004 §7): judges a call, keeps its books, and says in events what was decided and what became of it.
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { type CallNames, type DecisionText, decisionText, type EventText, policyText } from '../../events/event-text.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import { type Absent, isAbsent, PREVIEW_OMITTED, type Preview } from '../../events/preview.ts'
import type { Piece } from '../../events/line-bytes.ts'
import type { Redact } from '../../events/redact.ts'
import type { CallError, CallStatus, PolicyRef, Transport } from '../../events/types.ts'
import { decideOnError } from '../../policy/decide/on-error.ts'
import type { Plan, Policy } from '../../policy/decide/plan.ts'
import { NO_READINGS, type Readings } from '../../policy/decide/readings.ts'
import type { CallEnd, CallResult, Decision, Verdict } from '../../policy/types.ts'
import type { Asking } from './asking.ts'
import type { ClaimCheck } from './claim-check.ts'
import { CallArguments } from './call-arguments.ts'
import type { PathLocations } from './path-locations.ts'
import { refOf } from '../policy-ref.ts'
import type { PolicyState } from '../policy-state.ts'
import type { ToolAnnotations } from './tool-annotations.ts'
import { pinDecision } from '../pins/pin-decisions.ts'
import type { ToolPins } from '../pins/tool-pins.ts'
import { recordedDecision, shortText, shownDecision } from './shown-decision.ts'

/** A call as an adapter hands it over (seed 004 §7.1). */
export interface ToolCall {
  /** Of a request that is no tool call its method. */
  readonly toolName: string
  /** Of a request that is no tool call but that rules name. */
  readonly method?: string | undefined
  /** The `arguments` object as it was sent; null when it is too large to look into. */
  readonly argsBytes: Buffer | null
  readonly bytesIn: number
  readonly transport: Transport
  /** `_meta` of the request, where it has one and is at hand. */
  readonly meta?: Piece | undefined
  /** SHA-256 of the raw message, where it was too large to look into. */
  readonly argsStreamHash?: string
}

/** A call that was judged, from then until its end. */
export interface JudgedCall {
  readonly callId: string
  readonly call: ToolCall
  /** Like the next two, decided anew when it turns out that the first decision cannot be written down. */
  decision: Decision
  isForwarded: boolean
  end: CallEnd | null
  readonly tags: readonly string[]
  readonly tripped: readonly string[]
  readonly policy: PolicyRef
  readonly startMs: number
  readonly counters: Readings
  readonly args: CallArguments
  /** As the record names it; made when it is announced. */
  names: CallNames | null
}

export interface CallOutcome {
  readonly status: CallStatus
  readonly bytesOut: number
  readonly error?: CallError | undefined
  /** The server has said so, and surely of this call. */
  readonly isProven?: boolean
  /** The result as it was sent, for the preview; or why there is none. */
  readonly result: Piece | Absent
  readonly resultStreamHash?: string | undefined
}

export interface GateOptions {
  readonly serverName: string
  readonly policy: Policy
  readonly state: PolicyState
  readonly events: EventWriter
  readonly text: EventText
  /** For what we say ourselves. */
  readonly redact: Redact
  /** For what passes: secrets that are none to those who read previews stay in it. */
  readonly previews: Redact
  /** What persons have said of calls. */
  readonly asking: Asking
  /** What the server has said of its tools. */
  readonly annotations: ToolAnnotations
  /** Whether tools still are what a person knows. */
  readonly pins: ToolPins
  /** Who holds what a call would write; nothing where that cannot be told. */
  readonly claims: ClaimCheck | undefined
  /** Where paths in arguments lead; made when a rule first asks. */
  readonly paths: () => PathLocations
  readonly clock: Clock
  readonly newId: () => string
  /** The run is to end: called once, when a call first meets TERMINATE_RUN. */
  readonly onTerminate: (decision: Decision) => void
  readonly note: (line: string) => void
}

interface Said {
  readonly decision: Decision
  /** As the agent is told. */
  readonly shown: Decision
  /** As the record says. */
  readonly recorded: Decision
  readonly said: DecisionText
}

const NO_TAGS: readonly string[] = []

export class CallGate {
  readonly #options: GateOptions
  #policy: Policy
  #policyRef: PolicyRef
  #policyText: string
  #breakers: ReadonlySet<string>
  #terminated: Decision | null = null
  #lastSaid: Said | null = null
  #lastTool: { readonly name: string; readonly shown: string } | null = null

  constructor(options: GateOptions) {
    this.#options = options
    this.#policy = options.policy
    this.#policyRef = refOf(options.policy)
    this.#policyText = policyText(this.#policyRef)
    this.#breakers = breakersOf(options.policy)
  }

  get policy(): Policy {
    return this.#policy
  }

  get isObserving(): boolean {
    return this.#policy.snapshot.mode === 'observe'
  }

  /** In mode *control* no call is sent on whose decision cannot be written; in the others it is tried. */
  get isRecordRequired(): boolean {
    return this.#policy.snapshot.mode === 'control'
  }

  /** From the next call on; calls that are open keep the policy they were judged by. */
  usePolicy(policy: Policy): void {
    this.#policy = policy
    this.#policyRef = refOf(policy)
    this.#policyText = policyText(this.#policyRef)
    this.#lastSaid = null
    this.#breakers = breakersOf(policy)
  }

  /** The run has been ended, here or by another shim: every later call is answered so. */
  terminate(decision: Decision): void {
    this.#terminated ??= decision
  }

  judge(call: ToolCall): JudgedCall {
    const { clock } = this.#options
    const args = new CallArguments(call.argsBytes, clock.wallMs())
    const nowMs = clock.monoMs()
    if (this.#terminated !== null) return this.#judged(call, args, plainVerdict(this.#terminated), nowMs)
    let verdict: Verdict
    const plan = this.#planOf(call)
    const refused = this.#unpinned(call, plan) ?? this.#claimed(call, plan, args)
    if (this.isRecordRequired && this.#options.events.isFailing) verdict = this.#unwritten(call)
    else if (refused !== null) verdict = plainVerdict(refused)
    else {
      try {
        // Before any transaction begins: the disk is asked about links.
        if (plan.pathsOf !== null && typeof args.args === 'object')
          args.locations = this.#options.paths().locate(plan.pathsOf(args.args))
        verdict = this.#decided(plan, call, args, nowMs)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        this.#options.note(`policy could not judge a call of ${JSON.stringify(this.#shownTool(call.toolName))}: ${why}`)
        verdict = plainVerdict(decideOnError(this.#policy, plan.tags, `the policy could not be evaluated: ${why}`))
      }
    }
    const { decision } = verdict
    if (decision.action === 'TERMINATE_RUN' && decision.enforced) {
      this.#terminated = decision
      this.#options.onTerminate(decision)
    }
    if (isForwarded(decision)) this.#options.claims?.sent()
    return this.#judged(call, args, verdict, nowMs)
  }

  #decided(plan: Plan, call: ToolCall, args: CallArguments, nowMs: number): Verdict {
    const { state, asking } = this.#options
    if (plan.asks.length === 0 || this.isObserving) return state.decide(plan, args, nowMs)
    const said = asking.said(plan, call, args)
    args.approvals = said.byRule
    return state.decide(plan, args, nowMs, ({ decision }) => {
      if (asking.use(said, decision)) return true
      // Another shim has just gone by the same answer, which was for one call.
      args.approvals = new Map()
      return false
    })
  }

  /**
   * In mode *control* a tool that is not what a person knows is not called. Like a call that is asked about it counts
   * nowhere: it will be made again.
   */
  #unpinned({ toolName, method }: ToolCall, { tags }: Plan): Decision | null {
    if (method !== undefined || !this.isRecordRequired || !this.#policy.isApplicable) return null
    const answer = this.#options.pins.refusal(toolName)
    if (answer === null) return null
    if (typeof answer === 'string') return pinDecision(answer, this.#options.serverName)
    const decision = decideOnError(this.#policy, tags, answer.error)
    return decision.action === 'ALLOW' ? null : decision
  }

  /** Whatever the mode: a claim is no rule. Such a call counts nowhere either, since it will be made again. */
  #claimed({ toolName, method }: ToolCall, { tags }: Plan, args: CallArguments): Decision | null {
    const annotations = this.#options.annotations.of(toolName)
    const call = { toolName, tags, annotations, args: () => args.args }
    return method === undefined ? (this.#options.claims?.refusal(call) ?? null) : null
  }

  #planOf({ toolName, method }: ToolCall): Plan {
    const { serverName, annotations } = this.#options
    return method === undefined
      ? this.#policy.planFor(serverName, toolName, annotations.of(toolName))
      : this.#policy.planForMethod(serverName, method)
  }

  /** The decision of a call that has not been sent on cannot be written down: `decision_on_error` has to say. */
  decideAnew(judged: JudgedCall): void {
    judged.decision = this.#unwritten(judged.call).decision
    judged.isForwarded = isForwarded(judged.decision)
    if (judged.isForwarded || judged.end === null) return
    // What it has spent stays spent; but a dedupe rule must not take the next attempt for a repetition.
    this.#settle({ errorWindows: [], dedupes: judged.end.dedupes }, 'failed')
    judged.end = null
  }

  #unwritten(call: ToolCall): Verdict {
    const { tags } = this.#planOf(call)
    return plainVerdict(decideOnError(this.#policy, tags, 'decisions cannot be written down'))
  }

  /** A message that no policy can be asked about: refused, or only noted where the policy observes. */
  refuse(call: ToolCall, reasonCode: string, summary: string): JudgedCall {
    const decision: Decision = {
      action: 'BLOCK',
      rule_id: null,
      severity: 'warn',
      reason_code: reasonCode,
      summary,
      enforced: !this.isObserving,
    }
    const args = new CallArguments(call.argsBytes, this.#options.clock.wallMs())
    return this.#judged(call, args, plainVerdict(decision), this.#options.clock.monoMs())
  }

  #judged(call: ToolCall, args: CallArguments, verdict: Verdict, startMs: number): JudgedCall {
    const { decision } = verdict
    return {
      callId: this.#options.newId(),
      call,
      decision,
      isForwarded: isForwarded(decision),
      policy: this.#policyRef,
      startMs,
      end: verdict.end,
      tags: verdict.tags,
      tripped: verdict.tripped,
      counters: verdict.counters,
      args,
      names: null,
    }
  }

  /** Puts the beginning of a call and its decision on their way to the record: both, or neither. */
  announce(judged: JudgedCall): void {
    const { text, events, previews } = this.#options
    const { call, decision, args } = judged
    const { recorded, said } = this.#said(judged)
    const names = (judged.names = this.names(judged))
    const room = events.room('call', 2)
    if (room === 'none') return
    const { argsBytes: buffer } = call
    const preview: Preview =
      buffer === null || room === 'bare'
        ? PREVIEW_OMITTED
        : { field: 'args_preview', piece: { buffer, from: 0, to: buffer.length }, redact: previews }
    text.callStart(
      names,
      {
        transport: call.transport,
        bytesIn: call.bytesIn,
        method: call.method === undefined ? undefined : this.#shownTool(call.method),
        tags: judged.tags,
        argsStreamHash: call.argsStreamHash ?? args.streamHash,
      },
      preview,
    )
    text.decision(names, said, judged.counters)
    if (decision.hint !== undefined && decision.enforced) text.hintIssued(judged.callId, recorded.hint)
    for (const ruleId of judged.tripped) if (this.#breakers.has(ruleId)) text.breakerTrip(text.names(names), ruleId)
    events.added()
  }

  /** What is said of a decision; most calls have the one that the call before had. */
  #said({ decision, args }: JudgedCall): Said {
    if (this.#lastSaid?.decision === decision) return this.#lastSaid
    const shown = shownDecision(decision, args, this.#options.redact)
    const recorded = recordedDecision(shown)
    this.#lastSaid = { decision, shown, recorded, said: decisionText(recorded, this.#policyText) }
    return this.#lastSaid
  }

  /** The decision as the agent may be told: the record says the same. */
  shown(judged: JudgedCall): Decision {
    return this.#said(judged).shown
  }

  /** Words for the agent that are not about a decision. */
  clean(text: string): string {
    return this.#options.redact(text)
  }

  /** A tool may be called anything, a secret too. */
  #shownTool(name: string): string {
    if (this.#lastTool?.name !== name) this.#lastTool = { name, shown: this.#options.redact(name) }
    return this.#lastTool.shown
  }

  names(judged: JudgedCall): CallNames {
    return {
      call_id: judged.callId,
      server_name: this.#options.serverName,
      tool_name: this.#shownTool(judged.call.toolName),
      args_hash: judged.args.hash,
    }
  }

  /** The agent has been sent secrets of the server's; `judged` is the call that was answered so, where it is one. */
  exposed(secrets: readonly object[], judged: JudgedCall | null): void {
    const { text, events } = this.#options
    for (const secret of secrets) {
      if (events.room('other', 1) === 'none') return
      text.secretExposed(secret, judged === null ? null : text.names(this.names(judged)))
      events.added()
    }
  }

  /** Writes the end of a call that was announced. */
  finish(judged: JudgedCall, outcome: CallOutcome): void {
    const { text, events, redact, previews, clock } = this.#options
    if (judged.end !== null && outcome.status !== 'CANCELLED') this.#settle(judged.end, resultOf(outcome))
    const room = events.room('end', 1)
    if (room === 'none') return
    const latencyMs = Math.max(0, Math.ceil(clock.monoMs() - judged.startMs))
    const { result } = outcome
    const preview: Preview = isAbsent(result)
      ? result
      : room === 'bare'
        ? PREVIEW_OMITTED
        : { field: 'result_preview', piece: result, redact: previews }
    const error =
      outcome.error === undefined ? undefined : { ...outcome.error, message: firstLine(redact(outcome.error.message)) }
    const { status, bytesOut, resultStreamHash } = outcome
    text.callEnd(judged.names ?? this.names(judged), { status, latencyMs, bytesOut, error, resultStreamHash }, preview)
    events.added()
  }

  /** Counts how a call went whose end is in the record already: whoever cancels must not be able to hide an error from a breaker. */
  settle({ end }: JudgedCall, result: CallResult): void {
    if (end !== null) this.#settle(end, result)
  }

  /** The answer has gone to the client already: counters that cannot be written now are no reason to end the shim. */
  #settle(end: CallEnd, result: CallResult): void {
    try {
      this.#options.state.settle(end, result, this.#options.clock.monoMs())
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#options.note(`the end of a call could not be counted: ${error.message}`)
    }
  }
}

function resultOf({ status, isProven }: CallOutcome): CallResult {
  if (status === 'OK') return 'done'
  return isProven === true ? 'failed' : 'unknown'
}

function isForwarded({ action, enforced }: Decision): boolean {
  return action === 'ALLOW' || !enforced
}

function plainVerdict(decision: Decision): Verdict {
  return { decision, counters: NO_READINGS, writes: [], end: null, tags: NO_TAGS, tripped: NO_TAGS }
}

function breakersOf({ snapshot }: Policy): ReadonlySet<string> {
  return new Set(snapshot.rules.filter(({ kind }) => kind === 'breaker').map(({ rule_id }) => rule_id))
}

/** What went wrong, without the stack trace that some servers append. */
const firstLine = (text: string): string => shortText(text.split('\n', 1)[0] ?? '')
