// What a refused call is answered: words for the model, codes for each generation of MCP, and what the record says of counters and clients (seed 004 §3).
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bundle, checkBooks, deny, type Json, ofType, rule, startShim, tool } from '../support/shim-client.ts'

const POLICY = bundle([
  deny('no-rm', tool('rm'), { message: 'nothing is removed here' }),
  deny('no-force', tool('push'), {
    action: 'REJECT_WITH_HINT',
    message: 'force pushes are off',
    hint: { hint_text: 'push without force', suggested_args: { force: false }, retry_advice: 'try once more' },
  }),
  rule('pace', 'rate_limit', tool('search'), {
    message: 'too many searches',
    rate_limit: { capacity: 1, refill_tokens: 1, refill_period_ms: 600_000, on_limit: 'THROTTLE', backoff_ms: 900_000 },
  }),
  rule('few', 'budget', tool('mail'), {
    message: 'no more mail',
    budget: { limit_calls: 0, on_exceed: 'TERMINATE_RUN' },
  }),
])

const TEXTS = {
  rm: 'The call of rm on git was refused: nothing is removed here. Sending it again will not help. (BLOCK DENYLIST_MATCH, rule no-rm)',
  push: 'The call of push on git was refused: force pushes are off. Instead: push without force. Call it with these arguments: {"branch":"main","force":false}. Advice: try once more. (REJECT_WITH_HINT DENYLIST_MATCH, rule no-force)',
  mail: 'The call of mail on git was refused and the run is ended: no more mail. No further call will be made; stop here. (TERMINATE_RUN BUDGET_EXCEEDED, rule few)',
}

test('the message reads as sentences: what was refused, why, what to do instead, the arguments to use', async () => {
  const shim = startShim({ policy: POLICY, name: 'git' })
  expect((await shim.call('rm'))['error'].message).toBe(TEXTS.rm)
  expect((await shim.call('push', { branch: 'main', force: true }))['error'].message).toBe(TEXTS.push)
  expect(await shim.call('search')).toHaveProperty('result')
  expect((await shim.call('search'))['error'].message).toBe(
    'The call of search on git was held back: too many searches. Wait 900000 ms, then send the same call again. (THROTTLE POLICY_THROTTLED, rule pace)',
  )
  expect((await shim.call('mail'))['error'].message).toBe(TEXTS.mail)
  const { events } = await shim.end()
  // The record says of each what the answer says (seed 004 §1.7).
  const said = new Map(
    ofType(events, 'tool_call_end').flatMap(({ call, error }) =>
      error === undefined ? [] : [[call.tool_name as string, error.retryable as boolean] as const],
    ),
  )
  expect(Object.fromEntries(said)).toEqual({ rm: false, push: true, search: true, mail: false })
})

test('as a tool result the text carries everything, and our object is in _meta, where no host drops the text for it', async () => {
  const shim = startShim({ policy: POLICY, name: 'git', flags: ['--deny-as=tool_result'] })
  const { result } = await shim.call('push', { branch: 'main', force: true })
  expect(result).toEqual({
    content: [{ type: 'text', text: TEXTS.push }],
    isError: true,
    _meta: { subluminal: expect.objectContaining({ action: 'REJECT_WITH_HINT', code: -32_083 }) },
  })
  await shim.end()
})

const CALLS = [
  ['rm', {}],
  ['push', {}],
  ['mail', {}],
] as const
const META = (version: string): object => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'codex-mcp-client', version: '1' },
})

test.each([
  ['2024-11-05', [-32_081, -32_083, -32_084]],
  ['2025-11-25', [-32_081, -32_083, -32_084]],
  ['2026-07-28', [-31_081, -31_083, -31_084]],
])('codes for a client of %s that says so in each request', async (version, codes) => {
  const shim = startShim({ policy: POLICY })
  const seen = []
  for (const [i, [name]] of CALLS.entries()) {
    shim.send({ jsonrpc: '2.0', id: i, method: 'tools/call', params: { name, arguments: {}, _meta: META(version) } })
    seen.push((await shim.answer(i))['error'])
  }
  expect(seen.map(({ code }) => code as number)).toEqual(codes)
  expect(seen.map(({ data }) => data.subluminal.code as number)).toEqual([-32_081, -32_083, -32_084])
  // After the end of the run every request is answered so.
  shim.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list', params: { _meta: META(version) } })
  expect((await shim.answer('list'))['error'].code).toBe(codes[2])
  const { events } = await shim.end()
  expect(ofType(events, 'tool_call_end').map(({ error }) => error.code as number)).toEqual(codes)
  expect(checkBooks(events)).toEqual([])
})

test('codes for a client that negotiates once, and a handshake that is too large to be one', async () => {
  const shim = startShim({ policy: POLICY })
  const hello = (protocolVersion: string, more: object = {}): object => ({
    jsonrpc: '2.0',
    id: 'hello',
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' }, ...more },
  })
  shim.send(hello('2026-07-28', { padding: 'x'.repeat(100_000) }))
  expect((await shim.call('rm'))['error'].code).toBe(-32_081)
  shim.send(hello('2026-07-28'))
  expect((await shim.call('rm'))['error'].code).toBe(-31_081)
  shim.send(hello('2025-06-18'))
  expect((await shim.call('rm'))['error'].code).toBe(-32_081)
  await shim.end()
})

test.each([
  ['claude-code', 'claude'],
  ['codex-mcp-client', 'codex'],
  ['zed', 'custom'],
])('a client that introduces itself as %s is %s where the environment has no name', async (name, client) => {
  const onlyFor = bundle([deny('no-rm', tool('rm'))], { selectors: { client: [client] } })
  const shim = startShim({ policy: onlyFor })
  shim.send({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } },
  })
  expect(await shim.call('rm')).toHaveProperty('error')
  const { events } = await shim.end()
  expect(ofType(events, 'tool_call_decision')[0]).toMatchObject({ client, decision: { rule_id: 'no-rm' } })
  expect(ofType(events, 'tool_call_end')[0]).toMatchObject({ client })
})

test('a name from the environment stands', async () => {
  const shim = startShim({ env: { SUB_CLIENT: 'headless' } })
  shim.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', _meta: META('2026-07-28') } })
  await shim.answer(1)
  const { events } = await shim.end()
  expect(new Set(events.map((event) => event['client'] as string))).toEqual(new Set(['headless']))
})

test('a decision says what each accumulator that it met had counted before and after', async () => {
  const shim = startShim({
    policy: bundle([
      deny('no-rm', tool('rm')),
      rule(
        'calls',
        'budget',
        {},
        { budget: { limit_calls: 3, limit_cost_units: 20, cost_units_per_call: 5, on_exceed: 'BLOCK' } },
      ),
      rule('pace', 'rate_limit', tool('echo'), {
        rate_limit: { capacity: 9, refill_tokens: 1, refill_period_ms: 3_600_000, on_limit: 'BLOCK' },
      }),
      rule('once', 'dedupe', tool('echo'), { dedupe: { window_ms: 600_000, on_duplicate: 'BLOCK' } }),
      rule('loop', 'breaker', tool('echo'), {
        breaker: {
          repeat_threshold: 9,
          repeat_window_ms: 600_000,
          error_threshold: 4,
          window_ms: 600_000,
          on_trip: 'BLOCK',
        },
      }),
    ]),
  })
  await shim.call('echo', { a: 1 })
  await shim.call('echo', { a: 1 })
  await shim.call('rm')
  await shim.call('other')
  await shim.call('other')
  const { events } = await shim.end()
  const read = ofType(events, 'tool_call_decision').map(({ decision }) =>
    (decision.counters as Json[]).map(
      ({ rule_id, counter, before, after, limit }) => `${rule_id} ${counter} ${before}>${after}/${limit}`,
    ),
  )
  expect(read).toEqual([
    [
      'calls calls 0>1/3',
      'calls cost_units 0>5/20',
      'pace tokens 9>8/9',
      'once duplicates 0>1/1',
      'loop errors 0>0/4',
      'loop repeats 0>1/9',
    ],
    // Refused by dedupe: nothing is spent, the breaker has seen it.
    [
      'calls calls 1>1/3',
      'calls cost_units 5>5/20',
      'pace tokens 8>8/9',
      'once duplicates 1>1/1',
      'loop errors 0>0/4',
      'loop repeats 1>2/9',
    ],
    // Denied by a rule: it counts.
    ['calls calls 1>2/3', 'calls cost_units 5>10/20'],
    ['calls calls 2>3/3', 'calls cost_units 10>15/20'],
    ['calls calls 3>3/3', 'calls cost_units 15>15/20'],
  ])
  expect(checkBooks(events)).toEqual([])
})

test('--verbose says which run this is and where its record lies', async () => {
  const shim = startShim({ bin: 'heimdall', flags: ['--verbose'] })
  await shim.call('echo')
  const { stderr, events } = await shim.end()
  const [, run, record] = /^heimdall shim: run (\S+), record (\S+)$/m.exec(stderr) ?? []
  expect(run).toBe(events[0]?.['run_id'])
  expect(existsSync(record ?? '')).toBe(true)
  const quiet = startShim({ bin: 'heimdall' })
  await quiet.call('echo')
  expect((await quiet.end()).stderr).toBe('')
})
