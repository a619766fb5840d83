// The decisions that a rule can lead to, made once when a plan is made; only suggested arguments and waiting times come from the call.
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { ARGS_DEPTH_MAX, ARGS_VALUES_MAX, MAX_INSPECT_BYTES, THROTTLE_MS_MAX } from '../../limits.ts'
import type { CallFacts, Decision, Hint, HintKind, JsonObject, Mode, Rule, Snapshot } from '../types.ts'

type Maker = (rule: Rule, mode: Mode) => Decision

function base(rule: Rule, mode: Mode, action: Decision['action']): Decision {
  const { reason_code, message } =
    rule.kind === 'tag' ? { reason_code: 'POLICY_ALLOW', message: 'tagged' } : rule.effect
  return {
    action,
    rule_id: rule.rule_id,
    severity: rule.severity,
    reason_code,
    summary: message,
    enforced: mode !== 'observe',
  }
}

/** In mode *control* a BLOCK whose rule has hint text goes out as that hint. */
function withHint(decision: Decision, mode: Mode, hint: Hint | null): Decision {
  if (decision.action === 'BLOCK' && mode === 'control' && hint !== null)
    return { ...decision, action: 'REJECT_WITH_HINT', hint }
  if (decision.action !== 'REJECT_WITH_HINT') return decision
  return { ...decision, hint: hint ?? hintOf(decision.summary, 'OTHER') }
}

function hintOf(text: string, kind: HintKind, retryAdvice: string | null = null): Hint {
  return { hint_text: text, suggested_args: null, retry_advice: retryAdvice, hint_kind: kind }
}

/** What a rule says when it decides: an allow or deny that matched, an accumulator over its limit. */
export const decisionOf: Maker = (rule, mode) => {
  switch (rule.kind) {
    case 'tag':
    case 'allow':
      return base(rule, mode, 'ALLOW')
    case 'deny':
      if (rule.effect.action === 'ASK') return askDecision(rule, mode)
      return withHint(base(rule, mode, rule.effect.action), mode, rule.effect.hint)
    case 'budget': {
      const { on_exceed, hint_text } = rule.effect.budget
      return accumulated(rule, mode, on_exceed, hint_text, 'BUDGET', rule.effect.reason_code)
    }
    case 'rate_limit': {
      const { on_limit, hint_text, backoff_ms } = rule.effect.rate_limit
      const decision = accumulated(rule, mode, on_limit, hint_text, 'RATE', '')
      return decision.action === 'THROTTLE' ? { ...decision, backoff_ms } : decision
    }
    case 'breaker': {
      const { on_trip, hint_text, terminate_code } = rule.effect.breaker
      return accumulated(rule, mode, on_trip, hint_text, 'SAFETY', terminate_code)
    }
    case 'dedupe': {
      const { on_duplicate, hint_text } = rule.effect.dedupe
      return accumulated(rule, mode, on_duplicate, hint_text, 'SAFETY', '')
    }
  }
}

/** Seed 004 §7.4 forbids new kinds of decision, so a question to a person is a hint: come back. */
function askDecision(rule: Extract<Rule, { readonly kind: 'deny' }>, mode: Mode): Decision {
  const { hint, ask, message } = rule.effect
  const asked: Hint = {
    hint_text: 'a person was asked and has not answered yet',
    suggested_args: null,
    retry_advice: 'the same call may be made again: it passes once it is allowed, and asking costs nothing',
    hint_kind: 'SAFETY',
  }
  return {
    ...base(rule, mode, 'REJECT_WITH_HINT'),
    hint: hint ?? asked,
    ask: { question: ask?.question ?? message, wait_ms: ask?.wait_ms ?? 0, rule_hash: ruleHash(rule) },
  }
}

/** Of the rule as it stands: whoever answers, answers for what it says now. */
function ruleHash(rule: Rule): string {
  return canonicalHash(canonicalJson(rule))
}

/** What an asking rule says once a person has answered. */
export function answeredDecision(rule: Rule, mode: Mode, answer: 'allow' | 'deny'): Decision {
  const isAllowed = answer === 'allow'
  return {
    ...base(rule, mode, isAllowed ? 'ALLOW' : 'BLOCK'),
    reason_code: isAllowed ? 'APPROVED' : 'APPROVAL_DENIED',
    summary: isAllowed ? 'approved by a human' : 'denied by a human',
  }
}

function accumulated(
  rule: Rule,
  mode: Mode,
  action: Decision['action'],
  hintText: string | null,
  hintKind: HintKind,
  terminateCode: string,
): Decision {
  const decision = base(rule, mode, action)
  if (action === 'TERMINATE_RUN')
    return { ...decision, terminate: { terminate_code: terminateCode, terminate_message: decision.summary } }
  const isHintGiven = hintText !== null || action === 'REJECT_WITH_HINT'
  return withHint(decision, mode, isHintGiven ? hintOf(hintText ?? decision.summary, hintKind) : null)
}

/** The call would be asked about, and cannot be. Nothing has been counted. */
export function unaskedDecision(decision: Decision, why: string): Decision {
  const { ask: _, ...unasked } = decision
  const hint = hintOf(
    `nobody was asked: ${why}`,
    'SAFETY',
    'the same call may be made again later; asking costs nothing',
  )
  return { ...unasked, reason_code: 'APPROVAL_UNAVAILABLE', hint }
}

/** True of what a person has said, and not of what the rule says by itself. */
export function isAnswered({ ask, reason_code }: Decision): boolean {
  return ask === undefined && (reason_code === 'APPROVED' || reason_code === 'APPROVAL_DENIED')
}

/** The rule could not be evaluated and `decision_on_error` is BLOCK. */
export function errorDecision(rule: Rule, mode: Mode, isNameTooLong: boolean): Decision {
  return {
    action: 'BLOCK',
    rule_id: rule.rule_id,
    severity: rule.severity,
    reason_code: isNameTooLong ? 'NAME_TOO_LONG' : 'ARGS_UNINSPECTABLE',
    summary: `${rule.rule_id} needs ${isNameTooLong ? 'a name that is short enough to be matched' : `arguments that can be inspected: at most ${MAX_INSPECT_BYTES} bytes, ${ARGS_DEPTH_MAX} levels deep and ${ARGS_VALUES_MAX} values, numbers that a double holds, whole characters`}`,
    enforced: mode !== 'observe',
  }
}

/** The rule looks at arguments that can be read in two ways. */
export function ambiguousDecision(rule: Rule, mode: Mode): Decision {
  return {
    action: 'BLOCK',
    rule_id: rule.rule_id,
    severity: rule.severity,
    reason_code: 'ARGS_AMBIGUOUS',
    summary: `${rule.rule_id} looks at arguments that can be read in two ways: a key is there twice, differs only in letter case, or has characters that are not seen`,
    enforced: mode !== 'observe',
  }
}

/** No allow or deny rule matched. The one place where that default becomes a decision. */
export function defaultDecision({ mode, defaults }: Snapshot): Decision {
  const isAllowed = defaults.decision_on_no_match === 'ALLOW'
  return {
    action: isAllowed ? 'ALLOW' : 'BLOCK',
    rule_id: null,
    severity: isAllowed ? 'info' : 'warn',
    reason_code: isAllowed ? 'DEFAULT_ALLOW' : 'DEFAULT_BLOCK',
    summary: isAllowed ? 'no rule speaks against it' : 'no rule allows it',
    enforced: mode !== 'observe',
  }
}

export function notApplicable({ mode }: Snapshot): Decision {
  return {
    action: 'ALLOW',
    rule_id: null,
    severity: 'info',
    reason_code: 'POLICY_NOT_APPLICABLE',
    summary: 'the selectors of the policy do not name this run',
    enforced: mode !== 'observe',
  }
}

/** Lays the rule's suggested arguments over the call's own; without the call's own there is nothing whole to suggest. */
export function forCall(decision: Decision, call: CallFacts): Decision {
  const { hint } = decision
  if (hint === undefined || hint.suggested_args === null) return decision
  const merged = typeof call.args === 'string' ? null : { ...(call.args as JsonObject), ...hint.suggested_args }
  return { ...decision, hint: { ...hint, suggested_args: merged } }
}

/** The rule may ask for more patience than the bucket does, never for less. */
export function withWait(decision: Decision, waitMs: number): Decision {
  const { hint, backoff_ms } = decision
  const wait = Math.min(Math.ceil(waitMs), THROTTLE_MS_MAX)
  if (hint === undefined) return { ...decision, backoff_ms: Math.max(backoff_ms ?? 0, wait) }
  const advice = Number.isFinite(waitMs) ? `retry after ${wait} ms` : 'do not retry: this limit does not refill'
  return { ...decision, hint: { ...hint, retry_advice: advice } }
}
