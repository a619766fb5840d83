// What a rule does, before and after: actions and limits, each looser or stricter.
import type { Rule } from '../types.ts'
import type { PolicyChange } from './change.ts'

type Part = Pick<PolicyChange, 'severity' | 'reason'>

/** From mildest to hardest. */
const ACTIONS: readonly string[] = ['ALLOW', 'ASK', 'THROTTLE', 'REJECT_WITH_HINT', 'BLOCK', 'TERMINATE_RUN']

/** Of each number which direction lets more pass; one without a limit is unlimited. */
const MORE_IS_LOOSER: Readonly<Record<string, boolean>> = {
  limit_calls: true,
  limit_cost_units: true,
  cost_units_per_call: false,
  capacity: true,
  refill_tokens: true,
  refill_period_ms: false,
  cost_tokens_per_call: false,
  error_threshold: true,
  repeat_threshold: true,
  window_ms: false,
  repeat_window_ms: false,
}
const ACTION_FIELDS = ['action', 'on_exceed', 'on_limit', 'on_trip', 'on_duplicate']

/** Of two rules of one kind. */
export function effectChanges(old: Rule, rule: Rule): Part[] {
  const was = flat(old)
  const is = flat(rule)
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name): Part[] => {
    const before = was[name]
    const after = is[name]
    if (before === after) return []
    if (ACTION_FIELDS.includes(name)) return [actionChange(name, String(before), String(after))]
    if (name === 'scope') return [{ severity: 'warn', reason: `counts over ${after}, and over ${before} before` }]
    if (name === 'add_risk_class') return [{ severity: 'warn', reason: `gives ${after}, and ${before} before` }]
    const isMoreLooser = MORE_IS_LOOSER[name]
    return isMoreLooser === undefined ? [] : [limitChange(name, before, after, isMoreLooser)]
  })
}

function actionChange(name: string, before: string, after: string): Part {
  const isMilder = ACTIONS.indexOf(after) < ACTIONS.indexOf(before)
  const reason = `${name} goes from ${before} to ${after}`
  if (after === 'ALLOW') return { severity: 'critical', reason: `${reason}: it no longer refuses` }
  if (after === 'ASK') return { severity: 'warn', reason: `${reason}: a person may let pass what was refused` }
  if (before === 'TERMINATE_RUN') return { severity: 'critical', reason: `${reason}: the run goes on` }
  return { severity: isMilder ? 'info' : 'warn', reason }
}

function limitChange(name: string, before: Value, after: Value, isMoreLooser: boolean): Part {
  const number = (value: Value): number => (typeof value === 'number' ? value : Infinity)
  const isRemoved = typeof before === 'number' && typeof after !== 'number'
  const reason = `${name} goes from ${before ?? 'none'} to ${after ?? 'none'}`
  const isLooser = number(after) > number(before) === isMoreLooser
  if (isRemoved && isMoreLooser) return { severity: 'critical', reason: `${reason}: this limit is gone` }
  return { severity: 'warn', reason: `${reason}, which is ${isLooser ? 'looser' : 'stricter'}` }
}

type Value = string | number | boolean | null | undefined

/** The effect as named values: `{budget: {limit_calls}}` by `limit_calls`. */
function flat({ effect }: Rule): Readonly<Record<string, Value>> {
  const values: Record<string, Value> = {}
  for (const [name, value] of Object.entries(effect)) {
    if (typeof value !== 'object' || value === null) values[name] = value as Value
    else if (name !== 'hint' && name !== 'ask')
      for (const [inner, one] of Object.entries(value as object))
        values[inner] = Array.isArray(one) ? one.join(', ') : (one as Value)
  }
  return values
}
