// Random policies over virtual time, against an implementation that keeps the whole history and counts in it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NaivePolicy } from '../../../test/support/naive-policy.ts'
import { bundle, compiled, moves } from '../../../test/support/random-policy.ts'
import { scaled } from '../../../test/support/scale.ts'
import { decide, settle } from './decide.ts'
import { MemoryCounters } from './memory-counters.ts'
import { openPolicy } from './plan.ts'

const REASONS = ['BUDGET_EXCEEDED', 'POLICY_THROTTLED', 'BREAKER_TRIPPED', 'DEDUPE_DUPLICATE', 'ARGS_UNINSPECTABLE']
const ACTIONS = ['ALLOW', 'BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN']

test('seed 004 §2.3: every decision is what the history of the run says it must be', () => {
  const seen = new Map<string, number>()
  const property = fc.property(bundle, moves, (value, steps) => {
    const snapshot = compiled(value)
    const policy = openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' })
    const counters = new MemoryCounters()
    const naive = new NaivePolicy(snapshot)
    const open: { index: number; end: ReturnType<typeof decide>['end'] }[] = []
    let nowMs = Date.UTC(2026, 10, 1, 11, 0, 0)
    for (const step of steps) {
      nowMs += step.after
      if (step.do === 'call') {
        const hash =
          step.args === 'uninspectable'
            ? ''
            : JSON.stringify(Object.entries(step.args).sort(([a], [b]) => (a < b ? -1 : 1)))
        const verdict = decide(
          policy.planFor(step.server, step.tool),
          { args: step.args, args_hash: hash, wallMs: nowMs },
          counters,
          nowMs,
        )
        counters.apply(verdict.writes, nowMs)
        const expected = naive.decide({ ...step, hash, atMs: nowMs })
        const { action, rule_id, reason_code, enforced } = verdict.decision
        expect({ action, rule_id, reason_code, tripped: verdict.tripped, tags: [...verdict.tags].sort() }).toEqual({
          action: expected.action,
          rule_id: expected.ruleId,
          reason_code: expected.reason,
          tripped: expected.tripped,
          tags: [...expected.tags].sort(),
        })
        expect(enforced).toBe(snapshot.mode !== 'observe')
        seen.set(`${action} ${reason_code}`, (seen.get(`${action} ${reason_code}`) ?? 0) + 1)
        if (action === 'ALLOW') open.push({ index: expected.index, end: verdict.end })
      } else if (step.do === 'end' && open.length > 0) {
        const [{ index, end } = { index: -1, end: null }] = open.splice(step.which % open.length, 1)
        naive.end(index, step.isError, nowMs)
        if (end !== null) counters.apply(settle(end, step.isError ? 'failed' : 'done', counters, nowMs), nowMs)
      }
    }
  })
  const numRuns = scaled(50, 80_000)
  fc.assert(property, { numRuns })
  // The property is empty unless each way to decide was taken; the rarest may want more policies than one round has.
  const missing = (): string[] => {
    const taken = [...seen.keys()]
    return [
      ...REASONS.filter((reason) => !taken.some((way) => way.endsWith(reason))),
      ...ACTIONS.filter((action) => !taken.some((way) => way.startsWith(action))),
    ]
  }
  for (let round = 0; round < 20 && missing().length > 0; round += 1) fc.assert(property, { numRuns })
  expect(missing()).toEqual([])
})
