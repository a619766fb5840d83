// A policy that changes while calls go on (seed 004 §2.6), and policies that are missing, broken or hostile.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchPolicy } from '../../src/shim/policy-source.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, checkBooks, deny, ofType, rule, type ShimClient, startShim, tool } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const budget = (id: string, limit_calls: number): object =>
  rule(id, 'budget', tool('echo'), { budget: { scope: 'run', limit_calls, on_exceed: 'BLOCK' } })

function write(shim: ShimClient, policy: unknown): void {
  writeFileSync(shim.policyPath, typeof policy === 'string' ? policy : JSON.stringify(policy))
}

const loads = (shim: ShimClient): number => ofType(shim.events(), 'policy_loaded').length

async function reloaded(shim: ShimClient, act: () => void): Promise<void> {
  const before = loads(shim)
  act()
  await until('the policy to be taken up', () => loads(shim) > before)
}

test('a valid policy replaces the old one, keeps counters of unchanged rules, and says so', async () => {
  const shim = startShim({ policy: bundle([budget('kept', 3), budget('changed', 10)]) })
  await shim.call('echo', { n: 1 })
  await shim.call('echo', { n: 2 })
  await reloaded(shim, () =>
    write(shim, bundle([budget('kept', 3), budget('changed', 20), deny('new', tool('rm'))], { version: '2.0.0' })),
  )
  expect(await shim.call('rm')).toMatchObject({
    error: { data: { subluminal: { rule_id: 'new', policy: { policy_version: '2.0.0' } } } },
  })
  expect(await shim.call('echo', { n: 3 })).toHaveProperty('result')
  expect(await shim.call('echo', { n: 4 })).toMatchObject({ error: { data: { subluminal: { rule_id: 'kept' } } } })
  const { events } = await shim.end()
  expect(
    ofType(events, 'policy_loaded').map((event) => [event['ok'], event['policy'].policy_version] as unknown[]),
  ).toEqual([
    [true, '1.0.0'],
    [true, '2.0.0'],
  ])
  expect(checkBooks(events)).toEqual([])
})

test('an invalid policy is refused visibly and the old one stays; SIGUSR2 makes the shim look', async () => {
  const shim = startShim({ policy: bundle([deny('old', tool('rm'))]) })
  await shim.call('echo')
  await reloaded(shim, () => {
    write(shim, bundle([rule('bad', 'denny', {}, {})]))
    shim.program.kill('SIGUSR2')
  })
  expect(await shim.call('rm')).toMatchObject({ error: { data: { subluminal: { rule_id: 'old' } } } })
  const { events, stderr } = await shim.end()
  expect(ofType(events, 'policy_loaded').at(-1)).toMatchObject({ ok: false, message: expect.stringContaining('denny') })
  expect(stderr).toContain('the policy in force stays')
})

test('a reload under load fails no call', async () => {
  const allow = (version: string): object => bundle([deny('rm', tool('rm'))], { version })
  const shim = startShim({ policy: allow('0') })
  await shim.call('echo')
  const progress = { isDone: false }
  const reloading = (async () => {
    for (let n = 1; n <= 5; n += 1) await reloaded(shim, () => write(shim, allow(String(n))))
    progress.isDone = true
  })()
  let calls = 0
  while (!progress.isDone) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => shim.call('echo', { n })))
    expect(answers.every((answer) => answer['result'] !== undefined)).toBe(true)
    calls += answers.length
  }
  await reloading
  expect(calls).toBeGreaterThan(0)
  const { events } = await shim.end()
  expect(checkBooks(events)).toEqual([])
})

test.each([
  ['is missing', undefined],
  ['is not YAML', '{]'],
  [
    'is a YAML bomb',
    `a: &a [x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? 'a' : `b${i - 1}`},*${i === 0 ? 'a' : `b${i - 1}`}]`).join('\n')}\n`,
  ],
  [
    'has a catastrophic regex that RE2 does not know',
    JSON.stringify(bundle([deny('x', { tool_name: { regex: ['(a+)+\\1$'] } })])),
  ],
  ['has an unknown mode', JSON.stringify(bundle([], { mode: 'enforce' }))],
])('a policy that %s: a clear line, calls are blocked, everything else passes', async (_, text) => {
  const path = join(temporaryFolder(), 'policy.yaml')
  if (text !== undefined) writeFileSync(path, text)
  const shim = startShim({ flags: [`--policy=${path}`] })
  expect(await shim.call('echo')).toMatchObject({
    error: { code: -32_081, data: { subluminal: { reason_code: 'POLICY_ERROR' } } },
  })
  shim.send({ jsonrpc: '2.0', id: 5, method: 'tools/list' })
  expect(await shim.answer(5)).toHaveProperty('result')
  const { stderr, events, code } = await shim.end()
  expect(code).toBe(0)
  expect(stderr).toContain('calls take decision_on_error')
  expect(ofType(events, 'policy_loaded')[0]).toMatchObject({ ok: false })
})

test('a broken policy that states ALLOW lets calls pass, visibly', async () => {
  const shim = startShim({
    policy: bundle([rule('bad', 'denny', {}, {})], { defaults: { decision_on_error: 'ALLOW' } }),
  })
  expect(await shim.call('echo')).toHaveProperty('result')
  const { events } = await shim.end()
  expect(ofType(events, 'tool_call_decision')[0]?.['decision'].explain.reason_code).toBe('POLICY_ERROR')
})

test('ten thousand rules and regexes that are catastrophic elsewhere do not hold up a call', async () => {
  const rules = Array.from({ length: 9_990 }, (_, i) => deny(`r${i}`, tool(`tool_${i}_*`)))
  const evil = ['^(a+)+$', '^(a|aa)+$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$'].map((regex, i) =>
    deny(`evil${i}`, { tool_name: { regex: [regex] } }),
  )
  const shim = startShim({ policy: bundle([...rules, ...evil]) })
  expect(await shim.call(`${'a'.repeat(60)}!`)).toHaveProperty('result')
  expect(await shim.call('tool_9000_x')).toMatchObject({ error: { data: { subluminal: { rule_id: 'r9000' } } } })
  await shim.end()
})

test('a change between the first reading and the watch is seen', () => {
  const path = join(temporaryFolder(), 'policy.json')
  writeFileSync(path, 'new')
  const changes: unknown[] = []
  const follow = (loaded: string | null): void => {
    const options = {
      path,
      loaded,
      clock: fakeClock(),
      note: () => {},
      onChange: (change: unknown) => changes.push(change),
    }
    const watch = watchPolicy(options)
    onTestFinished(() => watch.close())
  }
  follow('new')
  expect(changes).toEqual([])
  follow('old')
  follow(null)
  expect(changes).toEqual([{ text: 'new' }, { text: 'new' }])
})
