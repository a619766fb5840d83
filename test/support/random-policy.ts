// Random policies and random runs under them, for property tests.
import fc from 'fast-check'
import { readBundle } from '../../src/policy/bundle/bundle.ts'
import { Problems } from '../../src/policy/bundle/problems.ts'
import { MODES, SCOPES, type Snapshot } from '../../src/policy/types.ts'

const hint = fc.option(fc.constant('try something else'), { nil: undefined })
const scope = fc.constantFrom(...SCOPES)
const classes = fc.uniqueArray(fc.constantFrom('read_like', 'write_like', 'network_like'), {
  minLength: 1,
  maxLength: 2,
})

function only<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T
}

const names = fc.oneof(
  fc.record({
    glob: fc.uniqueArray(fc.constantFrom('*', 'git', 'g*', '*e', 'r?ad', 'write*', 'a/b', 'a*b', '**'), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
  fc.record({
    regex: fc.uniqueArray(fc.constantFrom('^write', 'ad$', 'git|fs', '.', '^a/'), { minLength: 1, maxLength: 2 }),
  }),
)
const argKey = fc.constantFrom('force', 'n', '__proto__', 'constructor', 'toString')
const scalar = fc.constantFrom(true, false, 1, 2, 0, 'x')
const dictionary = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(argKey, value), { minLength: 1, maxLength: 2 }).map((entries) => Object.fromEntries(entries))
const argsMatch = fc.record(
  {
    has_keys: fc.uniqueArray(argKey, { minLength: 1, maxLength: 2 }),
    key_equals: dictionary(scalar),
    key_in: dictionary(fc.array(scalar, { maxLength: 2 })),
    numeric_range: dictionary(fc.constantFrom({ min: 1 }, { max: 1 }, { min: 0, max: 1 })),
  },
  { requiredKeys: [] },
)
const utcHours = fc.constantFrom([0], ['0-12'], ['12-24'], [{ start: 22, end: 2 }])
// Mostly broad: a rule that meets no call tests nothing.
const match = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ tool_name: names }) },
  { weight: 1, arbitrary: fc.record({ server_name: names }) },
  { weight: 2, arbitrary: fc.record({ risk_class: classes }) },
  { weight: 2, arbitrary: fc.record({ args: argsMatch }) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        server_name: names,
        tool_name: names,
        risk_class: classes,
        args: argsMatch,
        time: fc.record({ utc_hours: utcHours }),
      },
      { requiredKeys: [] },
    ),
  },
)
const small = fc.integer({ min: 0, max: 6 })
const windowMs = fc.integer({ min: 1, max: 120 })
const effect = fc.oneof(
  fc.constantFrom({ kind: 'allow', effect: { action: 'ALLOW' } }, { kind: 'deny', effect: { action: 'BLOCK' } }),
  fc.constant({ kind: 'deny', effect: { action: 'BLOCK', hint: { hint_text: 'no', suggested_args: { n: 1 } } } }),
  fc.constant({ kind: 'deny', effect: { action: 'REJECT_WITH_HINT', hint: { hint_text: 'no' } } }),
  classes.map((add_risk_class) => ({ kind: 'tag', effect: { tag: { add_risk_class } } })),
  fc
    .record({
      scope,
      limit_calls: fc.option(small, { nil: undefined }),
      limit_cost_units: small,
      cost_units_per_call: fc.integer({ min: 0, max: 2 }),
      on_exceed: fc.constantFrom('BLOCK', 'REJECT_WITH_HINT', 'TERMINATE_RUN'),
      hint_text: hint,
    })
    .map((budget) => ({ kind: 'budget', effect: { budget: only(budget) } })),
  fc
    .record({
      scope,
      capacity: small,
      refill_tokens: fc.integer({ min: 0, max: 3 }),
      refill_period_ms: windowMs,
      cost_tokens_per_call: fc.integer({ min: 0, max: 2 }),
      on_limit: fc.constantFrom('THROTTLE', 'BLOCK', 'REJECT_WITH_HINT'),
      backoff_ms: small,
      hint_text: hint,
    })
    .map((rate_limit) => ({ kind: 'rate_limit', effect: { rate_limit: only(rate_limit) } })),
  fc
    .record({
      scope,
      repeats: fc.boolean(),
      errors: fc.boolean(),
      threshold: fc.integer({ min: 1, max: 4 }),
      window: windowMs,
      on_trip: fc.constantFrom('BLOCK', 'REJECT_WITH_HINT', 'TERMINATE_RUN'),
      hint_text: hint,
    })
    .map(({ repeats, errors, threshold, window, ...rest }) => ({
      kind: 'breaker',
      effect: {
        breaker: only({
          ...rest,
          ...(errors ? { error_threshold: threshold, window_ms: window } : {}),
          ...(repeats || !errors ? { repeat_threshold: threshold, repeat_window_ms: window + 7 } : {}),
        }),
      },
    })),
  fc
    .record({ scope, window_ms: windowMs, on_duplicate: fc.constantFrom('BLOCK', 'REJECT_WITH_HINT'), hint_text: hint })
    .map((dedupe) => ({ kind: 'dedupe', effect: { dedupe: only(dedupe) } })),
)
const rule = fc
  .record({ match, effect, enabled: fc.boolean().map((off) => !off || undefined) })
  .map(({ match, effect, enabled }) => only({ ...effect, match, enabled }))
/** A valid bundle of up to nine rules of all kinds, with limits small enough to be reached. */
export const bundle = fc
  .record({
    mode: fc.constantFrom(...MODES),
    defaults: fc.record({
      decision_on_error: fc.constantFrom('ALLOW', 'BLOCK'),
      fail_open_read_tools: fc.boolean(),
      decision_on_no_match: fc.constantFrom('ALLOW', 'ALLOW', 'BLOCK'),
    }),
    rules: fc.array(rule, { minLength: 1, maxLength: 9, size: 'max' }),
  })
  .map(({ rules, ...rest }) => ({
    policy_id: 'random',
    version: '1',
    ...rest,
    rules: rules.map((one, i) => ({ rule_id: `r${i}`, ...one })),
  }))

const args = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.tuple(argKey, scalar), { maxLength: 2 })
      .map((entries) => Object.fromEntries(entries) as Record<string, unknown>),
  },
  { weight: 1, arbitrary: fc.constant('uninspectable' as const) },
)
/** Calls, ends of calls and waits, in order. */
export const moves = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('call' as const),
        server: fc.constantFrom('git', 'fs'),
        tool: fc.constantFrom('read', 'write', 'write_all', 'a/b'),
        args,
        after: fc.integer({ min: 0, max: 25 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('end' as const),
        which: fc.nat(30),
        isError: fc.boolean(),
        after: fc.integer({ min: 0, max: 20 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('wait' as const), after: fc.constantFrom(3_600_000, 13 * 3_600_000) }),
    },
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
)

export function compiled(value: unknown): Snapshot {
  const problems = new Problems()
  const snapshot = readBundle(value, problems)
  if (!problems.isEmpty) throw new Error(JSON.stringify(problems.located(() => undefined)))
  return snapshot
}
