// A yes for one call that two shims reach for: the one that comes too late is asked about again, and has spent no budget.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { openPolicy } from '../../src/policy/decide/plan.ts'
import type { Verdict } from '../../src/policy/types.ts'
import { APPROVAL_MIGRATIONS, Approvals } from '../../src/runs/approvals.ts'
import { memoryState, sharedState } from '../../src/shim/policy-state.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, rule, tool } from '../support/shim-client.ts'

const RULES = [
  rule('ask', 'deny', tool('write'), { action: 'ASK', ask: { wait_ms: 0 } }),
  rule('few', 'budget', tool('write'), { budget: { limit_calls: 1, on_exceed: 'BLOCK' } }),
]
const call = { serverName: 'fs', toolName: 'write', argsHash: 'h' }
const now = { bootId: 'boot', monoMs: 1 }

test.each(['memory', 'the folder of the run'])('with counters in %s', async (where) => {
  const folder = temporaryFolder()
  const snapshot = await compileBundle(JSON.stringify(bundle(RULES)), { name: 'test' })
  const plan = openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' }).planFor('fs', 'write')
  const state = where === 'memory' ? memoryState() : sharedState(folder, now)
  const open = (): Approvals =>
    new Approvals(openDatabase(join(folder, 'approvals.db'), { migrations: APPROVAL_MIGRATIONS }))
  const ours = open()
  const theirs = open()
  const [asking] = plan.asks
  if (asking === undefined) throw new Error('the plan does not ask')
  const question = { runId: 'r', agentId: 'a', question: '?', argsPreview: '', askedAt: '' }
  ours.ask({ ...call, ...asking, ...question })
  const [request] = ours.list()
  if (request === undefined) throw new Error('nobody was asked')
  ours.answer(request, 'allow', { by: 'p', at: '', lasts: { kind: 'once' }, ofRule: false, now })

  const facts = { args: {}, args_hash: 'h', wallMs: 0, approvals: ours.find(plan.asks, call, now).byRule }
  const [onceId] = ours.find(plan.asks, call, now).onceIds.values()
  const late = state.decide(plan, facts, 1, ({ decision }) => {
    expect(decision.reason_code).toBe('APPROVED')
    expect(theirs.take(onceId ?? -1)).toBe(true)
    const isOurs = ours.take(onceId ?? -1)
    facts.approvals = new Map()
    return isOurs
  })
  state.endTurn(1)
  expect(late.decision.reason_code).toBe('APPROVAL_REQUIRED')
  expect(readings(late)).toEqual([{ ruleId: 'few', before: 0, after: 0 }])

  // The budget is for one call, and it is still there.
  const allowed = { ...facts, approvals: new Map([['ask', 'allow' as const]]) }
  expect(readings(state.decide(plan, allowed, 2))).toEqual([{ ruleId: 'few', before: 0, after: 1 }])
  state.endTurn(2)
  state.close()
  ours.close()
  theirs.close()
})

function readings({ counters }: Verdict): readonly { ruleId: string; before: number; after: number }[] {
  return Array.from({ length: counters.count }, (_, i) => ({
    ruleId: counters.counted(i).rule_id,
    before: counters.before(i),
    after: counters.after(i),
  }))
}
