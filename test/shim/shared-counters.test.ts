// Counters in the folder of a run: more of them than one statement takes, and the calls of one turn, which are counted together.
import { expect, onTestFinished, test } from 'vitest'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { openPolicy, type Plan } from '../../src/policy/decide/plan.ts'
import { CallArguments } from '../../src/shim/call/call-arguments.ts'
import { type SharedState, sharedState } from '../../src/shim/policy-state.ts'
import { temporaryFolder } from '../support/project.ts'

const ALLOW = { action: 'ALLOW', reason_code: 'OK', message: 'fine' }
const RULE = { enabled: true, severity: 'info', match: {} }
const NOW = { bootId: 'b', monoMs: 1_000 }

const budget = (name: string, limit: number): object => ({
  ...RULE,
  rule_id: name,
  kind: 'budget',
  effect: { budget: { scope: 'run', limit_calls: limit, on_exceed: 'BLOCK' } },
})

async function planWith(budgets: readonly object[]): Promise<Plan> {
  const bundle = {
    policy_id: 'many',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [{ ...RULE, rule_id: 'all', kind: 'allow', effect: ALLOW }, ...budgets],
  }
  const snapshot = await compileBundle(JSON.stringify(bundle), { name: 'many' })
  return openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' }).planFor('server', 'tool')
}

/** Two shims of one run. */
function twoShims(): [SharedState, SharedState] {
  const folder = temporaryFolder()
  const open = (): SharedState => {
    const shim = sharedState(folder, NOW)
    onTestFinished(() => shim.close())
    return shim
  }
  return [open(), open()]
}

/** So many calls that arrive together. */
function turn(shim: SharedState, plan: Plan, calls: number): string[] {
  const decided = Array.from({ length: calls }, () => {
    const { decision } = shim.decide(plan, new CallArguments(Buffer.from('{}'), 0), 1_000)
    return decision.rule_id === null ? decision.action : `${decision.action} ${decision.rule_id}`
  })
  shim.endTurn(1_000)
  return decided
}

test('every one of seventy budgets is counted, by two shims together (seed 004 §2.3)', async () => {
  // The last one is the tightest: it trips only if the last group of cells is read and written like the first.
  const plan = await planWith(Array.from({ length: 70 }, (_, n) => budget(`budget-${n}`, 72 - n)))
  const [one, other] = twoShims()
  const decided = [one, other, one, other].flatMap((shim) => turn(shim, plan, 1))
  expect(decided).toEqual(['ALLOW all', 'ALLOW all', 'ALLOW all', 'BLOCK budget-69'])
})

test('calls of one turn spend one after the other, and the next shim begins where they ended', async () => {
  const plan = await planWith([budget('few', 5)])
  const [one, other] = twoShims()
  expect(turn(one, plan, 3)).toEqual(['ALLOW all', 'ALLOW all', 'ALLOW all'])
  expect(turn(other, plan, 3)).toEqual(['ALLOW all', 'ALLOW all', 'BLOCK few'])
  expect(turn(one, plan, 1)).toEqual(['BLOCK few'])
})

test('a turn that nobody ends counts nothing, and keeps no other shim waiting', async () => {
  const plan = await planWith([budget('few', 2)])
  const [one, other] = twoShims()
  expect(one.decide(plan, new CallArguments(Buffer.from('{}'), 0), 1_000).decision.action).toBe('ALLOW')
  await Promise.resolve()
  expect(turn(other, plan, 3)).toEqual(['ALLOW all', 'ALLOW all', 'BLOCK few'])
})
