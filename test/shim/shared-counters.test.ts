// Counters in the folder of a run, for a policy with more of them than one statement takes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { openPolicy } from '../../src/policy/decide/plan.ts'
import { CallArguments } from '../../src/shim/call/call-arguments.ts'
import { sharedState } from '../../src/shim/policy-state.ts'

test('every one of seventy budgets is counted, by two shims together (seed 004 §2.3)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hm-counters-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const allow = { action: 'ALLOW', reason_code: 'OK', message: 'fine' }
  const rule = { enabled: true, severity: 'info', match: {} }
  // The last one is the tightest: it trips only if the last group of cells is read and written like the first.
  const budgets = Array.from({ length: 70 }, (_, n) => ({
    ...rule,
    rule_id: `budget-${n}`,
    kind: 'budget',
    effect: { budget: { scope: 'run', limit_calls: 72 - n, on_exceed: 'BLOCK' } },
  }))
  const bundle = {
    policy_id: 'many',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [{ ...rule, rule_id: 'all', kind: 'allow', effect: allow }, ...budgets],
  }
  const policy = openPolicy(await compileBundle(JSON.stringify(bundle), { name: 'many' }), {
    env: 'dev',
    agent_id: 'a',
    client: 'custom',
  })
  const now = { bootId: 'b', monoMs: 1_000 }
  const shims = [sharedState(folder, now), sharedState(folder, now)]
  onTestFinished(() => shims.forEach((shim) => shim.close()))
  const plan = policy.planFor('server', 'tool')
  const decided = [0, 1, 0, 1].map(
    (n) => shims[n]?.decide(plan, new CallArguments(Buffer.from('{}'), 0), 1_000).decision,
  )
  expect(decided.map((decision) => decision?.action)).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'BLOCK'])
  expect(decided[3]?.rule_id).toBe('budget-69')
})
