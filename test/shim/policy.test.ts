// Policy in the path of real calls: acceptance ids POL, POL-STATE, POL-INT, ERR, ADAPT-003 and HINT-001 of seed 004.
import { describe, expect, test } from 'vitest'
import {
  ADAPTERS,
  bundle,
  checkBooks,
  deny,
  type Json,
  ofType,
  rule,
  shimOver,
  startShim,
  tool,
  toolCall,
} from '../support/shim-client.ts'

const decisionsOf = (events: readonly Json[]): string[] =>
  ofType(events, 'tool_call_decision').map((event) => event['decision'].action as string)

const budget = (id: string, match: object, more: object): object =>
  rule(id, 'budget', match, { budget: { scope: 'run', on_exceed: 'BLOCK', ...more } })
const rateLimit = (id: string, match: object, more: object = {}): object =>
  rule(id, 'rate_limit', match, {
    rate_limit: {
      scope: 'run',
      capacity: 2,
      refill_tokens: 1,
      refill_period_ms: 3_600_000,
      on_limit: 'THROTTLE',
      backoff_ms: 750,
      ...more,
    },
  })
const breaker = (id: string, match: object, more: object): object =>
  rule(id, 'breaker', match, { breaker: { scope: 'server_tool', on_trip: 'BLOCK', ...more } })
const dedupe = (id: string, match: object, more: object = {}): object =>
  rule(id, 'dedupe', match, {
    dedupe: { scope: 'tool', window_ms: 60_000, key: 'args_hash', on_duplicate: 'BLOCK', ...more },
  })

describe.each(ADAPTERS)('over %s', (adapter) => {
  const startShim = shimOver(adapter)

  test('POL-001: observe never blocks and keeps what it would have done (seed 004 §2.1)', async () => {
    const shim = startShim({ policy: bundle([deny('no', tool('*'))], { mode: 'observe' }) })
    expect(await shim.call('delete_all', { x: 1 })).toMatchObject({ result: { content: [{ text: '{"x":1}' }] } })
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_decision')[0]?.['decision']).toMatchObject({ action: 'BLOCK', enforced: false })
    expect(ofType(events, 'run_end')[0]?.['run'].summary).toMatchObject({ calls_allowed: 1, calls_blocked: 0 })
    expect(checkBooks(events)).toEqual([])
  })

  test('POL-002 POL-008 ERR-001 POL-INT-001 ADAPT-003: deny above allow, answered and recorded alike (seed 004 §3.2)', async () => {
    const allow = rule('all', 'allow', {}, { action: 'ALLOW', reason_code: 'OK', message: 'fine' })
    const shim = startShim({ policy: bundle([deny('no-delete', tool('delete_*')), allow]), name: 'srv' })
    const answer = await shim.call('delete_all', { a: 1 }, 9)
    await shim.call('echo')
    const { events } = await shim.end()
    const [decision] = ofType(events, 'tool_call_decision')
    const call_id = decision?.['call'].call_id as string
    expect(answer).toMatchObject({
      jsonrpc: '2.0',
      id: 9,
      error: {
        code: -32_081,
        message: expect.stringContaining('no-delete says no'),
        data: {
          subluminal: {
            v: '0.2.0',
            action: 'BLOCK',
            rule_id: 'no-delete',
            reason_code: 'DENYLIST_MATCH',
            summary: 'no-delete says no',
            run_id: events[0]?.['run_id'],
            call_id,
            server_name: 'srv',
            tool_name: 'delete_all',
            args_hash: '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862',
            policy: events[0]?.['run'].policy,
          },
        },
      },
    })
    expect(decision?.['decision']).toMatchObject({
      action: 'BLOCK',
      rule_id: 'no-delete',
      severity: 'warn',
      explain: { reason_code: 'DENYLIST_MATCH', summary: 'no-delete says no' },
      policy: events[0]?.['run'].policy,
    })
    expect(ofType(events, 'tool_call_end')[0]).toMatchObject({
      status: 'ERROR',
      error: { class: 'policy_block', code: -32_081 },
      bytes_out: Buffer.byteLength(JSON.stringify(answer)),
    })
    expect(shim.received()).not.toContain('delete_all')
    expect(decisionsOf(events)).toEqual(['BLOCK', 'ALLOW'])
  })

  test('POL-003: a budget of 3 calls refuses the fourth (seed 004 §2.5)', async () => {
    const shim = startShim({ policy: bundle([budget('three', {}, { limit_calls: 3 })]) })
    for (let i = 0; i < 5; i += 1) await shim.call('echo', { i })
    const { events } = await shim.end()
    expect(decisionsOf(events)).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'BLOCK', 'BLOCK'])
  })

  test('POL-004 ERR-002 POL-INT-002: five rapid calls on two tokens, throttled with a waiting time (seed 004 §3.2.3)', async () => {
    const shim = startShim({ policy: bundle([rateLimit('slow', {})]) })
    for (let id = 1; id <= 5; id += 1) shim.send(toolCall(id, 'echo', { id }))
    const answer = await shim.answer(5)
    await shim.answer(2)
    const { events } = await shim.end()
    const decisions = ofType(events, 'tool_call_decision').map((event) => event['decision'] as Json)
    expect(decisions.map(({ action }) => action as string)).toEqual([
      'ALLOW',
      'ALLOW',
      'THROTTLE',
      'THROTTLE',
      'THROTTLE',
    ])
    const backoff = decisions[4]?.['backoff_ms'] as number
    expect(backoff).toBeGreaterThan(0)
    expect(answer['error']).toMatchObject({
      code: -32_082,
      message: expect.stringContaining(`${backoff} ms`),
      data: { subluminal: { action: 'THROTTLE', backoff_ms: backoff, retry_advice: expect.any(String) } },
    })
    expect(ofType(events, 'run_end')[0]?.['run'].summary).toMatchObject({ calls_throttled: 3, calls_blocked: 0 })
    expect(checkBooks(events)).toEqual([])
  })

  test('POL-005: the fifth identical call within the window trips the breaker, and breaker_trip says so (seed 004 §2.5)', async () => {
    const shim = startShim({ policy: bundle([breaker('loop', {}, { repeat_threshold: 5, repeat_window_ms: 10_000 })]) })
    for (let i = 0; i < 5; i += 1) await shim.call('echo', { same: true })
    await shim.call('echo', { same: false })
    const { events } = await shim.end()
    expect(decisionsOf(events)).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'ALLOW', 'BLOCK', 'ALLOW'])
    expect(ofType(events, 'breaker_trip')[0]).toMatchObject({
      breaker: { rule_id: 'loop' },
      call: { tool_name: 'echo' },
    })
  })

  test('an error breaker counts what the server answered with errors (seed 004 §2.5)', async () => {
    const shim = startShim({ policy: bundle([breaker('errors', {}, { error_threshold: 2, window_ms: 60_000 })]) })
    await shim.call('fail', { n: 1 })
    await shim.call('fail', { n: 2 })
    expect(await shim.call('fail', { n: 3 })).toMatchObject({ error: { code: -32_081 } })
    await shim.end()
  })

  test('POL-006: the second identical write within a minute is refused (seed 004 §2.5)', async () => {
    const shim = startShim({ policy: bundle([dedupe('once', tool('write_*'))]) })
    await shim.call('write_file', { p: 1 })
    await shim.call('write_file', { p: 2 })
    expect(await shim.call('write_file', { p: 1 })).toMatchObject({
      error: { data: { subluminal: { rule_id: 'once', action: 'BLOCK' } } },
    })
    await shim.end()
  })

  test('POL-007: a tag gives a risk class that a deny rule matches (seed 004 §2.5)', async () => {
    const shim = startShim({
      policy: bundle([
        rule('writes', 'tag', tool('write_*'), { tag: { add_risk_class: ['write_like'] } }),
        deny('no-writes', { risk_class: ['write_like'] }),
      ]),
    })
    expect(await shim.call('write_file')).toMatchObject({ error: { code: -32_081 } })
    expect(await shim.call('read_file')).toHaveProperty('result')
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_start')[0]?.['call'].tags).toEqual(['write_like'])
  })

  test('POL-009: a policy for somebody else does not apply (seed 004 §2.2)', async () => {
    const policy = bundle([deny('no', {})], { selectors: { env: ['prod'], workload: { repo: ['acme/app'] } } })
    const here = startShim({ policy, env: { SUB_ENV: 'prod', SUB_WORKLOAD: '{"repo":"acme/app"}' } })
    const elsewhere = startShim({ policy, env: { SUB_ENV: 'prod', SUB_WORKLOAD: '{"repo":"acme/other"}' } })
    expect(await here.call('echo')).toHaveProperty('error')
    expect(await elsewhere.call('echo')).toHaveProperty('result')
    await Promise.all([here.end(), elsewhere.end()])
  })

  test('POL-010: all four predicates on arguments must hold (seed 004 §2.4)', async () => {
    const args = {
      has_keys: ['path'],
      key_equals: { force: true },
      key_in: { branch: ['main', 'release'] },
      numeric_range: { depth: { min: 1, max: 3 } },
    }
    const shim = startShim({ policy: bundle([deny('risky', { args })]) })
    const whole = { path: 'x', force: true, branch: 'main', depth: 3 }
    expect(await shim.call('push', whole)).toHaveProperty('error')
    for (const change of [{ path: undefined }, { force: 'true' }, { branch: 'dev' }, { depth: 4 }])
      expect(await shim.call('push', { ...whole, ...change })).toHaveProperty('result')
    await shim.end()
  })

  test('ERR-003 POL-INT-003: a hint is in the error, in its message, in the decision and in hint_issued (seed 004 §3.2.4, §3.3)', async () => {
    const hint = {
      hint_text: 'use a branch of your own',
      hint_kind: 'ARG_FIX',
      suggested_args: { branch: 'agent/x' },
      retry_advice: 'try at once',
    }
    const shim = startShim({
      policy: bundle([
        deny('no-main', { args: { key_equals: { branch: 'main' } } }, { action: 'REJECT_WITH_HINT', hint }),
      ]),
    })
    const answer = await shim.call('push', { branch: 'main', force: false })
    const { events } = await shim.end()
    const full = { ...hint, suggested_args: { branch: 'agent/x', force: false } }
    expect(answer['error']).toMatchObject({
      code: -32_083,
      data: { subluminal: { action: 'REJECT_WITH_HINT', hint: full } },
    })
    const message = answer['error'].message as string
    for (const part of ['use a branch of your own', '{"branch":"agent/x","force":false}', 'try at once'])
      expect(message).toContain(part)
    expect(ofType(events, 'tool_call_decision')[0]?.['decision'].hint).toEqual(full)
    expect(ofType(events, 'hint_issued')[0]).toMatchObject({
      call: { call_id: ofType(events, 'tool_call_start')[0]?.['call'].call_id },
      hint: full,
    })
  })

  test('HINT-001: a client that takes the suggested arguments gets through (seed 004 §3.2.4)', async () => {
    const hint = { hint_text: 'not on main', hint_kind: 'ARG_FIX', suggested_args: { branch: 'agent/x' } }
    const shim = startShim({
      policy: bundle([
        deny('no-main', { args: { key_equals: { branch: 'main' } } }, { action: 'REJECT_WITH_HINT', hint }),
      ]),
    })
    const first = await shim.call('push', { branch: 'main', message: 'done' })
    const second = await shim.call('push', first['error'].data.subluminal.hint.suggested_args as object)
    expect(second['result'].content[0].text).toBe('{"branch":"agent/x","message":"done"}')
    await shim.end()
  })

  test('control turns a BLOCK with hint text into a hint; --deny-as tool_result shows it to the model', async () => {
    const policy = bundle([budget('one', {}, { limit_calls: 1, hint_text: 'ask for more' })], { mode: 'control' })
    const shim = startShim({ policy, flags: ['--deny-as=tool_result'] })
    await shim.call('echo')
    const answer = await shim.call('echo')
    expect(answer['result']).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('ask for more') }],
      _meta: {
        subluminal: { action: 'REJECT_WITH_HINT', hint: { hint_text: 'ask for more', hint_kind: 'BUDGET' } },
      },
    })
    await shim.end()
  })

  test('POL-STATE-001: budget and breaker count independently (seed 004 §2.3)', async () => {
    const shim = startShim({
      policy: bundle([
        budget('four', {}, { limit_calls: 4 }),
        breaker('loop', {}, { repeat_threshold: 3, repeat_window_ms: 60_000 }),
      ]),
    })
    const codes: unknown[] = []
    for (const args of [{ a: 1 }, { a: 1 }, { a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]) {
      const answer = await shim.call('echo', args)
      codes.push(answer['error']?.data.subluminal.rule_id)
    }
    await shim.end()
    expect(codes).toEqual([undefined, undefined, 'loop', undefined, undefined, 'four'])
  })

  test('POL-STATE-002 POL-STATE-003: throttled and duplicate calls spend no budget (seed 004 §2.3)', async () => {
    const shim = startShim({
      policy: bundle([
        budget('two-writes', tool('write'), { limit_calls: 2 }),
        dedupe('once', tool('write')),
        budget('three-reads', tool('read'), { limit_calls: 3 }),
        rateLimit('slow', tool('read')),
      ]),
    })
    const rules: unknown[] = []
    for (const [name, args] of [
      ['write', { p: 1 }],
      ['write', { p: 1 }],
      ['write', { p: 2 }],
      ['write', { p: 3 }],
      ['read', { n: 1 }],
      ['read', { n: 2 }],
      ['read', { n: 3 }],
      ['read', { n: 4 }],
    ] as const)
      rules.push((await shim.call(name, args))['error']?.data.subluminal.rule_id)
    await shim.end()
    expect(rules).toEqual([undefined, 'once', undefined, 'two-writes', undefined, undefined, 'slow', 'slow'])
  })

  test('POL-STATE-004: several matching rules decide the same way every time (seed 004 §2.3)', async () => {
    const policy = bundle([
      rule('allow-all', 'allow', {}, { action: 'ALLOW', reason_code: 'OK', message: 'fine' }),
      deny('second', {}),
      budget('one', {}, { limit_calls: 1 }),
      breaker('loop', {}, { repeat_threshold: 2, repeat_window_ms: 60_000 }),
    ])
    const run = async (): Promise<unknown[]> => {
      const shim = startShim({ policy })
      const rules: unknown[] = []
      for (let i = 0; i < 4; i += 1)
        rules.push((await shim.call('echo', { same: 1 }))['error']?.data.subluminal.rule_id)
      await shim.end()
      return rules
    }
    const [first, second] = await Promise.all([run(), run()])
    expect(first).toEqual([undefined, 'one', 'one', 'one'])
    expect(second).toEqual(first)
  })

  test('TERMINATE_RUN ends the run: -32084 from then on, server ended, run_end TERMINATED (seed 004 §3.2.1)', async () => {
    const shim = startShim({
      policy: bundle([
        rule('stop', 'breaker', tool('danger'), {
          breaker: {
            scope: 'run',
            repeat_threshold: 2,
            repeat_window_ms: 60_000,
            on_trip: 'TERMINATE_RUN',
            terminate_code: 'LOOP',
          },
        }),
      ]),
    })
    shim.send(toolCall(1, 'never'))
    await shim.call('danger')
    const fatal = await shim.call('danger')
    expect(fatal['error']).toMatchObject({
      code: -32_084,
      data: { subluminal: { action: 'TERMINATE_RUN', terminate: { terminate_code: 'LOOP' } } },
    })
    expect(await shim.answer(1)).toMatchObject({ error: { code: -32_084 } })
    expect(await shim.call('echo')).toMatchObject({ error: { code: -32_084 } })
    shim.send({ jsonrpc: '2.0', id: 77, method: 'tools/list' })
    expect(await shim.answer(77)).toMatchObject({ error: { code: -32_084 } })
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_decision')[2]?.['decision']).toMatchObject({
      action: 'TERMINATE_RUN',
      terminate: { terminate_code: 'LOOP', terminate_message: expect.any(String) },
    })
    expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('TERMINATED')
    expect(shim.received()).not.toContain('echo')
    expect(checkBooks(events)).toEqual([])
  })
})

describe('an identity that is unclear', () => {
  const inProduction = (mode: string): object => ({
    ...bundle([deny('no-echo', tool('echo'))], { mode }),
    selectors: { env: ['prod'] },
  })

  test.each([
    ['SUB_ENV', { SUB_ENV: 'production' }],
    ['SUB_WORKLOAD', { SUB_ENV: 'prod', SUB_WORKLOAD: '{broken' }],
  ])(
    '%s that means nothing is an error in control: calls take decision_on_error (seed 004 §2.1, §5)',
    async (name, env) => {
      const shim = startShim({ policy: inProduction('control'), env })
      const answer = await shim.call('echo')
      const { events, stderr } = await shim.end()
      expect(answer['error'].data.subluminal).toMatchObject({ action: 'BLOCK', reason_code: 'POLICY_ERROR' })
      expect(ofType(events, 'policy_loaded')[0]).toMatchObject({ ok: false, message: expect.stringContaining(name) })
      expect(stderr).toContain(name)
    },
  )

  test('and a warning elsewhere', async () => {
    const shim = startShim({ policy: inProduction('guardrails'), env: { SUB_ENV: 'production' } })
    const answer = await shim.call('echo')
    const { stderr } = await shim.end()
    expect(answer['result']).toBeDefined()
    expect(stderr).toMatch(/SUB_ENV is \S*production\S*, not one of dev, ci, prod/)
  })
})
