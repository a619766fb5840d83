// What is allowed in a bundle and surely not meant: rules that can never fire, limits that let nothing or everything through.
import { contradictionIn } from './covers.ts'
import { Shadows } from './shadows.ts'
import type { Rule, Snapshot } from '../types.ts'

export interface Finding {
  /** `dead`: the rule can never decide or do anything. `warn`: it does something else than it looks like. `note`: good to know. */
  readonly level: 'dead' | 'warn' | 'note'
  readonly rule_id: string | null
  readonly message: string
}

export function lintSnapshot(snapshot: Snapshot): Finding[] {
  const shadows = new Shadows(snapshot.rules)
  const firstAllow = snapshot.rules.findIndex(({ enabled, kind }) => enabled && kind === 'allow')
  const findings = [
    ...lintDefaults(snapshot),
    ...snapshot.rules.flatMap((rule, i) => lintRule(snapshot, rule, i, { shadows, firstAllow })),
  ]
  if (!shadows.isComplete)
    findings.push({ level: 'note', rule_id: null, message: 'so many rules are alike that not all were compared' })
  return findings
}

interface Around {
  readonly shadows: Shadows
  /** Place of the first allow rule; -1 when there is none. */
  readonly firstAllow: number
}

function lintDefaults({ mode, defaults, rules }: Snapshot): Finding[] {
  const findings: Finding[] = []
  const say = (level: Finding['level'], message: string): number => findings.push({ level, rule_id: null, message })
  if (mode === 'observe') say('note', 'mode observe: decisions are recorded, and every call is forwarded')
  if (rules.length === 0) say('warn', 'the bundle has no rules')
  if (defaults.fail_open_read_tools && defaults.decision_on_error === 'ALLOW')
    say('note', 'fail_open_read_tools changes nothing while decision_on_error is ALLOW')
  else if (defaults.fail_open_read_tools && !tagged(rules).has('read_like'))
    say('warn', 'fail_open_read_tools needs a tag rule that adds read_like')
  return findings
}

function lintRule(snapshot: Snapshot, rule: Rule, index: number, around: Around): Finding[] {
  const finding = (level: Finding['level'], message: string): Finding => ({ level, rule_id: rule.rule_id, message })
  if (!rule.enabled) return [finding('dead', 'is disabled')]
  const impossible = impossibleMatch(around.shadows, rule, index)
  if (impossible !== null) return [finding('dead', `can never match: ${impossible}`)]
  const shadow = shadowOf(snapshot.rules, rule, index, around)
  if (shadow !== null) return [finding('dead', shadow)]
  const idle = idleLimit(rule)
  if (idle !== null) return [finding('dead', idle)]
  const unbelieved = unbelievedAnnotations(snapshot, rule)
  if (unbelieved !== null) return [finding('warn', unbelieved)]
  const closed = closedLimit(rule)
  const hint = unsentHint(snapshot, rule)
  return [...(closed === null ? [] : [finding('warn', closed)]), ...(hint === null ? [] : [finding('note', hint)])]
}

function impossibleMatch(shadows: Shadows, { match }: Rule, index: number): string | null {
  const { risk_class, args } = match
  if (risk_class !== undefined && !shadows.isGiven(risk_class, 0, index)) {
    const isBelow = shadows.isGiven(risk_class, index, Infinity)
    return `no rule above it tags a call ${risk_class.join(' or ')}${isBelow ? '; tags of rules below do not count' : ''}`
  }
  return args === undefined ? null : contradictionIn(args)
}

function tagged(rules: readonly Rule[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => (rule.enabled && rule.kind === 'tag' ? rule.effect.tag.add_risk_class : [])))
}

/** Why another rule leaves nothing for this one to decide. */
function shadowOf(rules: readonly Rule[], rule: Rule, index: number, { shadows, firstAllow }: Around): string | null {
  if (rule.kind === 'allow' || rule.kind === 'deny') {
    const above = rules[shadows.firstOver(index, index, () => true)]
    return above === undefined ? null : `is never reached: ${above.rule_id} above decides every call that it matches`
  }
  if (rule.kind === 'tag' || isTerminating(rule)) return null
  // A deny anywhere wins over a limit unless an allow comes before it; one that asks may still let the call pass.
  const at = shadows.firstOver(index, rules.length, isFinalDeny)
  if (at === -1 || (firstAllow !== -1 && firstAllow < at)) return null
  return `never decides: ${rules[at]?.rule_id ?? ''} denies every call that it counts`
}

function isFinalDeny(rule: Rule): boolean {
  return rule.kind === 'deny' && rule.effect.action !== 'ASK'
}

function isTerminating(rule: Rule): boolean {
  return (
    (rule.kind === 'budget' && rule.effect.budget.on_exceed === 'TERMINATE_RUN') ||
    (rule.kind === 'breaker' && rule.effect.breaker.on_trip === 'TERMINATE_RUN')
  )
}

/** A limit that nothing can reach. */
function idleLimit(rule: Rule): string | null {
  if (rule.kind === 'budget') {
    const { limit_calls, cost_units_per_call } = rule.effect.budget
    if (limit_calls === null && cost_units_per_call === 0) return 'never fires: a call costs 0 units'
  }
  if (rule.kind === 'rate_limit' && rule.effect.rate_limit.cost_tokens_per_call === 0)
    return 'never fires: a call costs 0 tokens'
  return null
}

/** A limit that lets no call through. */
function closedLimit(rule: Rule): string | null {
  if (rule.kind === 'budget') {
    const { limit_calls, limit_cost_units, cost_units_per_call } = rule.effect.budget
    const isClosed = limit_calls === 0 || (limit_cost_units !== null && limit_cost_units < cost_units_per_call)
    return isClosed ? 'refuses every call: the limit is below the cost of one' : null
  }
  if (rule.kind === 'rate_limit') {
    const { capacity, cost_tokens_per_call, refill_tokens } = rule.effect.rate_limit
    if (capacity < cost_tokens_per_call) return 'refuses every call: the bucket holds less than one call costs'
    return refill_tokens === 0 ? 'is never refilled: it acts as a budget' : null
  }
  if (rule.kind === 'breaker' && rule.effect.breaker.repeat_threshold === 1)
    return 'refuses every call: a threshold of 1 counts the first call as a repeat'
  return null
}

function unbelievedAnnotations({ trust_annotations }: Snapshot, { match }: Rule): string | null {
  if (match.annotations === undefined || trust_annotations !== undefined) return null
  return 'asks what servers say of their tools, and trust_annotations names no server: every tool counts as dangerous'
}

function unsentHint({ mode }: Snapshot, rule: Rule): string | null {
  if (mode === 'control') return null
  const isUnsent =
    (rule.kind === 'deny' && rule.effect.action === 'BLOCK' && rule.effect.hint !== null) ||
    (rule.kind === 'budget' && rule.effect.budget.on_exceed === 'BLOCK' && rule.effect.budget.hint_text !== null) ||
    (rule.kind === 'rate_limit' &&
      rule.effect.rate_limit.on_limit === 'BLOCK' &&
      rule.effect.rate_limit.hint_text !== null) ||
    (rule.kind === 'breaker' && rule.effect.breaker.on_trip === 'BLOCK' && rule.effect.breaker.hint_text !== null) ||
    (rule.kind === 'dedupe' && rule.effect.dedupe.on_duplicate === 'BLOCK' && rule.effect.dedupe.hint_text !== null)
  return isUnsent ? 'its hint is sent only in mode control; here the call is blocked without it' : null
}
