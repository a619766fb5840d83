// The core that every adapter asks (seed 004 §7): judges a call, and counts how it went.
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import type { PolicyRef } from '../../events/types.ts'
import { decideOnError } from '../../policy/decide/on-error.ts'
import type { Plan, Policy } from '../../policy/decide/plan.ts'
import { NO_READINGS } from '../../policy/decide/readings.ts'
import type { CallEnd, CallResult, Decision, Locations, Verdict } from '../../policy/types.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import { pinDecision } from '../pins/pin-decisions.ts'
import type { ToolPins } from '../pins/tool-pins.ts'
import { refOf } from '../policy-ref.ts'
import type { PolicyState } from '../policy-state.ts'
import type { Asking } from './asking.ts'
import { CallArguments } from './call-arguments.ts'
import type { CallWords } from './call-words.ts'
import type { ClaimCheck } from './claim-check.ts'
import {
  type CallOutcome,
  type ClaimAnswer,
  type FirstWrite,
  type JudgedCall,
  NOTHING_CLAIMED,
  type ToolCall,
} from './judged-call.ts'
import type { ToolAnnotations } from './tool-annotations.ts'

export interface GateOptions {
  readonly serverName: string
  readonly policy: Policy
  readonly state: PolicyState
  readonly events: EventWriter
  readonly words: CallWords
  /** What persons have said of calls. */
  readonly asking: Asking
  /** What the server has said of its tools. */
  readonly annotations: ToolAnnotations
  /** Whether tools still are what a person knows. */
  readonly pins: ToolPins
  /** Who holds what a call would write; nothing where that cannot be told. */
  readonly claims: ClaimCheck | undefined
  /** Where paths in arguments lead. */
  readonly locate: (texts: readonly string[]) => Locations
  readonly clock: Clock
  readonly newId: () => string
  /** The run is to end: called once, when a call first meets TERMINATE_RUN. */
  readonly onTerminate: (decision: Decision) => void
  readonly note: (line: string) => void
}

const NO_TAGS: readonly string[] = []

export class CallGate {
  readonly words: CallWords
  readonly #options: GateOptions
  #policy: Policy
  #policyRef: PolicyRef
  #terminated: Decision | null = null

  constructor(options: GateOptions) {
    this.#options = options
    this.#policy = options.policy
    this.#policyRef = refOf(options.policy)
    this.words = options.words
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
    this.words.usePolicy(policy)
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
    const unpinned = this.#unpinned(call, plan)
    const claims = unpinned === null ? this.#claimed(call, plan, args) : NOTHING_CLAIMED
    const refused = unpinned ?? claims.refused
    if (this.isRecordRequired && this.#options.events.isFailing) verdict = this.#unwritten(call)
    else if (refused !== null) verdict = plainVerdict(refused)
    else {
      try {
        // Before any transaction begins: the disk is asked about links.
        if (plan.pathsOf !== null && typeof args.args === 'object')
          args.locations = this.#options.locate(plan.pathsOf(args.args))
        verdict = this.#decided(plan, call, args, nowMs)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        this.#options.note(
          `policy could not judge a call of ${JSON.stringify(this.words.shownTool(call.toolName))}: ${why}`,
        )
        verdict = plainVerdict(decideOnError(this.#policy, plan.tags, `the policy could not be evaluated: ${why}`))
      }
    }
    const { decision } = verdict
    if (decision.action === 'TERMINATE_RUN' && decision.enforced) {
      this.#terminated = decision
      this.#options.onTerminate(decision)
    }
    return this.#judged(call, args, verdict, nowMs, claims.firstWrite)
  }

  /** The call goes to its server: from here on it may write. */
  sent({ firstWrite }: JudgedCall): void {
    if (firstWrite !== null) this.#options.claims?.claim(firstWrite)
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
  #claimed({ toolName, method }: ToolCall, { tags }: Plan, args: CallArguments): ClaimAnswer {
    const annotations = this.#options.annotations.of(toolName)
    const call = { toolName, tags, annotations, args: () => args.args }
    return (method === undefined ? this.#options.claims?.judge(call) : undefined) ?? NOTHING_CLAIMED
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

  /** What the calls of this turn have spent is spent from here on. Returns why it could not be, or null. */
  endTurn(): string | null {
    const { state, clock, note } = this.#options
    try {
      state.endTurn(clock.monoMs())
      return null
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      note(`calls could not be counted: ${why}`)
      return why
    }
  }

  /** A call that has not been sent on, of a turn that could not be counted: `decision_on_error` has to say. */
  decideUncounted(judged: JudgedCall, why: string): void {
    const { tags } = this.#planOf(judged.call)
    judged.decision = decideOnError(this.#policy, tags, `the policy could not be evaluated: ${why}`)
    judged.isForwarded = isForwarded(judged.decision)
    judged.end = null
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

  #judged(
    call: ToolCall,
    args: CallArguments,
    verdict: Verdict,
    startMs: number,
    firstWrite: FirstWrite | null = null,
  ): JudgedCall {
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
      firstWrite,
      names: null,
    }
  }

  /** Counts how a call went, and writes its end; it was announced. */
  finish(judged: JudgedCall, outcome: CallOutcome): void {
    if (judged.end !== null && outcome.status !== 'CANCELLED') this.#settle(judged.end, resultOf(outcome))
    this.words.finish(judged, outcome)
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
