// Differences outside the rules: mode, defaults, whom the policy is for, which servers are believed.
import type { Defaults, Mode, Selectors, Snapshot } from '../types.ts'
import type { PolicyChange } from './change.ts'

export function settingChanges(before: Snapshot, after: Snapshot): PolicyChange[] {
  return [
    ...modeChange(before.mode, after.mode),
    ...defaultChanges(before.defaults, after.defaults),
    ...selectorChanges(before.selectors, after.selectors),
    ...trustChanges(before.trust_annotations ?? [], after.trust_annotations ?? []),
    ...wordChanges(before, after),
  ]
}

function modeChange(before: Mode, after: Mode): PolicyChange[] {
  if (before === after) return []
  const change = { what: 'mode', change: 'changed', rule_id: null } as const
  const from = `mode goes from ${before} to ${after}`
  if (after === 'observe') return [{ ...change, severity: 'critical', reason: `${from}: nothing is refused any more` }]
  if (before === 'observe')
    return [{ ...change, severity: 'warn', reason: `${from}: what was only noted is refused now` }]
  return after === 'guardrails'
    ? [{ ...change, severity: 'critical', reason: `${from}: calls pass whose decision cannot be written down` }]
    : [{ ...change, severity: 'warn', reason: `${from}: a call is refused when its decision cannot be written down` }]
}

function defaultChanges(before: Defaults, after: Defaults): PolicyChange[] {
  const changes: PolicyChange[] = []
  const put = (severity: PolicyChange['severity'], reason: string): void => {
    changes.push({ severity, what: 'defaults', change: 'changed', rule_id: null, reason })
  }
  if (before.decision_on_no_match !== after.decision_on_no_match) {
    if (after.decision_on_no_match === 'ALLOW') put('critical', 'what no rule names is allowed now')
    else put('warn', 'what no rule names is refused now')
  }
  if (before.decision_on_error !== after.decision_on_error) {
    if (after.decision_on_error === 'ALLOW') put('critical', 'when policy fails, calls pass now')
    else put('warn', 'when policy fails, calls are refused now')
  }
  if (before.fail_open_read_tools !== after.fail_open_read_tools) {
    if (after.fail_open_read_tools) put('warn', 'when policy fails, tools that are tagged read_like pass now')
    else put('info', 'when policy fails, tools that are tagged read_like no longer pass')
  }
  return changes
}

type Named = Readonly<Record<string, readonly string[] | undefined>>

/** Each list as a set of names that must meet; labels as names too. */
function namesOf({ workload, ...rest }: Selectors): Named {
  const { labels, ...lists } = workload ?? {}
  const prefixed = Object.entries(lists).map(([name, list]) => [`workload.${name}`, list] as const)
  const labelled = Object.entries(labels ?? {}).map(([name, value]) => [`workload.labels.${name}`, [value]] as const)
  return { ...rest, ...Object.fromEntries([...prefixed, ...labelled]) }
}

/** A run that a policy no longer names is not governed by it at all. */
function selectorChanges(before: Selectors, after: Selectors): PolicyChange[] {
  const was = namesOf(before)
  const is = namesOf(after)
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name): PolicyChange[] => {
    const old = was[name]
    const now = is[name]
    const lost = now === undefined ? [] : old === undefined ? ['all others'] : old.filter((one) => !now.includes(one))
    const won = old === undefined ? [] : now === undefined ? ['all others'] : now.filter((one) => !old.includes(one))
    const change = { what: 'selectors', change: 'changed', rule_id: null } as const
    return [
      ...(lost.length === 0
        ? []
        : [
            {
              ...change,
              severity: 'critical' as const,
              reason: `${name} no longer names ${lost.join(', ')}: such runs are not governed any more`,
            },
          ]),
      ...(won.length === 0
        ? []
        : [
            {
              ...change,
              severity: 'warn' as const,
              reason: `${name} names ${won.join(', ')} as well: such runs are governed now`,
            },
          ]),
    ]
  })
}

function trustChanges(before: readonly string[], after: readonly string[]): PolicyChange[] {
  const change = { what: 'trust_annotations', rule_id: null } as const
  return [
    ...after
      .filter((glob) => !before.includes(glob))
      .map((glob) => ({
        ...change,
        change: 'added' as const,
        severity: 'critical' as const,
        reason: `${glob} is believed what it says of its tools now`,
      })),
    ...before
      .filter((glob) => !after.includes(glob))
      .map((glob) => ({
        ...change,
        change: 'removed' as const,
        severity: 'warn' as const,
        reason: `${glob} is no longer believed what it says of its tools`,
      })),
  ]
}

const WORDS = ['policy_id', 'version', 'description', 'owner', 'created_at'] as const

function wordChanges(before: Snapshot, after: Snapshot): PolicyChange[] {
  const changed = WORDS.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return []
  const reason = `${changed.join(', ')} ${changed.length === 1 ? 'differs' : 'differ'}, which decides nothing`
  return [{ severity: 'info', what: 'policy', change: 'changed', rule_id: null, reason }]
}
