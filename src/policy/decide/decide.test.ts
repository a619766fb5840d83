// Decisions by example: the acceptance ids of the contract, modes, hints, errors of evaluation, time.
import { describe, expect, test } from 'vitest'
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { HeimdallError } from '../../errors.ts'
import { POLICY_BUDGETS_MAX, THROTTLE_MS_MAX } from '../../limits.ts'
import { compileBundle } from '../bundle/compile.ts'
import { decide, settle } from './decide.ts'
import { MemoryCounters } from './memory-counters.ts'
import { decideOnError, openPolicyOnError } from './on-error.ts'
import { openPolicy } from './plan.ts'
import type { CallFacts, Subject, Verdict } from '../types.ts'

const me: Subject = { env: 'dev', agent_id: 'amber-otter', client: 'claude' }

interface Setting {
  readonly mode?: string
  readonly defaults?: object
  readonly selectors?: object
  readonly identity?: Subject
}

/** A run under these rules: each call says its tool, arguments and time, and gets its verdict applied. */
async function runOf(rules: readonly object[], { mode = 'guardrails', identity = me, ...rest }: Setting = {}) {
  const bundle = {
    policy_id: 'p',
    version: '1',
    mode,
    ...rest,
    rules: rules.map((rule, i) => ({ rule_id: `r${i}`, ...rule })),
  }
  const policy = openPolicy(await compileBundle(JSON.stringify(bundle), { name: 'p' }), identity)
  const counters = new MemoryCounters()
  return {
    policy,
    counters,
    call(tool: string, args: CallFacts['args'] = {}, nowMs = 0, server = 'fs'): Verdict {
      const args_hash = args === 'uninspectable' ? '' : canonicalHash(canonicalJson(args))
      const verdict = decide(policy.planFor(server, tool), { args, args_hash, wallMs: nowMs }, counters, nowMs)
      counters.apply(verdict.writes, nowMs)
      return verdict
    },
    end(verdict: Verdict, isError: boolean, nowMs = 0): void {
      if (verdict.end !== null) counters.apply(settle(verdict.end, isError ? 'failed' : 'done', counters, nowMs), nowMs)
    },
  }
}

const actions = (verdicts: readonly Verdict[]): string[] => verdicts.map(({ decision }) => decision.action)
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const named = (...glob: string[]): object => ({ tool_name: { glob } })

describe('acceptance of the contract', () => {
  test('POL-001 observe never blocks: the would-be action is kept, not enforced', async () => {
    const run = await runOf([{ kind: 'deny', match: named('rm'), effect: {} }], { mode: 'observe' })
    expect(run.call('rm').decision).toMatchObject({ action: 'BLOCK', rule_id: 'r0', enforced: false })
    expect(run.call('ls').decision).toMatchObject({ action: 'ALLOW', enforced: false })
  })

  test('POL-002 a deny above an allow blocks, with rule id and reason code', async () => {
    const run = await runOf([
      {
        kind: 'deny',
        severity: 'critical',
        match: named('rm'),
        effect: { reason_code: 'DENYLIST_MATCH', message: 'no rm' },
      },
      { kind: 'allow', effect: {} },
    ])
    expect(run.call('rm').decision).toEqual({
      action: 'BLOCK',
      rule_id: 'r0',
      severity: 'critical',
      reason_code: 'DENYLIST_MATCH',
      summary: 'no rm',
      enforced: true,
    })
    expect(run.call('ls').decision).toMatchObject({ action: 'ALLOW', rule_id: 'r1' })
  })

  test('POL-002 an allow above a deny allows', async () => {
    const run = await runOf([
      { kind: 'allow', match: named('rm'), effect: {} },
      { kind: 'deny', effect: {} },
    ])
    expect(actions([run.call('rm'), run.call('ls')])).toEqual(['ALLOW', 'BLOCK'])
  })

  test('POL-003 limit_calls 3 denies the fourth', async () => {
    const run = await runOf([{ kind: 'budget', effect: { budget: { limit_calls: 3, on_exceed: 'BLOCK' } } }])
    expect(actions(times(5, () => run.call('a')))).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'BLOCK', 'BLOCK'])
  })

  test('POL-004 a bucket of 2 throttles the third of five rapid calls, and refills', async () => {
    const run = await runOf([
      {
        kind: 'rate_limit',
        effect: {
          rate_limit: { capacity: 2, refill_tokens: 1, refill_period_ms: 100, on_limit: 'THROTTLE', backoff_ms: 70 },
        },
      },
    ])
    const verdicts = times(5, () => run.call('a'))
    expect(actions(verdicts)).toEqual(['ALLOW', 'ALLOW', 'THROTTLE', 'THROTTLE', 'THROTTLE'])
    expect(verdicts[2]?.decision).toMatchObject({ backoff_ms: 100, reason_code: 'POLICY_THROTTLED' })
    expect(actions([run.call('a', {}, 99), run.call('a', {}, 100), run.call('a', {}, 100)])).toEqual([
      'THROTTLE',
      'ALLOW',
      'THROTTLE',
    ])
  })

  test('POL-005 repeat_threshold 5 in 10 s trips at the fifth identical call; refused ones do not keep it open', async () => {
    const run = await runOf([
      { kind: 'breaker', effect: { breaker: { repeat_threshold: 5, repeat_window_ms: 10_000, on_trip: 'BLOCK' } } },
    ])
    expect(actions(times(5, (i) => run.call('a', { n: 1 }, i * 1_000)))).toEqual([
      'ALLOW',
      'ALLOW',
      'ALLOW',
      'ALLOW',
      'BLOCK',
    ])
    expect(actions(times(4, (i) => run.call('a', { n: 1 }, 6_000 + i * 1_000)))).toEqual(times(4, () => 'BLOCK'))
    expect(run.call('a', { n: 2 }, 9_000).decision.action).toBe('ALLOW')
    expect(run.call('a', { n: 1 }, 10_000).decision.action).toBe('ALLOW')
  })

  test('POL-006 dedupe 60 s: the second identical write is denied, the window is fixed from the first', async () => {
    const run = await runOf([{ kind: 'dedupe', effect: { dedupe: { window_ms: 60_000, on_duplicate: 'BLOCK' } } }])
    expect(
      actions([
        run.call('w', { a: 1, b: 2 }),
        run.call('w', { b: 2, a: 1 }, 30_000),
        run.call('w', { a: 1, b: 2 }, 59_999),
      ]),
    ).toEqual(['ALLOW', 'BLOCK', 'BLOCK'])
    expect(run.call('w', { a: 1, b: 2 }, 60_000).decision.action).toBe('ALLOW')
  })

  test('POL-007 a tag gives the class that a deny asks for; tags of rules below do not count', async () => {
    const tag = { kind: 'tag', match: named('write_*'), effect: { tag: { add_risk_class: ['write_like'] } } }
    const deny = { kind: 'deny', match: { risk_class: ['write_like'] }, effect: {} }
    const run = await runOf([tag, deny])
    expect(run.call('write_x')).toMatchObject({ decision: { action: 'BLOCK' }, tags: ['write_like'] })
    expect(run.call('read_x')).toMatchObject({ decision: { action: 'ALLOW' }, tags: [] })
    expect((await runOf([deny, tag])).call('write_x')).toMatchObject({
      decision: { action: 'ALLOW' },
      tags: ['write_like'],
    })
  })

  test('POL-009 selectors gate the whole policy; they compare exactly', async () => {
    const rules = [{ kind: 'deny', effect: {} }]
    const decided = async (selectors: object, identity: Subject): Promise<string> =>
      (await runOf(rules, { selectors, identity })).call('a').decision.reason_code
    const pod = { ...me, workload: { namespace: 'prod', labels: { team: 'a', tier: '1' }, repo: 'x' } }
    expect(await decided({ env: ['ci', 'dev'], client: ['claude'] }, me)).toBe('POLICY_BLOCK')
    expect(await decided({ env: ['DEV'] }, me)).toBe('POLICY_NOT_APPLICABLE')
    expect(await decided({ env: ['dev'], client: ['codex'] }, me)).toBe('POLICY_NOT_APPLICABLE')
    expect(await decided({ workload: { namespace: ['prod'], labels: { team: 'a' } } }, pod)).toBe('POLICY_BLOCK')
    expect(await decided({ workload: { labels: { team: 'b' } } }, pod)).toBe('POLICY_NOT_APPLICABLE')
    expect(await decided({ workload: { labels: { toString: 'x' } } }, pod)).toBe('POLICY_NOT_APPLICABLE')
    expect(await decided({ workload: { branch: ['main'] } }, pod)).toBe('POLICY_NOT_APPLICABLE')
  })

  test('POL-010 all four argument predicates must hold, on own top-level keys', async () => {
    const args = {
      has_keys: ['path'],
      key_equals: { force: true },
      key_in: { branch: ['main', 'prod'] },
      numeric_range: { depth: { min: 1, max: 3 } },
    }
    const run = await runOf([{ kind: 'deny', match: { args }, effect: {} }])
    const whole = { path: null, force: true, branch: 'main', depth: 3 }
    expect(run.call('a', whole).decision.action).toBe('BLOCK')
    const misses = [
      { ...whole, force: 'true' },
      { ...whole, branch: 'dev' },
      { ...whole, depth: 4 },
      { ...whole, depth: '2' },
      { force: true, branch: 'main', depth: 1 },
    ]
    for (const miss of misses) expect(run.call('a', miss).decision.action).toBe('ALLOW')
  })

  test('POL-010 inherited keys are no keys, and __proto__ is one', async () => {
    const run = await runOf([
      { kind: 'deny', match: { args: { has_keys: ['__proto__'] } }, effect: {} },
      { kind: 'deny', match: { args: { has_keys: ['toString'] } }, effect: {} },
    ])
    expect(run.call('a', {}).decision.action).toBe('ALLOW')
    expect(run.call('a', JSON.parse('{"__proto__":1}') as Record<string, unknown>).decision.rule_id).toBe('r0')
    expect(run.call('a', { toString: 1 }).decision.rule_id).toBe('r1')
  })

  test('POL-STATE-001 budget and breaker accumulate independently', async () => {
    const run = await runOf([
      { kind: 'budget', effect: { budget: { limit_calls: 4, on_exceed: 'BLOCK' } } },
      { kind: 'breaker', effect: { breaker: { repeat_threshold: 3, repeat_window_ms: 1_000, on_trip: 'BLOCK' } } },
    ])
    const reasons = [run.call('a'), run.call('a'), run.call('a'), run.call('b'), run.call('c'), run.call('d')].map(
      ({ decision }) => decision.reason_code,
    )
    expect(reasons).toEqual([
      'DEFAULT_ALLOW',
      'DEFAULT_ALLOW',
      'BREAKER_TRIPPED',
      'DEFAULT_ALLOW',
      'DEFAULT_ALLOW',
      'BUDGET_EXCEEDED',
    ])
  })

  test('POL-STATE-002 throttled attempts do not spend budget', async () => {
    const run = await runOf([
      { kind: 'budget', effect: { budget: { limit_calls: 2, on_exceed: 'BLOCK' } } },
      {
        kind: 'rate_limit',
        effect: {
          rate_limit: { capacity: 1, refill_tokens: 1, refill_period_ms: 100, on_limit: 'THROTTLE', backoff_ms: 1 },
        },
      },
    ])
    expect(
      actions([run.call('a'), run.call('a'), run.call('a'), run.call('a', {}, 100), run.call('a', {}, 200)]),
    ).toEqual(['ALLOW', 'THROTTLE', 'THROTTLE', 'ALLOW', 'BLOCK'])
  })

  test('POL-STATE-003 calls blocked by dedupe do not spend budget', async () => {
    const run = await runOf([
      { kind: 'dedupe', effect: { dedupe: { window_ms: 1_000, on_duplicate: 'BLOCK' } } },
      { kind: 'budget', effect: { budget: { limit_calls: 2, on_exceed: 'BLOCK' } } },
    ])
    expect(actions([run.call('a'), run.call('a'), run.call('a', { n: 1 }), run.call('a', { n: 2 })])).toEqual([
      'ALLOW',
      'BLOCK',
      'ALLOW',
      'BLOCK',
    ])
  })

  test('POL-STATE-004 when several rules trip, rule order decides; TERMINATE_RUN overrides all, also a deny', async () => {
    const limit = (on_exceed: string): object => ({ kind: 'budget', effect: { budget: { limit_calls: 0, on_exceed } } })
    expect((await runOf([limit('REJECT_WITH_HINT'), limit('BLOCK')])).call('a')).toMatchObject({
      decision: { action: 'REJECT_WITH_HINT', rule_id: 'r0' },
      tripped: ['r0', 'r1'],
    })
    expect(
      (await runOf([{ kind: 'deny', effect: {} }, limit('BLOCK'), limit('TERMINATE_RUN')])).call('a').decision,
    ).toMatchObject({ action: 'TERMINATE_RUN', rule_id: 'r2', terminate: { terminate_code: 'BUDGET_EXCEEDED' } })
    expect((await runOf([limit('BLOCK'), { kind: 'deny', effect: {} }])).call('a').decision).toMatchObject({
      rule_id: 'r1',
    })
    expect((await runOf([{ kind: 'allow', effect: {} }, limit('BLOCK')])).call('a').decision).toMatchObject({
      rule_id: 'r1',
    })
  })
})

describe('accumulators', () => {
  test('seed 004 §2.3: a denied call still counts in budgets, rate limits and breakers', async () => {
    const run = await runOf([
      { kind: 'deny', match: named('bad'), effect: {} },
      { kind: 'budget', effect: { budget: { limit_calls: 2, on_exceed: 'BLOCK' } } },
    ])
    expect([run.call('bad'), run.call('bad'), run.call('good')].map(({ decision }) => decision.rule_id)).toEqual([
      'r0',
      'r0',
      'r1',
    ])
  })

  test('cost units: a call that does not fit is refused, a cheaper one is not', async () => {
    const run = await runOf([
      {
        kind: 'budget',
        match: named('big'),
        effect: { budget: { limit_cost_units: 10, cost_units_per_call: 4, on_exceed: 'BLOCK' } },
      },
    ])
    expect(actions(times(3, () => run.call('big')))).toEqual(['ALLOW', 'ALLOW', 'BLOCK'])
    expect(run.call('small').decision.action).toBe('ALLOW')
  })

  test('scopes: run counts all, tool counts by name, server_tool by both', async () => {
    const used = async (scope: string): Promise<string[]> => {
      const run = await runOf([{ kind: 'budget', effect: { budget: { scope, limit_calls: 1, on_exceed: 'BLOCK' } } }])
      return actions([
        run.call('a', {}, 0, 'x'),
        run.call('b', {}, 0, 'x'),
        run.call('a', {}, 0, 'y'),
        run.call('a', {}, 0, 'x'),
      ])
    }
    expect(await used('run')).toEqual(['ALLOW', 'BLOCK', 'BLOCK', 'BLOCK'])
    expect(await used('tool')).toEqual(['ALLOW', 'ALLOW', 'BLOCK', 'BLOCK'])
    expect(await used('server_tool')).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'BLOCK'])
  })

  test('an error breaker trips after its errors, counts only forwarded calls, and closes with its window', async () => {
    const run = await runOf([
      {
        kind: 'breaker',
        effect: {
          breaker: {
            error_threshold: 2,
            window_ms: 1_000,
            on_trip: 'TERMINATE_RUN',
            terminate_code: 'TOO_MANY_ERRORS',
          },
        },
      },
    ])
    const first = run.call('a')
    const second = run.call('a')
    run.end(first, true, 10)
    expect(run.call('a', {}, 20).decision.action).toBe('ALLOW')
    run.end(second, true, 30)
    const third = run.call('a', {}, 40)
    expect(third).toMatchObject({
      decision: { action: 'TERMINATE_RUN', terminate: { terminate_code: 'TOO_MANY_ERRORS' } },
      end: null,
    })
    expect(run.call('b', {}, 40).decision.action).toBe('ALLOW')
    expect(run.call('a', {}, 1_010).decision.action).toBe('ALLOW')
  })

  test('dedupe forgets a call that failed upstream, and only that one', async () => {
    const run = await runOf([{ kind: 'dedupe', effect: { dedupe: { window_ms: 100, on_duplicate: 'BLOCK' } } }])
    const first = run.call('a')
    run.end(first, true, 5)
    const second = run.call('a', {}, 6)
    expect(second.decision.action).toBe('ALLOW')
    run.end(first, true, 7)
    expect(run.call('a', {}, 8).decision.action).toBe('BLOCK')
    run.end(second, false, 9)
    expect(run.call('a', {}, 9).decision.action).toBe('BLOCK')
  })

  test('a moment that another process wrote and this one has not reached yet still counts', async () => {
    const run = await runOf([
      { kind: 'dedupe', match: named('d'), effect: { dedupe: { window_ms: 1_000, on_duplicate: 'BLOCK' } } },
      {
        kind: 'rate_limit',
        match: named('r'),
        effect: { rate_limit: { capacity: 1, refill_tokens: 1, refill_period_ms: 1_000, on_limit: 'BLOCK' } },
      },
    ])
    for (const tool of ['d', 'r']) expect(run.call(tool, {}, 5_000).decision.action).toBe('ALLOW')
    for (const tool of ['d', 'r']) expect(run.call(tool, {}, 4_999.5).decision.action).toBe('BLOCK')
  })

  test('a counter belongs to its rule and scope: a new limit is compared with what is spent', async () => {
    const budget = (limit_calls: number, more: object = {}, scope = 'run'): object => ({
      kind: 'budget',
      effect: { budget: { limit_calls, on_exceed: 'BLOCK', scope }, ...more },
    })
    const before = await runOf([budget(3)])
    for (let n = 0; n < 3; n += 1) before.call('a')
    const decided = async (rule: object): Promise<string> => {
      const after = await runOf([rule])
      const call = { args: {}, args_hash: '', wallMs: 0 }
      return decide(after.policy.planFor('fs', 'a'), call, before.counters, 0).decision.action
    }
    expect(await decided(budget(3, { message: 'other words' }))).toBe('BLOCK')
    expect(await decided(budget(3, { reason_code: 'OTHER' }))).toBe('BLOCK')
    expect(await decided(budget(2))).toBe('BLOCK')
    expect(await decided(budget(4))).toBe('ALLOW')
    expect(await decided(budget(3, {}, 'tool'))).toBe('ALLOW')
  })

  test('a throttled call is told to wait until there are tokens for it, or longer where the rule says so', async () => {
    const limit = (backoff_ms: number, more: object = {}): object => ({
      kind: 'rate_limit',
      effect: {
        rate_limit: {
          capacity: 4,
          refill_tokens: 1,
          refill_period_ms: 1_000,
          on_limit: 'THROTTLE',
          backoff_ms,
          ...more,
        },
      },
    })
    const waits = async (rule: object): Promise<unknown[]> => {
      const run = await runOf([rule])
      return [run.call('a', {}, 0), run.call('a', {}, 400)].map(({ decision }) => decision.backoff_ms)
    }
    expect(await waits(limit(100, { cost_tokens_per_call: 3 }))).toEqual([undefined, 1_600])
    expect(await waits(limit(60_000, { cost_tokens_per_call: 3 }))).toEqual([undefined, 60_000])
    expect(await waits(limit(100, { cost_tokens_per_call: 4, refill_tokens: 0 }))).toEqual([undefined, THROTTLE_MS_MAX])
  })

  test('memory is bounded: budgets are never forgotten, and one too many is an error', () => {
    const counters = new MemoryCounters()
    for (let i = 0; i < POLICY_BUDGETS_MAX; i += 1)
      counters.apply([{ key: `budget ${i}`, args: '', cell: [i], expiresMs: Infinity }], 0)
    expect(counters.get('budget 0', '')).toEqual([0])
    expect(() => counters.apply([{ key: 'budget more', args: '', cell: [1], expiresMs: Infinity }], 0)).toThrow(
      HeimdallError,
    )
    counters.apply([{ key: 'budget 0', args: '', cell: [7], expiresMs: Infinity }], 0)
    expect(counters.get('budget 0', '')).toEqual([7])
  })
})

describe('hints and modes', () => {
  const hint = {
    hint_text: 'push without force',
    hint_kind: 'ARG_FIX',
    suggested_args: { force: false },
    retry_advice: 'retry at once',
  }

  test('pack 0.2.0: deny with REJECT_WITH_HINT lays suggested_args over the call’s own', async () => {
    const run = await runOf([
      { kind: 'deny', match: { args: { key_equals: { force: true } } }, effect: { action: 'REJECT_WITH_HINT', hint } },
    ])
    const { decision } = run.call('push', { force: true, branch: 'main' })
    expect(decision).toMatchObject({
      action: 'REJECT_WITH_HINT',
      reason_code: 'POLICY_HINT',
      hint: { ...hint, suggested_args: { force: false, branch: 'main' } },
    })
    expect(run.call('push', decision.hint?.suggested_args ?? {}).decision.action).toBe('ALLOW')
  })

  test('suggested_args keep a __proto__ argument as an argument', async () => {
    const run = await runOf([{ kind: 'deny', effect: { action: 'REJECT_WITH_HINT', hint } }])
    const { decision } = run.call('a', JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>)
    expect(JSON.stringify(decision.hint?.suggested_args)).toBe('{"__proto__":{"x":1},"force":false}')
  })

  test('control sends a BLOCK as a hint where the rule has hint text, and only there', async () => {
    const limit = (hint_text?: string): object => ({
      kind: 'budget',
      effect: { budget: { limit_calls: 0, on_exceed: 'BLOCK', ...(hint_text === undefined ? {} : { hint_text }) } },
    })
    const decided = async (mode: string, rule: object) => (await runOf([rule], { mode })).call('a').decision
    expect(await decided('control', limit('ask first'))).toMatchObject({
      action: 'REJECT_WITH_HINT',
      hint: { hint_text: 'ask first', hint_kind: 'BUDGET', suggested_args: null },
    })
    expect((await decided('control', limit())).action).toBe('BLOCK')
    expect((await decided('guardrails', limit('ask first'))).action).toBe('BLOCK')
    expect((await decided('control', { kind: 'deny', effect: { hint } })).action).toBe('REJECT_WITH_HINT')
    expect((await decided('guardrails', { kind: 'deny', effect: { hint } })).action).toBe('BLOCK')
    expect((await decided('control', { kind: 'deny', effect: {} })).action).toBe('BLOCK')
  })

  test('a rate limit with a hint says how long to wait', async () => {
    const run = await runOf([
      {
        kind: 'rate_limit',
        effect: {
          rate_limit: {
            capacity: 1,
            refill_tokens: 1,
            refill_period_ms: 500,
            on_limit: 'REJECT_WITH_HINT',
            hint_text: 'slow down',
          },
        },
      },
    ])
    run.call('a')
    expect(run.call('a', {}, 100).decision.hint).toEqual({
      hint_text: 'slow down',
      hint_kind: 'RATE',
      suggested_args: null,
      retry_advice: 'retry after 400 ms',
    })
  })

  test('match.time.utc_hours, also over midnight', async () => {
    const run = await runOf([{ kind: 'deny', match: { time: { utc_hours: ['22-6'] } }, effect: {} }])
    const at = (hour: number): string => run.call('a', {}, Date.UTC(2026, 0, 2, hour, 30)).decision.action
    expect([21, 22, 0, 5, 6].map((hour) => at(hour))).toEqual(['ALLOW', 'BLOCK', 'BLOCK', 'BLOCK', 'ALLOW'])
  })

  test('decision_on_no_match turns a list of allows into an allow list', async () => {
    const run = await runOf([{ kind: 'allow', match: named('ls'), effect: {} }], {
      defaults: { decision_on_no_match: 'BLOCK' },
    })
    expect(run.call('ls').decision.action).toBe('ALLOW')
    expect(run.call('rm').decision).toMatchObject({ action: 'BLOCK', rule_id: null, reason_code: 'DEFAULT_BLOCK' })
  })
})

describe('errors of evaluation', () => {
  const needsArgs = { kind: 'deny', match: { args: { has_keys: ['x'] } }, effect: {} }
  const dedupe = { kind: 'dedupe', effect: { dedupe: { window_ms: 9, on_duplicate: 'BLOCK' } } }

  test('uninspectable arguments: rules that need them take decision_on_error, others decide as usual', async () => {
    const decided = async (rules: readonly object[], decision_on_error: string) =>
      (await runOf(rules, { defaults: { decision_on_error } })).call('a', 'uninspectable').decision
    for (const rule of [
      needsArgs,
      dedupe,
      { kind: 'breaker', effect: { breaker: { repeat_threshold: 2, repeat_window_ms: 9, on_trip: 'BLOCK' } } },
    ]) {
      expect(await decided([rule], 'BLOCK')).toMatchObject({
        action: 'BLOCK',
        rule_id: 'r0',
        reason_code: 'ARGS_UNINSPECTABLE',
      })
      expect((await decided([rule], 'ALLOW')).action).toBe('ALLOW')
    }
    expect(await decided([{ kind: 'allow', effect: {} }, needsArgs], 'BLOCK')).toMatchObject({
      action: 'ALLOW',
      rule_id: 'r0',
    })
    expect(await decided([{ kind: 'allow', effect: {} }, dedupe], 'BLOCK')).toMatchObject({
      action: 'BLOCK',
      rule_id: 'r1',
    })
    expect(await decided([{ kind: 'deny', effect: {} }, needsArgs], 'ALLOW')).toMatchObject({
      action: 'BLOCK',
      rule_id: 'r0',
      reason_code: 'POLICY_BLOCK',
    })
  })

  test('fail_open_read_tools opens for tools that are tagged read_like and not write_like', async () => {
    const tag = (glob: string, name: string): object => ({
      kind: 'tag',
      match: named(glob),
      effect: { tag: { add_risk_class: [name] } },
    })
    const run = await runOf([tag('read_*', 'read_like'), tag('*_write', 'write_like'), needsArgs], {
      defaults: { decision_on_error: 'BLOCK', fail_open_read_tools: true },
    })
    expect(
      actions([
        run.call('read_x', 'uninspectable'),
        run.call('x', 'uninspectable'),
        run.call('read_write', 'uninspectable'),
      ]),
    ).toEqual(['ALLOW', 'BLOCK', 'BLOCK'])
  })

  test('a name too long for a regex is an error of evaluation', async () => {
    const rule = { kind: 'deny', match: { tool_name: { regex: ['^rm'] } }, effect: {} }
    expect((await runOf([rule])).call('x'.repeat(300)).decision).toMatchObject({
      action: 'BLOCK',
      reason_code: 'NAME_TOO_LONG',
    })
    expect(
      (await runOf([rule], { defaults: { decision_on_error: 'ALLOW' } })).call('x'.repeat(300)).decision.action,
    ).toBe('ALLOW')
  })

  test('a broken bundle takes the decision_on_error that it still states, in its mode', async () => {
    const decided = async (text: string | null) => {
      const plan = (await openPolicyOnError(text, me)).planFor('fs', 'a')
      return decide(plan, { args: {}, args_hash: '', wallMs: 0 }, new MemoryCounters(), 0).decision
    }
    expect(await decided(null)).toMatchObject({
      action: 'BLOCK',
      reason_code: 'POLICY_ERROR',
      severity: 'critical',
      enforced: true,
    })
    expect(await decided('mode: guardrails\ndefaults: {decision_on_error: ALLOW}\nrules: 7')).toMatchObject({
      action: 'ALLOW',
      reason_code: 'POLICY_ERROR',
    })
    expect(await decided('mode: observe\nrules: 7')).toMatchObject({ action: 'BLOCK', enforced: false })
    expect(await decided('}{')).toMatchObject({ action: 'BLOCK', enforced: true })
    expect(await decided('- '.repeat(100_000))).toMatchObject({ action: 'BLOCK' })
  })

  test('decideOnError is decision_on_error, but for read tools that may fail open', async () => {
    const { policy } = await runOf([], { defaults: { decision_on_error: 'BLOCK', fail_open_read_tools: true } })
    expect(decideOnError(policy, [], 'no room').action).toBe('BLOCK')
    expect(decideOnError(policy, ['read_like'], 'no room').action).toBe('ALLOW')
    expect(decideOnError(policy, ['read_like', 'write_like'], 'no room')).toMatchObject({
      action: 'BLOCK',
      reason_code: 'POLICY_ERROR',
      summary: 'no room',
    })
  })
})

test('a tool invented for each call costs a plan each and no more', async () => {
  const run = await runOf([{ kind: 'deny', match: named('x*'), effect: {} }])
  for (let i = 0; i < 5_000; i += 1) expect(run.call(`t${i}`).decision.action).toBe('ALLOW')
  expect(run.policy.planFor('fs', 't1')).toBe(run.policy.planFor('fs', 't1'))
})
