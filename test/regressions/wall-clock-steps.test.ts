// A step of the wall clock froze a drained bucket and freed windows. Durations come from the monotonic clock now, whatever
// the wall says; only hours of the day are read from it (seed 004 §2.4, §2.5).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { openPolicy } from '../../src/policy/decide/plan.ts'
import { CallArguments } from '../../src/shim/call/call-arguments.ts'
import { sharedState } from '../../src/shim/policy-state.ts'
import { bundle, type Json, ofType, rule, type ShimClient, startShim, tool } from '../support/shim-client.ts'
import { steppedWall } from '../support/stepped-wall.ts'
import { until } from '../support/wait.ts'

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
  const shim: ShimClient = startShim({ bin, env: { ...env, ...wall.env }, policy: bundle(RULES) })
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
  const shim = startShim({ env: wall.env, policy: bundle([deny]) })
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
  const budget = rule('few', 'budget', tool('spend'), { budget: { scope: 'run', limit_calls: 2, on_exceed: 'BLOCK' } })
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
