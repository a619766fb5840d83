// The core that every adapter calls (seed 004 §7): resolves a call, decides and records it in one step, and counts how it went.
import type { Clock } from '../../clock.ts'
import { decideOnError } from '../../policy/decide/on-error.ts'
import { countedAtEnd, countedBy } from '../../policy/decide/counted.ts'
import { decide } from '../../policy/decide/decide.ts'
import { isAnswered, unaskedDecision } from '../../policy/decide/decisions.ts'
import type { Plan, Policy } from '../../policy/decide/plan.ts'
import { NO_READINGS } from '../../policy/decide/readings.ts'
import type { CallResult, Decision, Locations, Verdict } from '../../policy/types.ts'
import type { EventWriter, Outcome } from '../../runs/event-writer.ts'
import { momentOf } from '../../runs/run-moment.ts'
import type { BootMoment } from '../../runs/run-totals.ts'
import { pinDecision } from '../pins/pin-decisions.ts'
import type { ToolPins } from '../pins/tool-pins.ts'
import { refOf } from '../policy-ref.ts'
import type { Asking } from './asking.ts'
import { CallArguments } from './call-arguments.ts'
import type { CallWords } from './call-words.ts'
import type { ClaimCheck } from './claim-check.ts'
import {
  type AskLimits,
  type CallOutcome,
  type ClaimAnswer,
  type JudgedCall,
  NOTHING_CLAIMED,
  type ResolvedCall,
  type ToolCall,
} from './judged-call.ts'
import type { ToolAnnotations } from './tool-annotations.ts'

export interface GateOptions {
  readonly serverName: string
  readonly policy: Policy
  readonly events: EventWriter
  readonly words: CallWords
  /** What humans are asked of calls. */
  readonly asking: Asking
  /** What the server has said of its tools. */
  readonly annotations: ToolAnnotations
  /** Whether tools still are what a human has approved. */
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
const NEVER_ASKED: AskLimits = { mayAsk: false, mayHold: false }
const UNRECORDED = 'decisions cannot be recorded'

/** A verdict, and the question that the call asks or whose answer it goes by. */
interface Decided {
  readonly verdict: Verdict
  readonly approvalId?: string | undefined
  readonly isHeld?: boolean
}

export class CallGate {
  readonly words: CallWords
  readonly #options: GateOptions
  #policy: Policy
  #isTerminated = false

  constructor(options: GateOptions) {
    this.#options = options
    this.#policy = options.policy
    this.words = options.words
  }

  get policy(): Policy {
    return this.#policy
  }

  get isObserving(): boolean {
    return this.#policy.snapshot.mode === 'observe'
  }

  /** From the next call on; calls that are open keep the policy they were judged by. */
  usePolicy(policy: Policy): void {
    this.#policy = policy
    this.words.usePolicy(policy)
  }

  // -- resolve

  /** Everything that needs the disk or another store, before the record is locked. */
  resolve(call: ToolCall, limits: AskLimits): ResolvedCall {
    const { clock, locate, newId } = this.#options
    const policy = this.#policy
    const args = new CallArguments(call.argsBytes, clock.wallMs())
    const plan = this.#planOf(call)
    const base = { callId: newId(), call, args, policy, plan, startMs: clock.monoMs(), ...limits }
    const unpinned = this.#unpinned(call, plan)
    const claims = unpinned === null ? this.#claimed(call, plan, args) : NOTHING_CLAIMED
    const refused = unpinned ?? claims.refused
    let problem: string | null = null
    if (refused === null)
      try {
        if (plan.needsArgsHash) void args.hash
        if (plan.pathsOf !== null && typeof args.args === 'object') args.locations = locate(plan.pathsOf(args.args))
      } catch (error) {
        problem = this.#problemOf(call, error)
      }
    return { ...base, refused, problem, firstWrite: claims.firstWrite }
  }

  /** A message that no policy can be asked about: refused, or only noted where the policy observes. */
  malformed(call: ToolCall, reasonCode: string, summary: string): ResolvedCall {
    const { clock, newId } = this.#options
    const refused: Decision = {
      action: 'BLOCK',
      rule_id: null,
      severity: 'warn',
      reason_code: reasonCode,
      summary,
      enforced: !this.isObserving,
    }
    const args = new CallArguments(call.argsBytes, clock.wallMs())
    const base = { callId: newId(), call, args, policy: this.#policy, plan: this.#planOf(call) }
    return { ...base, startMs: clock.monoMs(), refused, problem: null, firstWrite: null, ...NEVER_ASKED }
  }

  /**
   * In mode *control* a tool that is not what a human has approved is not called. Like a call that is asked about it
   * counts nowhere: it will be made again.
   */
  #unpinned({ toolName, method }: ToolCall, { tags }: Plan): Decision | null {
    if (method !== undefined || !isRecordRequired(this.#policy) || !this.#policy.isApplicable) return null
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

  #problemOf({ toolName }: ToolCall, error: unknown): string {
    const why = error instanceof Error ? error.message : String(error)
    this.#options.note(`policy could not judge a call of ${JSON.stringify(this.words.shownTool(toolName))}: ${why}`)
    return why
  }

  // -- decide and record

  /** Decides the calls of a turn in their order and records that, before any of them is sent on. */
  decide(calls: readonly ResolvedCall[]): readonly JudgedCall[] | Promise<readonly JudgedCall[]> {
    const { events } = this.#options
    let judged: readonly JudgedCall[] | null = null
    let from = events.mark()
    const decideAll = (): void => {
      const now = this.#now()
      const { fold } = events
      fold.moveTo(now)
      fold.mark()
      from = events.mark()
      judged = calls.map((call) => this.#decided(call, now))
    }
    const settled = (outcome: Outcome): readonly JudgedCall[] => {
      if (outcome === 'failing') judged = this.#unrecorded(calls, judged, from, decideAll) ?? judged
      const all = judged ?? []
      for (const { decision } of all) this.#terminate(decision)
      return all
    }
    const outcome = events.turn(decideAll)
    return outcome instanceof Promise ? outcome.then(settled) : settled(outcome)
  }

  /** In *control* no call is sent on whose decision cannot be written; in the other modes decisions count in memory. */
  #unrecorded(
    calls: readonly ResolvedCall[],
    judged: readonly JudgedCall[] | null,
    from: ReturnType<EventWriter['mark']>,
    decideAll: () => void,
  ): readonly JudgedCall[] | null {
    const { events } = this.#options
    if (!calls.some(({ policy }) => isRecordRequired(policy))) {
      if (judged === null) decideAll()
      return null
    }
    // What a stream has taken and not passed on yet cannot be taken back, and counts.
    const isTakenBack = judged === null || events.takeBack(from, events.mark())
    if (judged !== null && isTakenBack) events.fold.undo()
    const now = this.#now()
    return calls.map((call) => {
      const { terminated } = events.fold
      const decision = terminated ?? decideOnError(call.policy, call.plan.tags, UNRECORDED)
      const one = this.#judged(call, { verdict: plainVerdict(decision) })
      if (isTakenBack) this.#announce(one, now)
      return one
    })
  }

  #decided(resolved: ResolvedCall, now: BootMoment): JudgedCall {
    const judged = this.#judged(resolved, this.#decision(resolved, now))
    if (!judged.isHeld) this.#announce(judged, now)
    return judged
  }

  #decision(resolved: ResolvedCall, now: BootMoment): Decided {
    const { call, policy, plan, refused } = resolved
    const { terminated } = this.#options.events.fold
    if (terminated !== null) return { verdict: plainVerdict(terminated) }
    if (refused !== null) return { verdict: plainVerdict(refused) }
    let { problem } = resolved
    if (problem === null)
      try {
        return this.#byPolicy(resolved, now)
      } catch (error) {
        problem = this.#problemOf(call, error)
      }
    return { verdict: plainVerdict(decideOnError(policy, plan.tags, `the policy could not be evaluated: ${problem}`)) }
  }

  #byPolicy(resolved: ResolvedCall, now: BootMoment): Decided {
    const { events, asking } = this.#options
    const { plan, args, policy, mayAsk, mayHold } = resolved
    const { fold } = events
    if (plan.asks.length === 0 || policy.snapshot.mode === 'observe') {
      const verdict = decide(plan, args, fold, now.monoMs)
      fold.refuseTooMany(verdict.writes, now.monoMs)
      return { verdict }
    }
    asking.readAlone()
    const said = fold.approvals.find(plan.asks, asking.callOf(resolved), now)
    args.approvals = said.byRule
    const verdict = decide(plan, args, fold, now.monoMs)
    fold.refuseTooMany(verdict.writes, now.monoMs)
    const { decision } = verdict
    if (isAnswered(decision)) return { verdict, approvalId: said.ids.get(decision.rule_id ?? '') }
    if (decision.ask === undefined || !decision.enforced || !mayAsk) return { verdict }
    const asked = asking.ask(resolved, decision)
    if ('why' in asked) return { verdict: { ...verdict, decision: unaskedDecision(decision, asked.why) } }
    return { verdict, approvalId: asked.id, isHeld: mayHold && asking.mayHold(decision) }
  }

  #judged(resolved: ResolvedCall, { verdict, approvalId, isHeld = false }: Decided): JudgedCall {
    const { callId, call, args, policy, startMs, firstWrite } = resolved
    const { decision, end, tags, tripped } = verdict
    const isForwarded = decision.action === 'ALLOW' || !decision.enforced
    const names = this.words.namesOf(callId, call, args)
    const counts = countedBy(verdict)
    const base = { callId, call, args, decision, isForwarded, isHeld, policy: refOf(policy), startMs, end, tags }
    return { ...base, tripped, counts, approvalId, firstWrite: isForwarded ? firstWrite : null, names }
  }

  #terminate(decision: Decision): void {
    if (this.#isTerminated || decision.action !== 'TERMINATE_RUN' || !decision.enforced) return
    this.#isTerminated = true
    this.#options.onTerminate(decision)
  }

  #now(): BootMoment {
    return momentOf(this.#options.clock)
  }

  // -- forward or answer

  /** The call goes to its server: from here on it may write. */
  sent({ firstWrite }: JudgedCall): void {
    if (firstWrite !== null) this.#options.claims?.claim(firstWrite)
  }

  /** A call that was held is answered as it was decided. */
  heldInVain(judged: JudgedCall): void {
    this.#announce(judged, this.#now())
  }

  #announce(judged: JudgedCall, now: BootMoment): void {
    const decision = this.words.announce(judged, now)
    if (judged.approvalId !== undefined) this.#options.asking.decided(decision)
  }

  /** Counts how a call went, and writes its end; it was announced. */
  finish(judged: JudgedCall, outcome: CallOutcome): void {
    const now = this.#now()
    const { end } = judged
    const counts =
      end === null || outcome.status === 'CANCELLED'
        ? []
        : countedAtEnd(end, resultOf(outcome), this.#options.events.fold, now.monoMs)
    this.words.finish(judged, outcome, counts, now)
  }

  /** Counts how a call went whose end is in the record already: a client that cancels must not be able to hide an error from a breaker. */
  settle(judged: JudgedCall, result: CallResult): void {
    if (judged.end === null) return
    const now = this.#now()
    const counts = countedAtEnd(judged.end, result, this.#options.events.fold, now.monoMs)
    if (counts.length > 0) this.words.settled(judged, counts, now)
  }
}

const isRecordRequired = ({ snapshot }: Policy): boolean => snapshot.mode === 'control'

function resultOf({ status, isProven }: CallOutcome): CallResult {
  if (status === 'OK') return 'done'
  return isProven === true ? 'failed' : 'unknown'
}

function plainVerdict(decision: Decision): Verdict {
  return { decision, counters: NO_READINGS, writes: [], end: null, tags: NO_TAGS, tripped: NO_TAGS }
}
