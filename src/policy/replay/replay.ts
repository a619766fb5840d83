// What a policy would have decided over a recorded run, call by call in the order of the record; and where that cannot be known, why.
import { REPLAY_OPEN_MAX } from '../../limits.ts'
import { decideOnError } from '../decide/on-error.ts'
import { HeimdallError } from '../../errors.ts'
import { writtenLocations } from '../match/locations.ts'
import { CALL_METHOD, openPolicy, type Plan, type Policy, type Step } from '../decide/plan.ts'
import type { CallFacts, Decision, Snapshot, Subject } from '../types.ts'
import { RecordedAnswers } from './answers.ts'
import {
  isOfTheShim,
  type RecordedAnswer,
  type RecordedCall,
  type RecordedQuestion,
  type RecordedResult,
} from './recorded.ts'
import { type Known, plansOf, readingsOf, unsureSteps } from './unsure.ts'
import { type Ends, Worlds } from './worlds.ts'

/** Why nobody can say what a call would have got. */
export type Doubt = 'name' | 'arguments' | 'paths' | 'annotations' | 'answer' | 'counters' | 'terminated'

export type Replayed =
  | { readonly isKnown: true; readonly decision: Decision }
  | { readonly isKnown: false; readonly doubts: readonly Doubt[]; readonly possible: readonly Decision[] }

/** One thing that may have been: a plan with every doubt settled one way, and the call as it then was. */
interface Possibility {
  readonly plan: Plan
  readonly facts: CallFacts
}

export class RunReplay {
  readonly #snapshot: Snapshot
  readonly #known: Known
  readonly #worlds = new Worlds()
  readonly #answers: RecordedAnswers
  readonly #policies = new Map<string, Policy>()
  readonly #open = new Map<string, Ends>()
  #terminated: Decision | null = null
  /** The run may have been ended, and everything after it refused. */
  #isPerhapsTerminated = false
  /** A call has counted that nobody can name: no counter is known any more. */
  #isBlind = false

  constructor(snapshot: Snapshot, known: Known) {
    this.#snapshot = snapshot
    this.#known = known
    this.#answers = new RecordedAnswers(snapshot.policy_hash)
  }

  ask(question: RecordedQuestion): void {
    this.#answers.ask(question)
  }

  answer(answer: RecordedAnswer): void {
    this.#answers.answer(answer)
  }

  call(call: RecordedCall): Replayed {
    const { mode } = this.#snapshot
    if (isOfTheShim(call.decision)) {
      const { action, rule_id, reason_code } = call.decision
      return known({ action, rule_id, reason_code, severity: 'warn', summary: '', enforced: mode !== 'observe' })
    }
    if (this.#terminated !== null) return known(this.#terminated)
    if (call.isNameHidden) {
      this.#isBlind = true
      return { isKnown: false, doubts: ['name'], possible: [] }
    }
    const policy = this.#policyOf(call.subject)
    if (call.method !== null && call.method !== CALL_METHOD && policy.governs(call.method) !== true)
      return known(UNGOVERNED)
    return this.#judged(policy, call)
  }

  /** The call has ended; nothing happens to one that was refused, or whose end changes nothing. */
  end(callId: string, result: RecordedResult, atMs: number): void {
    const ends = this.#open.get(callId)
    if (ends === undefined) return
    this.#open.delete(callId)
    this.#worlds.settle(ends, result, atMs)
  }

  #judged(policy: Policy, call: RecordedCall): Replayed {
    const plans = plansOf(policy, call, this.#known)
    const all: Possibility[] = []
    const doubts = new Set<Doubt>(plans.length > 1 ? ['annotations'] : [])
    const unsure: Step[] = []
    let first: Possibility | undefined
    for (const plan of plans) {
      const places = unsureSteps(plan, call, this.#known)
      if (places.size > 0) doubts.add(call.args === 'unseen' ? 'arguments' : 'paths')
      for (const i of places) unsure.push(plan.steps[i] as Step)
      const ways = this.#factsOf(plan, call)
      if (ways.length > 1) doubts.add(call.args === 'unseen' && call.argsHash === '' ? 'arguments' : 'answer')
      for (const reading of readingsOf(plan, places)) for (const facts of ways) all.push({ plan: reading, facts })
      first ??= all[0]
    }
    const base = first as Possibility
    try {
      return this.#weighed(call, plans, base, all, unsure, doubts)
    } catch (error) {
      if (!(error instanceof HeimdallError) || error.code !== 'POLICY_COUNTERS_FULL') throw error
      return known(decideOnError(policy, base.plan.tags, error.message))
    }
  }

  #weighed(
    call: RecordedCall,
    plans: readonly Plan[],
    base: Possibility,
    all: readonly Possibility[],
    unsure: readonly Step[],
    doubts: Set<Doubt>,
  ): Replayed {
    const nowMs = call.atMs
    const found = new Map<string, Decision>()
    for (const { plan, facts } of all)
      for (const { decision } of this.#worlds.decide(plan, facts, nowMs)) found.set(keyOf(decision), decision)
    const decisions = [...found.values()]
    const isStateful = plans.some((plan) => plan.isStateful)
    if (isStateful && (this.#isBlind || plans.some((plan) => this.#worlds.isLoose(plan))))
      if (!decisions.every((decision) => this.#isPlainDeny(decision))) doubts.add('counters')
    if (this.#isPerhapsTerminated) doubts.add('terminated')
    const [decision] = decisions
    const isKnown =
      decisions.length === 1 && decision !== undefined && !doubts.has('counters') && !this.#isPerhapsTerminated
    if (isKnown && plans.length === 1) {
      this.#keep(call, this.#worlds.count(base.plan, base.facts, nowMs, unsure))
    } else {
      const steps = new Map(plans.flatMap(({ steps }) => steps).map((step) => [step.rule.rule_id, step]))
      this.#keep(call, this.#worlds.countPerhaps([...steps.values()], base.facts, nowMs))
    }
    if (decisions.some((one) => one.action === 'TERMINATE_RUN' && one.enforced)) {
      if (isKnown) this.#terminated = decision
      else this.#isPerhapsTerminated = true
    }
    if (isKnown) return known(decision)
    if (doubts.size === 0) doubts.add('counters')
    return { isKnown: false, doubts: [...doubts], possible: decisions }
  }

  /** No limit changes what a deny rule says. */
  #isPlainDeny({ rule_id, ask }: Decision): boolean {
    return ask === undefined && this.#snapshot.rules.some((rule) => rule.rule_id === rule_id && rule.kind === 'deny')
  }

  #keep({ callId }: RecordedCall, ends: Ends): void {
    if (ends.least === null && ends.most === null) return
    // A record that was cut may never tell of an end.
    if (this.#open.size >= REPLAY_OPEN_MAX) {
      const [oldest] = this.#open.keys()
      if (oldest !== undefined) this.#open.delete(oldest)
    }
    this.#open.set(callId, ends)
  }

  /** The call in every way that the record allows: what its arguments are called, and what persons had said. */
  #factsOf(plan: Plan, call: RecordedCall): readonly CallFacts[] {
    const { args, argsHash: args_hash, atMs: wallMs } = call
    // Steps that look at unseen arguments are settled one way or the other; nothing else looks at them.
    const shown: readonly CallFacts['args'][] =
      args !== 'unseen' ? [args] : args_hash === '' ? ['uninspectable', 'ambiguous'] : [{}]
    const ways = this.#snapshot.mode === 'observe' ? [new Map<string, 'allow'>()] : this.#answers.of(call, plan)
    return shown.flatMap((one) => {
      const paths = plan.pathsOf !== null && typeof one === 'object' ? plan.pathsOf(one) : []
      const locations = writtenLocations(paths)
      return ways.map((approvals): CallFacts => ({ wallMs, args: one, args_hash, approvals, locations }))
    })
  }

  #policyOf(subject: Subject): Policy {
    const key = JSON.stringify(subject)
    let policy = this.#policies.get(key)
    if (policy === undefined) this.#policies.set(key, (policy = openPolicy(this.#snapshot, subject)))
    return policy
  }
}

const known = (decision: Decision): Replayed => ({ isKnown: true, decision })

/** A request that is no tool call and that no rule of this policy names. */
const UNGOVERNED: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'NOT_GOVERNED',
  summary: 'no rule names such requests',
  enforced: true,
}

function keyOf({ action, rule_id, reason_code }: Decision): string {
  return JSON.stringify([action, rule_id, reason_code])
}
