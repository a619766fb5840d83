// Windows and policy reloads: clock steps, and files that change next to the policy.
import { appendFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { POLICY_SETTLE_MS } from '../../src/limits.ts'
import { watchPolicy } from '../../src/shim/policy-source.ts'
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
