// A policy decision alone: ten rules against a thousand, and the first plan of a tool.
import { decide } from '../src/policy/decide/decide.ts'
import { readBundle } from '../src/policy/bundle/bundle.ts'
import { lintSnapshot } from '../src/policy/bundle/lint.ts'
import { MemoryCounters } from '../src/policy/decide/memory-counters.ts'
import { type Policy, openPolicy } from '../src/policy/decide/plan.ts'
import { Problems } from '../src/policy/bundle/problems.ts'
import { runBench, type Side } from './support/bench.ts'

const limitless = 1_000_000_000

/** Tags, allow and deny by glob, regex and arguments, two budgets, a token bucket, a breaker and a dedupe rule. */
const TEN_RULES: readonly object[] = [
  {
    rule_id: 'reads',
    kind: 'tag',
    match: { tool_name: { glob: ['read_*', 'list_*'] } },
    effect: { tag: { add_risk_class: ['read_like'] } },
  },
  {
    rule_id: 'writes',
    kind: 'tag',
    match: { tool_name: { regex: ['^(write|edit|move)_'] } },
    effect: { tag: { add_risk_class: ['write_like'] } },
  },
  {
    rule_id: 'no-force',
    kind: 'deny',
    match: { tool_name: { glob: ['git_*', 'edit_*'] }, args: { key_equals: { force: true } } },
    effect: {},
  },
  { rule_id: 'no-rm', kind: 'deny', match: { tool_name: { regex: ['(^|_)(rm|delete)$'] } }, effect: {} },
  { rule_id: 'calls', kind: 'budget', effect: { budget: { limit_calls: limitless, on_exceed: 'BLOCK' } } },
  {
    rule_id: 'writes-cost',
    kind: 'budget',
    match: { risk_class: ['write_like'] },
    effect: { budget: { scope: 'tool', limit_cost_units: limitless, on_exceed: 'BLOCK' } },
  },
  {
    rule_id: 'pace',
    kind: 'rate_limit',
    effect: {
      rate_limit: {
        capacity: limitless,
        refill_tokens: 10,
        refill_period_ms: 100,
        on_limit: 'THROTTLE',
        backoff_ms: 100,
      },
    },
  },
  {
    rule_id: 'errors',
    kind: 'breaker',
    match: { risk_class: ['network_like'] },
    effect: { breaker: { error_threshold: 5, window_ms: 10_000, on_trip: 'BLOCK' } },
  },
  {
    rule_id: 'once',
    kind: 'dedupe',
    match: { tool_name: { glob: ['send_*'] } },
    effect: { dedupe: { window_ms: 10_000, on_duplicate: 'BLOCK' } },
  },
  { rule_id: 'rest', kind: 'allow', effect: {} },
]

/** Rules for tools of other servers: they must not be felt. */
const OTHERS: readonly object[] = Array.from({ length: 990 }, (_, i) => ({
  rule_id: `other-${i}`,
  kind: ['deny', 'budget', 'deny'][i % 3],
  match: { tool_name: i % 2 === 0 ? { glob: [`server${i}_*`] } : { regex: [`^svc${i}_(get|put)$`] } },
  effect: i % 3 === 1 ? { budget: { limit_calls: 5, on_exceed: 'BLOCK' } } : {},
}))

function policyOf(rules: readonly object[]): Policy {
  const problems = new Problems()
  const snapshot = readBundle({ policy_id: 'bench', version: '1', mode: 'guardrails', rules }, problems)
  if (!problems.isEmpty) throw new Error(JSON.stringify(problems.located(() => undefined)))
  return openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' })
}

const call = { args: { path: 'src/a.ts', force: false }, args_hash: 'f'.repeat(64), wallMs: 0 }
const TOOLS = ['read_file', 'list_dir', 'edit_file', 'write_file', 'search']

function microsecondsOf(name: string, policy: Policy): Side {
  const counters = new MemoryCounters()
  return {
    name,
    measure() {
      const rounds = 100_000
      const before = performance.now()
      for (let i = 0; i < rounds; i += 1) {
        const { decision, writes } = decide(policy.planFor('fs', TOOLS[i % TOOLS.length] ?? ''), call, counters, i)
        if (decision.action !== 'ALLOW') throw new Error(JSON.stringify(decision))
        counters.apply(writes, i)
      }
      return ((performance.now() - before) * 1_000) / rounds
    },
  }
}

function millisecondsOf(act: () => unknown): number {
  const before = performance.now()
  act()
  return performance.now() - before
}

/** About 300 bytes, as a host sends a command. */
const COMMAND = {
  command: 'git fetch origin && git rebase origin/main && npm run build -- --mode production && git status --short',
  cwd: 'packages/server',
  env: { CI: '1', NODE_ENV: 'test', LOG: 'debug', TERM: 'xterm-256color' },
  description: 'brings the branch up to date, builds it and shows what has changed since',
  timeout_ms: 120_000,
}

function textLookOf(name: string, policy: Policy): Side {
  const counters = new MemoryCounters()
  return {
    name,
    measure() {
      const rounds = 50_000
      const before = performance.now()
      for (let i = 0; i < rounds; i += 1) {
        // A new object each time, as calls have.
        const facts = { args: { ...COMMAND }, args_hash: call.args_hash, wallMs: i }
        const { decision } = decide(policy.planFor('sh', 'run'), facts, counters, i)
        if (decision.action !== 'ALLOW') throw new Error(JSON.stringify(decision))
      }
      return ((performance.now() - before) * 1_000) / rounds
    },
  }
}

const NO_FORCE = {
  rule_id: 'no-force-text',
  kind: 'deny',
  match: { args: { text: { regex: ['push.*(--force|--mirror|\\s-[a-z]*f)'], ignore_case: true } } },
  effect: {},
}

/** Microseconds for a tool that was never seen: all names are matched, with regexes that were warmed at load. */
function firstPlanOf(name: string, policy: Policy): Side {
  let tool = 0
  return {
    name,
    measure() {
      const before = performance.now()
      for (let i = 0; i < 20; i += 1) policy.planFor('fs', `unseen_tool_${tool++}`)
      return ((performance.now() - before) * 1_000) / 20
    },
  }
}

const TEN_THOUSAND: readonly object[] = Array.from({ length: 10_000 }, (_, i) => ({
  rule_id: `r${i}`,
  kind: i % 2 === 0 ? 'deny' : 'allow',
  match:
    i % 5 === 0
      ? { tool_name: { regex: [`^s${i}_(g|p)$`] } }
      : { tool_name: { glob: [`t${i}`, `u${i}_*`] }, args: { key_equals: { id: i } } },
  effect: {},
}))

await runBench({
  name: 'policy',
  about:
    'decide and apply in memory, five tools in turn; aims 0.5 µs with 10 rules, 1 µs with 1,000 on a quiet machine',
  prepare() {
    const ten = policyOf(TEN_RULES)
    const thousand = policyOf([...TEN_RULES.slice(0, 5), ...OTHERS, ...TEN_RULES.slice(5)])
    const large = policyOf(TEN_THOUSAND).snapshot
    return {
      comparisons: [
        {
          what: 'lint of 10,000 rules beside their compilation',
          unit: 'ms',
          rounds: 3,
          ours: { name: 'lint', measure: () => millisecondsOf(() => lintSnapshot(large)) },
          peers: [
            {
              name: 'compile',
              measure: () => millisecondsOf(() => policyOf(TEN_THOUSAND)),
              goal: { atMost: 2 },
            },
          ],
        },
        {
          what: 'one decision with its counters',
          unit: 'µs',
          rounds: 15,
          ours: microsecondsOf('1,000 rules', thousand),
          peers: [{ ...microsecondsOf('10 rules', ten), goal: { atMost: 2.5 } }],
        },
        {
          what: 'args.text over a call of 300 bytes; aim 5 µs',
          unit: 'µs',
          rounds: 9,
          ours: textLookOf('with the rule', policyOf([NO_FORCE, { rule_id: 'rest', kind: 'allow', effect: {} }])),
          peers: [textLookOf('without', policyOf([{ rule_id: 'rest', kind: 'allow', effect: {} }]))],
        },
        {
          what: 'first plan of a new tool',
          unit: 'µs',
          rounds: 9,
          ours: firstPlanOf('1,000 rules, 500 of them regexes', thousand),
          peers: [firstPlanOf('10 rules', ten)],
        },
      ],
    }
  },
})
