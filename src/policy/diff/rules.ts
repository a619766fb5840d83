// Differences between the rules of two policies, rule by rule id: added, removed, moved, changed, and what that means.
import { canonicalJson } from '../../canonical/canonical.ts'
import { covers } from '../bundle/covers.ts'
import type { Rule, Snapshot } from '../types.ts'
import type { PolicyChange } from './change.ts'
import { effectChanges } from './rule-effect.ts'

export function ruleChanges(before: Snapshot, after: Snapshot): PolicyChange[] {
  const was = new Map(before.rules.map((rule) => [rule.rule_id, rule]))
  const is = new Map(after.rules.map((rule) => [rule.rule_id, rule]))
  return [
    ...before.rules.flatMap((rule) => (is.has(rule.rule_id) ? [] : [removed(rule, before, after)])),
    ...after.rules.flatMap((rule, i) => {
      const old = was.get(rule.rule_id)
      return old === undefined ? [added(rule, after.rules.slice(i + 1), after)] : changed(old, rule, i, before, after)
    }),
    ...moves(before, after),
  ]
}

/** Whether anything that stands behind an allow could have refused what it lets pass. */
function isLoosening(rest: readonly Rule[], { defaults }: Snapshot): boolean {
  return defaults.decision_on_no_match === 'BLOCK' || rest.some(({ kind, enabled }) => enabled && kind === 'deny')
}

function added(rule: Rule, rest: readonly Rule[], after: Snapshot): PolicyChange {
  const change = { what: 'rule', change: 'added', rule_id: rule.rule_id } as const
  if (!rule.enabled) return { ...change, severity: 'info', reason: `a new ${rule.kind} rule, which is disabled` }
  switch (rule.kind) {
    case 'allow':
      return isLoosening(rest, after)
        ? {
            ...change,
            severity: 'critical',
            reason: 'a new allow rule lets calls pass that rules below it, or the default, refuse',
          }
        : { ...change, severity: 'info', reason: 'a new allow rule, below which nothing refuses' }
    case 'tag':
      return isClassUsed(rule, after, 'allow')
        ? {
            ...change,
            severity: 'critical',
            reason: `a new tag rule gives ${classesOf(rule)}, which an allow rule goes by`,
          }
        : { ...change, severity: 'info', reason: `a new tag rule gives ${classesOf(rule)}` }
    case 'deny':
    case 'budget':
    case 'rate_limit':
    case 'breaker':
    case 'dedupe':
      return { ...change, severity: 'warn', reason: `a new ${rule.kind} rule refuses calls that passed` }
  }
}

function removed(rule: Rule, before: Snapshot, after: Snapshot): PolicyChange {
  const change = { what: 'rule', change: 'removed', rule_id: rule.rule_id } as const
  if (!rule.enabled) return { ...change, severity: 'info', reason: `a ${rule.kind} rule that was disabled is gone` }
  switch (rule.kind) {
    case 'allow':
      return isLoosening(after.rules, after)
        ? { ...change, severity: 'warn', reason: 'an allow rule is gone: what it let pass may be refused' }
        : { ...change, severity: 'info', reason: 'an allow rule is gone, and nothing refuses in its place' }
    case 'tag':
      return isClassUsed(rule, before, 'deny')
        ? {
            ...change,
            severity: 'critical',
            reason: `nothing gives ${classesOf(rule)} in its place, which rules that refuse go by`,
          }
        : { ...change, severity: 'warn', reason: `a tag rule that gave ${classesOf(rule)} is gone` }
    case 'deny':
    case 'budget':
    case 'rate_limit':
    case 'breaker':
    case 'dedupe':
      return { ...change, severity: 'critical', reason: `a ${rule.kind} rule is gone: what it refused may pass` }
  }
}

function classesOf(rule: Extract<Rule, { readonly kind: 'tag' }>): string {
  return rule.effect.tag.add_risk_class.join(', ')
}

function isClassUsed(
  rule: Extract<Rule, { readonly kind: 'tag' }>,
  { rules }: Snapshot,
  by: 'allow' | 'deny',
): boolean {
  const given = rule.effect.tag.add_risk_class
  return rules.some(
    ({ enabled, kind, match }) =>
      enabled &&
      kind !== 'tag' &&
      (kind === 'allow') === (by === 'allow') &&
      match.risk_class?.some((name) => given.includes(name)) === true,
  )
}

function changed(old: Rule, rule: Rule, place: number, before: Snapshot, after: Snapshot): PolicyChange[] {
  if (canonicalJson(old) === canonicalJson(rule)) return []
  if (old.enabled !== rule.enabled) {
    const whole = rule.enabled
      ? added(rule, after.rules.slice(place + 1), after)
      : removed({ ...old, enabled: true }, before, after)
    return [{ ...whole, change: 'changed', reason: `${rule.enabled ? 'enabled' : 'disabled'}: ${whole.reason}` }]
  }
  const change = { what: 'rule', change: 'changed', rule_id: rule.rule_id } as const
  if (old.kind !== rule.kind) {
    const isCritical = rule.kind === 'allow' || (old.kind !== 'allow' && rule.kind === 'tag')
    const reason = `a ${old.kind} rule is a ${rule.kind} rule now`
    return [{ ...change, severity: !rule.enabled ? 'info' : isCritical ? 'critical' : 'warn', reason }]
  }
  const changes = [...matchChanges(old, rule), ...effectChanges(old, rule)].map((one) => ({ ...change, ...one }))
  if (changes.length === 0) return [{ ...change, severity: 'info', reason: 'only its words differ' }]
  return rule.enabled ? changes : changes.map((one) => ({ ...one, severity: 'info' }))
}

/** An allow that names more lets more pass; whatever else names less refuses less. */
function matchChanges(old: Rule, rule: Rule): Pick<PolicyChange, 'severity' | 'reason'>[] {
  if (canonicalJson(old.match) === canonicalJson(rule.match)) return []
  const isWider = covers(rule.match, old.match)
  const isNarrower = covers(old.match, rule.match)
  if (isWider && isNarrower) return [{ severity: 'info', reason: 'its match is written otherwise and means the same' }]
  const isAllow = rule.kind === 'allow'
  if (isWider) return [{ severity: isAllow ? 'critical' : 'warn', reason: 'it matches more calls' }]
  if (isNarrower)
    return [
      { severity: isAllow || rule.kind === 'tag' ? 'warn' : 'critical', reason: 'it matches fewer calls than before' },
    ]
  return [{ severity: 'critical', reason: 'it matches other calls than before' }]
}

/** Only allow against deny matters: among rules of one kind the order says who is named, not what happens. */
function moves({ rules: before }: Snapshot, { rules: after }: Snapshot): PolicyChange[] {
  const isDecisive = ({ kind, enabled }: Rule): boolean => enabled && (kind === 'allow' || kind === 'deny')
  const places = new Map(before.filter(isDecisive).map((rule, i) => [rule.rule_id, { i, kind: rule.kind }]))
  const kept = after.filter((rule) => isDecisive(rule) && places.get(rule.rule_id)?.kind === rule.kind)
  const placeOf = ({ rule_id }: Rule): number => places.get(rule_id)?.i ?? 0
  const change = { what: 'rule', change: 'moved' } as const
  return kept.flatMap((rule, i): PolicyChange[] => {
    if (rule.kind !== 'allow') return []
    const over = kept.slice(i + 1).filter((one) => one.kind === 'deny' && placeOf(one) < placeOf(rule))
    const under = kept.slice(0, i).filter((one) => one.kind === 'deny' && placeOf(one) > placeOf(rule))
    const { rule_id } = rule
    return [
      ...(over.length === 0
        ? []
        : [
            {
              ...change,
              rule_id,
              severity: 'critical' as const,
              reason: `now stands above ${idsOf(over)}: calls that both name pass`,
            },
          ]),
      ...(under.length === 0
        ? []
        : [
            {
              ...change,
              rule_id,
              severity: 'warn' as const,
              reason: `now stands below ${idsOf(under)}: calls that both name are refused`,
            },
          ]),
    ]
  })
}

const SHOWN_IDS = 5

function idsOf(rules: readonly Rule[]): string {
  const ids = rules.slice(0, SHOWN_IDS).map(({ rule_id }) => rule_id)
  return rules.length > SHOWN_IDS ? `${ids.join(', ')} and ${rules.length - SHOWN_IDS} more` : ids.join(', ')
}
