// What is allowed in a bundle and surely not meant: rules that can never fire, limits that let nothing or everything through.
import { contradictionIn, covers } from './covers.ts'
import type { Rule, Snapshot } from './types.ts'

export interface Finding {
  /** `dead`: the rule can never decide or do anything. `warn`: it does something else than it looks like. `note`: good to know. */
  readonly level: 'dead' | 'warn' | 'note'
  readonly rule_id: string | null
  readonly message: string
}

export function lintSnapshot(snapshot: Snapshot): Finding[] {
  return [...lintDefaults(snapshot), ...snapshot.rules.flatMap((rule, i) => lintRule(snapshot, rule, i))]
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

function lintRule(snapshot: Snapshot, rule: Rule, index: number): Finding[] {
  const finding = (level: Finding['level'], message: string): Finding => ({ level, rule_id: rule.rule_id, message })
  if (!rule.enabled) return [finding('dead', 'is disabled')]
  const impossible = impossibleMatch(snapshot.rules, rule, index)
  if (impossible !== null) return [finding('dead', `can never match: ${impossible}`)]
  const shadow = shadowOf(snapshot.rules, rule, index)
  if (shadow !== null) return [finding('dead', shadow)]
  const idle = idleLimit(rule)
  if (idle !== null) return [finding('dead', idle)]
  const closed = closedLimit(rule)
  const hint = unsentHint(snapshot, rule)
  return [...(closed === null ? [] : [finding('warn', closed)]), ...(hint === null ? [] : [finding('note', hint)])]
}

function impossibleMatch(rules: readonly Rule[], { match }: Rule, index: number): string | null {
  const { risk_class, args } = match
  const above = tagged(rules.slice(0, index))
  if (risk_class !== undefined && !risk_class.some((name) => above.has(name))) {
    const below = tagged(rules.slice(index))
    const isBelow = risk_class.some((name) => below.has(name))
    return `no rule above it tags a call ${risk_class.join(' or ')}${isBelow ? '; tags of rules below do not count' : ''}`
  }
  return args === undefined ? null : contradictionIn(args)
}

function tagged(rules: readonly Rule[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => (rule.enabled && rule.kind === 'tag' ? rule.effect.tag.add_risk_class : [])))
}

/** Why another rule leaves nothing for this one to decide. */
function shadowOf(rules: readonly Rule[], rule: Rule, index: number): string | null {
  if (rule.kind === 'allow' || rule.kind === 'deny') {
    const shadow = rules
      .slice(0, index)
      .find((other, i) => (other.kind === 'allow' || other.kind === 'deny') && takesAllOf(rules, i, index))
    return shadow === undefined ? null : `is never reached: ${shadow.rule_id} above decides every call that it matches`
  }
  if (rule.kind === 'tag' || isTerminating(rule)) return null
  // A deny anywhere wins over a limit unless an allow comes before it.
  const at = rules.findIndex((other, i) => other.kind === 'deny' && takesAllOf(rules, i, index))
  if (at === -1 || rules.slice(0, at).some(({ enabled, kind }) => enabled && kind === 'allow')) return null
  return `never decides: ${rules[at]?.rule_id ?? ''} denies every call that it counts`
}

/** Whether rule `wide` matches all that rule `narrow` does. A class counts as known only from the tag rule on that gives it. */
function takesAllOf(rules: readonly Rule[], wide: number, narrow: number): boolean {
  const one = rules[wide]
  const other = rules[narrow]
  if (one === undefined || other === undefined || !one.enabled || !covers(one.match, other.match)) return false
  const between = tagged(rules.slice(wide, narrow))
  return one.match.risk_class === undefined || !one.match.risk_class.some((name) => between.has(name))
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
