// Lint by example, and the promise behind it: a rule called dead never decides anything.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bundle, compiled, moves } from '../../../test/support/random-policy.ts'
import { scaled } from '../../../test/support/scale.ts'
import { contradictionIn, covers } from './covers.ts'
import { decide, settle } from '../decide/decide.ts'
import { lintSnapshot } from './lint.ts'
import { MemoryCounters } from '../decide/memory-counters.ts'
import { openPolicy } from '../decide/plan.ts'
import { Shadows } from './shadows.ts'

function findings(rules: readonly object[], rest: object = {}): string[] {
  const snapshot = compiled({
    policy_id: 'p',
    version: '1',
    mode: 'guardrails',
    ...rest,
    rules: rules.map((rule, i) => ({ rule_id: `r${i}`, effect: {}, ...rule })),
  })
  return lintSnapshot(snapshot).map(({ level, rule_id, message }) => `${level} ${rule_id ?? '-'} ${message}`)
}

const tools = (...glob: string[]): object => ({ tool_name: { glob } })
const deny = (match: object): object => ({ kind: 'deny', match })
const allow = (match: object): object => ({ kind: 'allow', match })
const tag = (name: string, glob: string): object => ({
  kind: 'tag',
  match: tools(glob),
  effect: { tag: { add_risk_class: [name] } },
})
const budget = (limits: object): object => ({ kind: 'budget', effect: { budget: { on_exceed: 'BLOCK', ...limits } } })

test.each<[string, readonly object[], string[]]>([
  ['nothing to say', [deny(tools('rm')), allow({})], []],
  ['a disabled rule', [{ kind: 'deny', enabled: false }], ['dead r0 is disabled']],
  [
    'an allow after one that takes all',
    [deny({}), allow(tools('ls'))],
    ['dead r1 is never reached: r0 above decides every call that it matches'],
  ],
  [
    'a name inside a glob',
    [deny(tools('rm*')), allow(tools('rm_all', 'rm*'))],
    ['dead r1 is never reached: r0 above decides every call that it matches'],
  ],
  [
    'a glob inside a shorter prefix',
    [deny(tools('rm*')), allow(tools('rm_?'))],
    ['dead r1 is never reached: r0 above decides every call that it matches'],
  ],
  ['a glob that reaches further', [deny(tools('rm*')), allow(tools('r*'))], []],
  [
    'a name inside a regex',
    [{ kind: 'deny', match: { tool_name: { regex: ['^rm'] } } }, allow(tools('rm_x'))],
    ['dead r1 is never reached: r0 above decides every call that it matches'],
  ],
  [
    'arguments that follow from others',
    [deny({ args: { has_keys: ['n'] } }), allow({ args: { numeric_range: { n: { min: 1 } } } })],
    ['dead r1 is never reached: r0 above decides every call that it matches'],
  ],
  ['arguments that do not', [deny({ args: { key_equals: { n: 1 } } }), allow({ args: { has_keys: ['n'] } })], []],
  [
    'hours inside hours',
    [deny({ time: { utc_hours: ['0-12'] } }), allow({ time: { utc_hours: ['3-5'] } })],
    ['dead r1 is never reached: r0 above decides every call that it matches'],
  ],
  [
    'a class that nobody gives',
    [deny({ risk_class: ['write_like'] })],
    ['dead r0 can never match: no rule above it tags a call write_like'],
  ],
  [
    'a class given too late',
    [deny({ risk_class: ['w'] }), { kind: 'tag', effect: { tag: { add_risk_class: ['w'] } } }],
    ['dead r0 can never match: no rule above it tags a call w; tags of rules below do not count'],
  ],
  [
    'a class that the rule above could not know yet',
    [tag('w', 'a*'), deny({ risk_class: ['w'] }), tag('w', 'b*'), allow({ risk_class: ['w'] })],
    [],
  ],
  [
    'a class that it knew',
    [tag('w', 'a*'), deny({ risk_class: ['w'] }), allow({ risk_class: ['w'] })],
    ['dead r2 is never reached: r1 above decides every call that it matches'],
  ],
  [
    'an empty range',
    [deny({ args: { numeric_range: { n: { min: 2, max: 1 } } } })],
    ['dead r0 can never match: numeric_range of n: min is above max'],
  ],
  [
    'two values at once',
    [deny({ args: { key_equals: { n: 1 }, key_in: { n: [2] } } })],
    ['dead r0 can never match: n cannot equal one value and be in a list without it'],
  ],
  [
    'a value outside its range',
    [deny({ args: { key_equals: { n: 'x' }, numeric_range: { n: { min: 0 } } } })],
    ['dead r0 can never match: n cannot have a listed value and be in its numeric_range'],
  ],
  [
    'a budget of denied calls',
    [deny({}), budget({ limit_calls: 3 })],
    ['dead r1 never decides: r0 denies every call that it counts'],
  ],
  ['a budget that ends the run', [deny({}), budget({ limit_calls: 3, on_exceed: 'TERMINATE_RUN' })], []],
  [
    'a budget of nothing',
    [budget({ limit_calls: 0 })],
    ['warn r0 refuses every call: the limit is below the cost of one'],
  ],
  [
    'a budget that costs nothing',
    [budget({ limit_cost_units: 3, cost_units_per_call: 0 })],
    ['dead r0 never fires: a call costs 0 units'],
  ],
  [
    'a bucket too small',
    [
      {
        kind: 'rate_limit',
        effect: {
          rate_limit: {
            capacity: 1,
            cost_tokens_per_call: 2,
            refill_tokens: 1,
            refill_period_ms: 1,
            on_limit: 'BLOCK',
          },
        },
      },
    ],
    ['warn r0 refuses every call: the bucket holds less than one call costs'],
  ],
  [
    'a bucket that is never refilled',
    [
      {
        kind: 'rate_limit',
        effect: { rate_limit: { capacity: 1, refill_tokens: 0, refill_period_ms: 1, on_limit: 'BLOCK' } },
      },
    ],
    ['warn r0 is never refilled: it acts as a budget'],
  ],
  [
    'a first call that is a repeat',
    [{ kind: 'breaker', effect: { breaker: { repeat_threshold: 1, repeat_window_ms: 1, on_trip: 'BLOCK' } } }],
    ['warn r0 refuses every call: a threshold of 1 counts the first call as a repeat'],
  ],
  [
    'a hint that is not sent',
    [budget({ limit_calls: 1, hint_text: 'stop' })],
    ['note r0 its hint is sent only in mode control; here the call is blocked without it'],
  ],
])('%s', (_, rules, expected) => {
  expect(findings(rules)).toEqual(expected)
})

test('of the bundle as a whole', () => {
  expect(findings([], { mode: 'observe' })).toEqual([
    'note - mode observe: decisions are recorded, and every call is forwarded',
    'warn - the bundle has no rules',
  ])
  expect(findings([allow({})], { defaults: { fail_open_read_tools: true } })).toEqual([
    'warn - fail_open_read_tools needs a tag rule that adds read_like',
  ])
})

test('a rule called dead never decides', () => {
  let dead = 0
  fc.assert(
    fc.property(bundle, moves, (value, steps) => {
      const snapshot = compiled(value)
      const buried = new Set(
        lintSnapshot(snapshot).flatMap(({ level, rule_id }) => (level === 'dead' ? [rule_id] : [])),
      )
      dead += buried.size
      const policy = openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' })
      const counters = new MemoryCounters()
      let nowMs = Date.UTC(2026, 10, 1)
      for (const step of steps) {
        nowMs += step.after
        if (step.do !== 'call' || step.args === 'uninspectable') continue
        const call = { args: step.args, args_hash: JSON.stringify(step.args), wallMs: 0 }
        const { decision, writes, end } = decide(policy.planFor(step.server, step.tool), call, counters, nowMs)
        counters.apply(writes, nowMs)
        if (end !== null) counters.apply(settle(end, nowMs % 2 === 0 ? 'failed' : 'done', counters, nowMs), nowMs)
        expect(buried).not.toContain(decision.rule_id)
      }
    }),
    { numRuns: scaled(40, 50_000) },
  )
  expect(dead).toBeGreaterThan(0)
})

test('a rule over another is found as by comparing each pair', () => {
  let found = 0
  fc.assert(
    fc.property(fc.array(bundle, { minLength: 1, maxLength: 4 }), (values) => {
      const rules = values.flatMap((value) => compiled(value).rules)
      const shadows = new Shadows(rules)
      rules.forEach((rule, narrow) => {
        // A rule that can match nothing is under any other; it is told of before.
        if (rule.match.args !== undefined && contradictionIn(rule.match.args) !== null) return
        const first = rules.findIndex(
          (other, i) =>
            i < narrow &&
            other.enabled &&
            (other.kind === 'allow' || other.kind === 'deny') &&
            covers(other.match, rule.match) &&
            !rules
              .slice(i, narrow)
              .some(
                (tag) =>
                  tag.enabled &&
                  tag.kind === 'tag' &&
                  tag.effect.tag.add_risk_class.some((name) => other.match.risk_class?.includes(name)),
              ),
        )
        if (first !== -1) found += 1
        expect(shadows.firstOver(narrow, narrow, () => true)).toBe(first)
      })
    }),
    { numRuns: scaled(40, 20_000) },
  )
  expect(found).toBeGreaterThan(0)
})

// Pair by pair, with patterns compiled for each, one of these took a minute on a quiet machine, and more than the test's time on a busy one.
test.each<[string, (i: number) => object]>([
  ['tools', (i) => deny(tools(`tool_${i}`))],
  ['endings', (i) => allow(tools(`*_${i}`))],
  ['arguments', (i) => deny({ ...tools('push'), args: { key_equals: { id: i } } })],
  ['ranges', (i) => deny({ args: { numeric_range: { n: { min: i, max: i } } } })],
  ['regexes among names', (i) => deny({ tool_name: i % 5 === 0 ? { regex: [`^s${i}_(g|p)$`] } : { glob: [`t${i}`] } })],
])('thousands of rules about %s are compared in one pass', (_, ruleOf) => {
  const found = findings(Array.from({ length: scaled(1_500, 10_000) }, (_unused, i) => ruleOf(i)))
  expect(found.filter((line) => !line.startsWith('note'))).toEqual([])
})
