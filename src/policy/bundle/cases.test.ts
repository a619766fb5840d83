// Case files and explanations: what they say of a policy, and what is refused.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HeimdallError } from '../../errors.ts'
import { readCases, runCases } from './cases.ts'
import { compileBundle } from './compile.ts'
import { explainCall } from '../decide/why-decided.ts'
import { lintSnapshot } from './lint.ts'
import { openPolicy } from '../decide/plan.ts'

const BUNDLE = `
policy_id: team
version: "1"
mode: guardrails
selectors: {env: [dev]}
rules:
  - {rule_id: writes, kind: tag, match: {tool_name: {glob: [push]}}, effect: {tag: {add_risk_class: [write_like]}}}
  - {rule_id: forced, kind: tag, match: {args: {key_equals: {force: true}}}, effect: {tag: {add_risk_class: [forced]}}}
  - {rule_id: no-force, kind: deny, match: {risk_class: [forced]}, effect: {action: REJECT_WITH_HINT, hint: {hint_text: no, suggested_args: {force: false}}}}
  - {rule_id: few, kind: budget, match: {risk_class: [write_like]}, effect: {budget: {limit_calls: 2, on_exceed: BLOCK}}}
  - {rule_id: flaky, kind: breaker, effect: {breaker: {error_threshold: 1, window_ms: 1000, on_trip: BLOCK}}}
  - {rule_id: 'off', kind: deny, enabled: false, effect: {}}
  - {rule_id: elsewhere, kind: deny, match: {server_name: {glob: [db]}}, effect: {}}
  - {rule_id: rest, kind: allow, effect: {}}
  - {rule_id: late, kind: deny, effect: {}}
`

const CASES = `
policy: team.yaml
cases:
  - name: force is refused with a way out
    server: git
    tool: push
    args: {force: true, branch: main}
    expect: {action: REJECT_WITH_HINT, rule_id: no-force, hint_kind: ARG_FIX, suggested_args: {branch: main, force: false}, tags: [forced, write_like]}
  - name: two pushes
    calls:
      - {server: git, tool: push, times: 2, expect: ALLOW}
      - {server: git, tool: push, expect: {action: BLOCK, reason_code: BUDGET_EXCEEDED}}
  - name: an error opens the breaker for a second
    calls:
      - {server: git, tool: log, result: error, expect: ALLOW}
      - {server: git, tool: log, after_ms: 999, expect: {action: BLOCK, rule_id: flaky}}
      - {server: git, tool: log, after_ms: 1, expect: ALLOW}
  - name: not for production
    identity: {env: prod}
    server: git
    tool: push
    expect: {action: ALLOW, reason_code: POLICY_NOT_APPLICABLE}
`

test('cases pass, each as a run of its own over virtual time', async () => {
  const { policy, cases } = await readCases(CASES, 'cases.yaml')
  expect(policy).toBe('team.yaml')
  const results = runCases(await compileBundle(BUNDLE, { name: 'team.yaml' }), cases)
  expect(results.map(({ failures }) => failures)).toEqual([[], [], [], []])
})

test('a case that fails says which call got what', async () => {
  const { cases } = await readCases(
    'cases: [{name: x, calls: [{server: git, tool: push, times: 3, expect: ALLOW}]}]',
    'c',
  )
  const [result] = runCases(await compileBundle(BUNDLE, { name: 'b' }), cases)
  expect(result).toEqual({
    name: 'x',
    passed: false,
    failures: ['call 1, time 3 of 3: action is "BLOCK", not "ALLOW" (the budget few is used up)'],
  })
})

test('repetitions that fail alike are counted, not listed', async () => {
  const { cases } = await readCases(
    'cases: [{name: x, calls: [{server: git, tool: push, times: 5000, expect: ALLOW}]}]',
    'c',
  )
  const [result] = runCases(await compileBundle(BUNDLE, { name: 'b' }), cases)
  expect(result?.failures).toEqual([
    'call 1, 4998 of 5000 times (3 to 5000): action is "BLOCK", not "ALLOW" (the budget few is used up)',
  ])
})

test('a broken case file is refused with its line', async () => {
  const refused = readCases('cases:\n  - name: x\n    server: a\n    tool: b\n    expect: MAYBE\n', 'c.yaml')
  await expect(refused).rejects.toThrow(HeimdallError)
  await expect(refused).rejects.toThrow('c.yaml:5:5: cases[0].expect: "MAYBE" is not one of ALLOW')
})

test('explain says of every rule what it has to do with the call', async () => {
  const policy = openPolicy(await compileBundle(BUNDLE, { name: 'b' }), { env: 'dev', agent_id: 'a', client: 'c' })
  const explained = (args: Record<string, unknown>, tool = 'push') =>
    explainCall(
      policy,
      {
        server: 'git',
        tool,
        method: 'tools/call',
        annotations: undefined,
        answers: new Map(),
        before: { times: 0, result: 'done' },
        args,
        args_hash: '',
        wallMs: 0,
      },
      0,
    )
  const { decision, rules } = explained({})
  expect(decision).toMatchObject({ action: 'ALLOW', rule_id: 'rest' })
  expect(rules.map(({ rule_id, took_part, note }) => `${took_part ? '*' : '-'} ${rule_id}: ${note}`)).toEqual([
    '* writes: tags the call write_like',
    '- forced: its arguments, classes or hours do not match',
    '- no-force: its arguments, classes or hours do not match',
    '* few: counts this call and is within its limit',
    '* flaky: counts this call and is within its limit',
    '- off: is disabled',
    '- elsewhere: names other servers',
    '* rest: matches, and decides',
    '- late: is not asked: a rule above decides every call of this tool',
  ])
  expect(explained({ force: true }).rules.find(({ rule_id }) => rule_id === 'no-force')?.note).toBe(
    'matches, and decides',
  )
  expect(explained({}, 'log').rules[0]?.note).toBe('names other tools')
})

test('the bundle and the cases of docs/policy.md are valid, clean and pass', async () => {
  const [bundle = '', cases = ''] = [...readFileSync('docs/policy.md', 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, text]) => text ?? '',
  )
  const snapshot = await compileBundle(bundle, { name: 'docs/policy.md' })
  expect(lintSnapshot(snapshot)).toEqual([])
  const results = runCases(snapshot, (await readCases(cases, 'docs/policy.md')).cases)
  expect(results.flatMap(({ failures }) => failures)).toEqual([])
})
