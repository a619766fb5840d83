// One call against its plan: every rule is evaluated, then one decision is picked, then counters say what changes.
import { addTime } from './cells.ts'
import { forCall } from './decisions.ts'
import { isInHours } from '../match/hours.ts'
import { type CallFate, endOf, isOverLimit, trippedDecision, writesOf } from './meters.ts'
import type { Plan, Step } from './plan.ts'
import { Readings } from './readings.ts'
import type { CallEnd, CallFacts, CallResult, CellWrite, Counters, Decision, Locations, Verdict } from '../types.ts'

const NO_IDS: readonly string[] = []
const NO_WRITES: readonly CellWrite[] = []
const NO_LOCATIONS: Locations = new Map()

/** What one rule had to say, for `explain`. */
export type Notice = (
  step: Step,
  what: 'no match' | 'error' | 'ambiguous' | 'match' | 'over limit' | 'within limit',
) => void

/**
 * Among allow and deny the first that matches wins, in the order of the bundle. An accumulator over its limit overrides
 * an allow, also in that order; TERMINATE_RUN overrides everything; then comes the default of the bundle.
 *
 * A call of which a person is asked counts nowhere until the answer is there, however often it is made.
 *
 * A call that a deny rule refuses still counts in every budget, rate limit and breaker that it meets. A call that an
 * accumulator refuses spends nothing; breakers that count repeats have seen it all the same. A rule that cannot be
 * evaluated acts in its place as `decision_on_error` says: it denies, or it is passed over. One that looks at arguments
 * which can be read in two ways denies whatever that says: to let them pass would be to let the sender choose the reading.
 */
export function decide(plan: Plan, call: CallFacts, counters: Counters, nowMs: number, notice?: Notice): Verdict {
  if (plan.fixed !== null && notice === undefined) return plan.fixed
  const hash = plan.needsArgsHash && typeof call.args === 'object' ? call.args_hash : ''
  let ruled: Decision | null = null
  let terminating: Decision | null = null
  let overriding: Decision | null = null
  let tags: string[] | null = null
  let tripped: string[] | null = null
  let ending: Step[] | null = null
  const writes: CellWrite[] = []
  const readings = new Readings()
  for (const step of plan.steps) {
    const holds = step.isPlain || meets(step, call, tags ?? NO_IDS)
    if (holds === false) {
      notice?.(step, 'no match')
      continue
    }
    const { rule, isMeter } = step
    if (holds !== true) {
      notice?.(step, holds === 'unknown' ? 'error' : holds)
      const said = holds === 'unknown' ? step.onError : step.onAmbiguous
      if (isMeter) overriding ??= said
      else ruled ??= said
    } else if (isMeter) {
      const isTripped = isOverLimit(step, hash, counters, nowMs, writes, readings)
      notice?.(step, isTripped ? 'over limit' : 'within limit')
      if (isTripped) {
        tripped ??= []
        tripped.push(rule.rule_id)
        if (step.decision.action === 'TERMINATE_RUN') terminating ??= step.decision
        else overriding ??= trippedDecision(step, counters, nowMs)
      } else if (step.isToldEnd) {
        ending ??= []
        ending.push(step)
      }
    } else {
      notice?.(step, 'match')
      if (rule.kind === 'tag') {
        tags ??= []
        for (const name of rule.effect.tag.add_risk_class) tags.push(name)
      } else ruled ??= saidOf(step, call)
    }
  }
  // Nobody is asked about a call that a limit refuses anyway.
  const isIdleAsk = ruled?.ask !== undefined && overriding !== null
  const isDenied = ruled !== null && ruled.action !== 'ALLOW' && !isIdleAsk
  const picked = terminating ?? (isDenied ? ruled : overriding) ?? ruled ?? plan.fallback
  const outcome = outcomeOf(picked, picked === terminating || (!isDenied && picked === overriding))
  return {
    decision: forCall(picked, call),
    counters: readings.settle(outcome),
    writes: writesOf(writes, outcome),
    end: outcome === 'allowed' && ending !== null ? endOf(ending, hash, nowMs) : null,
    tags: tags === null ? plan.tags : [...new Set([...plan.tags, ...tags])],
    tripped: tripped ?? NO_IDS,
  }
}

/** A rule that asks a person says what was answered, once it was. */
function saidOf({ decision, onAnswer, rule }: Step, { approvals }: CallFacts): Decision {
  const answer = onAnswer === null ? undefined : approvals?.get(rule.rule_id)
  if (onAnswer === null || answer === undefined) return decision
  if (typeof answer === 'string') return onAnswer[answer]
  return { ...onAnswer.deny, summary: `${onAnswer.deny.summary}: ${answer.denial}` }
}

function outcomeOf({ action, ask, enforced }: Decision, isByMeter: boolean): CallFate {
  if (action === 'ALLOW') return 'allowed'
  if (ask !== undefined && enforced) return 'asked'
  return isByMeter ? 'refused' : 'denied'
}

/** Whether the rule speaks of this call; names are settled by the plan. */
function meets(step: Step, call: CallFacts, tags: readonly string[]): boolean | 'unknown' | 'ambiguous' {
  if (step.hours !== null && !isInHours(step.hours, call.wallMs)) return false
  if (step.classes !== null && !step.classes.some((name) => tags.includes(name))) return false
  if (step.isUnknown) return 'unknown'
  if (typeof call.args === 'string') {
    if (step.args === null) return !step.needsHash || isBreakerWithoutHash(step) ? true : 'unknown'
    return call.args === 'ambiguous' ? 'ambiguous' : 'unknown'
  }
  return step.args === null || step.args.holds(call.args, call.locations ?? NO_LOCATIONS)
}

/** A breaker that may pass over its repeats can still count errors. */
function isBreakerWithoutHash({ rule, onError }: Step): boolean {
  return onError === null && rule.kind === 'breaker'
}

/**
 * A forwarded call has ended. Unless it was done, it counts in the windows of error breakers. One that is known to have
 * failed makes dedupe forget it, so that the agent may try again; one that may have been done is not done twice.
 * Returns what to write.
 */
export function settle(end: CallEnd, result: CallResult, counters: Counters, nowMs: number): readonly CellWrite[] {
  if (result === 'done') return NO_WRITES
  const errors = end.errorWindows.map(({ key, windowMs, threshold }) => ({
    key,
    args: '',
    cell: addTime(counters.get(key, ''), windowMs, nowMs, threshold),
    expiresMs: nowMs + windowMs,
  }))
  if (result === 'unknown') return errors
  // Only its own entry: after the window another call may have been accepted under the same key.
  const forgotten = end.dedupes
    .filter(({ key, args, acceptedMs }) => counters.get(key, args)?.[0] === acceptedMs)
    .map(({ key, args }) => ({ key, args, cell: null, expiresMs: nowMs }))
  return [...errors, ...forgotten]
}
