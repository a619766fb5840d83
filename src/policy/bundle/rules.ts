// One rule of a bundle (seed 004 §2.3, §2.5): what every rule has, and the effect that belongs to its kind.
import { ASK_WAIT_MS, ASK_WAIT_MS_MAX, BREAKER_THRESHOLD_MAX } from '../../limits.ts'
import { isObject } from '../../plain-object.ts'
import { type Fields, kindOf } from './fields.ts'
import { type RegexBudget, readMatch } from '../match/match.ts'
import type { Problems } from './problems.ts'
import {
  type Ask,
  HINT_KINDS,
  type HintTemplate,
  type JsonObject,
  RULE_KINDS,
  type Rule,
  type RuleKind,
  SCOPES,
  SEVERITIES,
} from '../types.ts'

/** Actions that are written as kinds. */
const KIND_ADVICE: Readonly<Record<string, string>> = {
  ask: 'to ask a human, write kind: deny with effect: {action: ASK}',
  block: 'write kind: deny with effect: {action: BLOCK}',
}

export function readRule(fields: Fields, problems: Problems, regexes: RegexBudget): Rule {
  const description = fields.optionalText('description')
  const kind = fields.choice('kind', RULE_KINDS, undefined, KIND_ADVICE)
  const base = {
    rule_id: fields.text('rule_id'),
    enabled: fields.flag('enabled', true),
    severity: fields.choice('severity', SEVERITIES, 'info'),
    ...(description === undefined ? {} : { description }),
    match: readMatch(fields.object('match'), problems, regexes),
  }
  if (!fields.has('effect')) fields.problem('effect', 'is missing')
  const effect = fields.object('effect')
  const rule = { ...base, ...readEffect(kind, effect, base.rule_id) } as Rule
  effect.end()
  fields.end()
  return rule
}

/** Seed 004 §2.5, one reader for each kind. What the author left out is written in. */
function readEffect(kind: RuleKind, effect: Fields, ruleId: string): Pick<Rule, 'kind' | 'effect'> {
  const reason = (code: string, message: string): { reason_code: string; message: string } => ({
    reason_code: effect.text('reason_code', code),
    message: effect.text('message', message),
  })
  switch (kind) {
    case 'allow':
      return {
        kind,
        effect: {
          action: effect.choice('action', ['ALLOW'], 'ALLOW'),
          ...reason('POLICY_ALLOW', `allowed by ${ruleId}`),
        },
      }
    case 'deny': {
      const action = effect.choice('action', ['BLOCK', 'REJECT_WITH_HINT', 'ASK'], 'BLOCK')
      const message = action === 'ASK' ? `${ruleId} asks a person first` : `blocked by ${ruleId}`
      return { kind, effect: readDeny(effect, action, reason(DENY_CODES[action], message)) }
    }
    case 'budget':
      return {
        kind,
        effect: {
          ...reason('BUDGET_EXCEEDED', `the budget ${ruleId} is used up`),
          budget: readBudget(effect.object('budget')),
        },
      }
    case 'rate_limit':
      return {
        kind,
        effect: {
          ...reason('POLICY_THROTTLED', `the rate limit ${ruleId} is reached`),
          rate_limit: readRateLimit(effect.object('rate_limit')),
        },
      }
    case 'breaker':
      return {
        kind,
        effect: {
          ...reason('BREAKER_TRIPPED', `the breaker ${ruleId} has tripped`),
          breaker: readBreaker(effect.object('breaker')),
        },
      }
    case 'dedupe':
      return {
        kind,
        effect: {
          ...reason('DEDUPE_DUPLICATE', `${ruleId}: the same call was made a moment ago`),
          dedupe: readDedupe(effect.object('dedupe')),
        },
      }
    case 'tag': {
      const tag = effect.object('tag')
      const read = { add_risk_class: tag.texts('add_risk_class') }
      tag.end()
      return { kind, effect: { tag: read } }
    }
  }
}

type EffectOf<K extends RuleKind> = Extract<Rule, { readonly kind: K }>['effect']

type DenyAction = EffectOf<'deny'>['action']

const DENY_CODES: Readonly<Record<DenyAction, string>> = {
  BLOCK: 'POLICY_BLOCK',
  REJECT_WITH_HINT: 'POLICY_HINT',
  ASK: 'APPROVAL_REQUIRED',
}

function readDeny(
  effect: Fields,
  action: DenyAction,
  reason: { reason_code: string; message: string },
): EffectOf<'deny'> {
  const hint = effect.has('hint') ? readHint(effect.object('hint')) : null
  if (action === 'REJECT_WITH_HINT' && hint === null) effect.problem('hint', 'is missing; REJECT_WITH_HINT needs one')
  return { action, ...reason, hint, ...(action === 'ASK' ? { ask: readAsk(effect.object('ask')) } : {}) }
}

function readAsk(fields: Fields): Ask {
  const ask = {
    question: fields.optionalText('question') ?? null,
    wait_ms: fields.integer('wait_ms', { min: 0, max: ASK_WAIT_MS_MAX }, ASK_WAIT_MS),
  }
  fields.end()
  return ask
}

function readHint(fields: Fields): HintTemplate {
  const suggested = fields.raw('suggested_args')
  if (suggested !== undefined && !isObject(suggested))
    fields.problem('suggested_args', `must be an object, not ${kindOf(suggested)}`)
  const hint = {
    hint_text: fields.text('hint_text'),
    hint_kind: fields.choice('hint_kind', HINT_KINDS, suggested === undefined ? 'OTHER' : 'ARG_FIX'),
    suggested_args: isObject(suggested) ? (suggested as JsonObject) : null,
    retry_advice: fields.optionalText('retry_advice') ?? null,
  }
  fields.end()
  return hint
}

function readBudget(fields: Fields): EffectOf<'budget'>['budget'] {
  const budget = {
    scope: fields.choice('scope', SCOPES, 'run'),
    limit_calls: fields.optionalInteger('limit_calls', { min: 0 }),
    limit_cost_units: fields.optionalInteger('limit_cost_units', { min: 0 }),
    cost_units_per_call: fields.integer('cost_units_per_call', { min: 0 }, 1),
    on_exceed: fields.choice('on_exceed', ['BLOCK', 'REJECT_WITH_HINT', 'TERMINATE_RUN']),
    hint_text: fields.optionalText('hint_text') ?? null,
  }
  fields.end()
  if (budget.limit_calls === null && budget.limit_cost_units === null)
    fields.problem(undefined, 'needs limit_calls or limit_cost_units')
  return budget
}

function readRateLimit(fields: Fields): EffectOf<'rate_limit'>['rate_limit'] {
  const onLimit = fields.choice('on_limit', ['THROTTLE', 'BLOCK', 'REJECT_WITH_HINT'])
  const limit = {
    scope: fields.choice('scope', SCOPES, 'run'),
    capacity: fields.integer('capacity', { min: 0 }),
    refill_tokens: fields.integer('refill_tokens', { min: 0 }),
    refill_period_ms: fields.integer('refill_period_ms', { min: 1 }),
    cost_tokens_per_call: fields.integer('cost_tokens_per_call', { min: 0 }, 1),
    on_limit: onLimit,
    backoff_ms:
      onLimit === 'THROTTLE' ? fields.integer('backoff_ms', { min: 0 }) : fields.integer('backoff_ms', { min: 0 }, 0),
    hint_text: fields.optionalText('hint_text') ?? null,
  }
  fields.end()
  return limit
}

function readBreaker(fields: Fields): EffectOf<'breaker'>['breaker'] {
  const threshold = { min: 1, max: BREAKER_THRESHOLD_MAX }
  const breaker = {
    scope: fields.choice('scope', SCOPES, 'server_tool'),
    error_threshold: fields.optionalInteger('error_threshold', threshold),
    window_ms: fields.optionalInteger('window_ms', { min: 1 }),
    repeat_threshold: fields.optionalInteger('repeat_threshold', threshold),
    repeat_window_ms: fields.optionalInteger('repeat_window_ms', { min: 1 }),
    on_trip: fields.choice('on_trip', ['TERMINATE_RUN', 'BLOCK', 'REJECT_WITH_HINT']),
    terminate_code: fields.text('terminate_code', 'BREAKER_TRIPPED'),
    hint_text: fields.optionalText('hint_text') ?? null,
  }
  fields.end()
  if ((breaker.error_threshold === null) !== (breaker.window_ms === null))
    fields.problem(undefined, 'error_threshold and window_ms go together')
  if ((breaker.repeat_threshold === null) !== (breaker.repeat_window_ms === null))
    fields.problem(undefined, 'repeat_threshold and repeat_window_ms go together')
  if (breaker.error_threshold === null && breaker.repeat_threshold === null)
    fields.problem(undefined, 'needs error_threshold or repeat_threshold')
  return breaker
}

function readDedupe(fields: Fields): EffectOf<'dedupe'>['dedupe'] {
  const dedupe = {
    scope: fields.choice('scope', SCOPES, 'tool'),
    window_ms: fields.integer('window_ms', { min: 1 }),
    key: fields.choice('key', ['args_hash'], 'args_hash'),
    on_duplicate: fields.choice('on_duplicate', ['BLOCK', 'REJECT_WITH_HINT']),
    hint_text: fields.optionalText('hint_text') ?? null,
  }
  fields.end()
  return dedupe
}
