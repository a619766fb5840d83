// Budgets, windows and policy reloads: clock steps, approvals used once, and files that change next to the policy.
import { appendFileSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { POLICY_SETTLE_MS } from '../../src/limits.ts'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { openPolicy } from '../../src/policy/decide/plan.ts'
import type { Verdict } from '../../src/policy/types.ts'
import { APPROVAL_MIGRATIONS, Approvals } from '../../src/runs/approvals.ts'
import { CallArguments } from '../../src/shim/call/call-arguments.ts'
import { watchPolicy } from '../../src/shim/policy-source.ts'
import { memoryState, sharedState } from '../../src/shim/policy-state.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, type Json, ofType, rule, type ShimClient, startShim, tool } from '../support/shim-client.ts'
import { steppedWall } from '../support/stepped-wall.ts'
import { until } from '../support/wait.ts'

// Windows use the monotonic clock; only hours of the day come from the wall clock (seed 004 §2.4, §2.5).
describe('clock steps', () => {
  const HOUR = 3_600_000
  const RULES = [
    rule('once', 'dedupe', tool('write'), { dedupe: { scope: 'tool', window_ms: HOUR, on_duplicate: 'BLOCK' } }),
    rule('pace', 'rate_limit', tool('read'), {
      rate_limit: { scope: 'run', capacity: 2, refill_tokens: 2, refill_period_ms: 1_500, on_limit: 'BLOCK' },
    }),
    rule('loop', 'breaker', tool('fail'), {
      breaker: { scope: 'tool', error_threshold: 2, window_ms: HOUR, on_trip: 'BLOCK' },
    }),
  ]

  const isRefused = (answer: Json): boolean => answer['error']?.data?.subluminal !== undefined

  test.each([
    ['alone', 'sub', {}],
    ['of a shared run', 'heimdall', { SUB_RUN_ID: 'r' }],
  ] as const)('no step frees a window or freezes a bucket, in a shim %s', async (_, bin, env) => {
    const wall = steppedWall()
    const shim: ShimClient = startShim({ bin, ownProcess: true, env: { ...env, ...wall.env }, policy: bundle(RULES) })
    expect(isRefused(await shim.call('write', { a: 1 }))).toBe(false)
    for (let n = 0; n < 2; n += 1) await shim.call('fail', { n })
    await until('the bucket to be empty', async () => isRefused(await shim.call('read')))
    for (const offsetMs of [-30 * 24 * HOUR, 2 * HOUR, 30 * 24 * HOUR, -2 * HOUR]) {
      wall.step(offsetMs)
      expect(isRefused(await shim.call('write', { a: 1 }))).toBe(true)
      expect(isRefused(await shim.call('fail', { offsetMs }))).toBe(true)
    }
    // The wall stands two hours back, and a period of the bucket is over in two seconds all the same.
    await until('the bucket to be filled again', async () => !isRefused(await shim.call('read')))
    await shim.end()
  })

  test('utc_hours follow the wall, and a run that lasts a moment says so whatever the wall did', async () => {
    const hour = new Date().getUTCHours()
    const wall = steppedWall()
    const deny = rule(
      'closed',
      'deny',
      { time: { utc_hours: [(hour + 12) % 24] } },
      { action: 'BLOCK', reason_code: 'CLOSED', message: 'closed' },
    )
    const shim = startShim({ ownProcess: true, env: wall.env, policy: bundle([deny]) })
    expect(isRefused(await shim.call('echo'))).toBe(false)
    wall.step(12 * HOUR)
    expect(isRefused(await shim.call('echo'))).toBe(true)
    const { events } = await shim.end()
    expect(ofType(events, 'run_end')[0]?.['run'].summary.duration_ms).toBeLessThan(HOUR)
    for (const end of ofType(events, 'tool_call_end')) expect(end['latency_ms']).toBeLessThan(HOUR)
  })

  test('a reboot frees nothing: what was spent stays, and windows and buckets go on from where they were', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hm-boot-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const budget = rule('few', 'budget', tool('spend'), {
      budget: { scope: 'run', limit_calls: 2, on_exceed: 'BLOCK' },
    })
    const snapshot = await compileBundle(JSON.stringify(bundle([...RULES, budget])), { name: 'p' })
    const policy = openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' })
    const boot = (bootId: string, startMs: number): ((name: string, atMs: number) => string) => {
      const state = sharedState(folder, { bootId, monoMs: startMs })
      onTestFinished(() => state.close())
      return (name, atMs) => {
        const call = new CallArguments(Buffer.from('{}'), 0)
        const { decision } = state.decide(policy.planFor('s', name), call, startMs + atMs)
        state.endTurn(startMs + atMs)
        return decision.action
      }
    }
    const days = 10 * 24 * HOUR
    const first = boot('one', days)
    for (const name of ['write', 'read', 'read', 'spend']) expect(first(name, 0)).toBe('ALLOW')
    expect(first('read', 1)).toBe('BLOCK')
    // The clock begins at nearly nothing, far before all that was written down.
    const second = boot('two', 5_000)
    for (const name of ['write', 'read']) expect(second(name, 1)).toBe('BLOCK')
    expect([second('spend', 1), second('spend', 1)]).toEqual(['ALLOW', 'BLOCK'])
    // Held for no longer than their own length.
    expect(second('read', 1_501)).toBe('ALLOW')
    expect([second('write', HOUR - 1), second('write', HOUR + 1)]).toEqual(['BLOCK', 'ALLOW'])
    // The same boot again moves nothing.
    const again = boot('two', 5_000 + HOUR + 2)
    expect([again('write', HOUR - 2), again('spend', 0)]).toEqual(['BLOCK', 'BLOCK'])
  })
})

// Two shims use one approval: the second asks again and spends no budget.
describe('approval used once', () => {
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
})

// An event file next to the policy must not postpone its reload.
test('a policy is read although its neighbour never comes to rest', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'policy.json')
  writeFileSync(path, 'old')
  const clock = fakeClock()
  const changes: unknown[] = []
  const following = watchPolicy({
    path,
    loaded: 'old',
    clock,
    note: () => {},
    onChange: (change) => changes.push(change),
  })
  onTestFinished(() => following.close())
  // Told after the one above of the same change, because it came later.
  let seen: string[] = []
  const witness = watch(folder, (_, name) => seen.push(name ?? ''))
  onTestFinished(() => witness.close())
  const changed = async (name: string, act: () => void): Promise<void> => {
    seen = []
    act()
    await until(`a change of ${name}`, () => seen.includes(name))
  }
  await changed('policy.json', () => writeFileSync(path, 'new'))
  clock.advance(POLICY_SETTLE_MS * 0.6)
  await changed('events.jsonl', () => appendFileSync(join(folder, 'events.jsonl'), '{}\n'))
  clock.advance(POLICY_SETTLE_MS * 0.6)
  expect(changes).toEqual([{ text: 'new' }])
})
