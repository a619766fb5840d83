// The event stream of a real shim process: acceptance ids EVT, HASH, ID and ADAPT of seed 004.
import { describe, expect, test } from 'vitest'
import { ADAPTERS, bundle, checkBooks, deny, ofType, shimOver, tool, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const DENY_DELETE = bundle([deny('no-delete', tool('delete_*'))])

describe.each(ADAPTERS)('over %s', (adapter) => {
  const startShim = shimOver(adapter)

  test('EVT-001 EVT-002 EVT-003 EVT-004 EVT-006: one event a line, whole envelope, order, one run id, names verbatim (seed 004 §1.1 to §1.8)', async () => {
    const shim = startShim({ policy: DENY_DELETE, name: 'Git-Server.v2' })
    await shim.call('Echo/é "x"', { a: 1 })
    await shim.call('delete_all')
    const { events, stderr, code } = await shim.end()
    expect(code).toBe(0)
    const lines = stderr.split('\n').filter((line) => line !== '')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events)
    for (const event of events) {
      expect(event).toMatchObject({
        v: '0.2.0',
        run_id: events[0]?.['run_id'],
        agent_id: 'unknown',
        client: 'unknown',
        env: 'unknown',
        source: {
          host_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          proc_id: expect.any(String),
          shim_id: expect.any(String),
        },
      })
      expect(event['ts']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
    const types = events
      .map((event) => event['type'] as string)
      .filter((type) => type !== 'policy_loaded' && type !== 'shim_health')
    expect(types).toEqual([
      'run_start',
      'tool_call_start',
      'tool_call_decision',
      'tool_call_end',
      'tool_call_start',
      'tool_call_decision',
      'tool_call_end',
      'run_end',
    ])
    expect(checkBooks(events)).toEqual([])
    const [start] = ofType(events, 'tool_call_start')
    expect(start?.['call']).toMatchObject({
      server_name: 'Git-Server.v2',
      tool_name: 'Echo/é "x"',
      transport: adapter,
      args_hash: '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862',
      preview: { truncated: false, args_preview: '{"a":1}' },
      seq: 1,
    })
    expect(ofType(events, 'run_start')[0]?.['run']).toMatchObject({
      mode: 'guardrails',
      policy: { policy_id: 'test', policy_version: '1.0.0', policy_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  test('EVT-005: 100 calls have unique ids and numbers 1 to 100 (seed 004 §1.5)', async () => {
    const shim = startShim()
    for (let id = 1; id <= 100; id += 1) shim.send(toolCall(id, 'echo', { id }))
    await shim.answer(100)
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_start').map((event) => event['call'].seq as number)).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    )
    expect(checkBooks(events)).toEqual([])
  })

  test('EVT-007: latency is at least the real delay (seed 004 §1.7)', async () => {
    const shim = startShim()
    const before = performance.now()
    await shim.call('sleep', { ms: 120 })
    const took = performance.now() - before
    const { events } = await shim.end()
    const latency = ofType(events, 'tool_call_end')[0]?.['latency_ms'] as number
    expect(latency).toBeGreaterThanOrEqual(119)
    expect(latency).toBeLessThanOrEqual(Math.ceil(took) + 1)
  })

  test('EVT-008: status and error class are of the contract, without a stack trace (seed 004 §1.7)', async () => {
    const shim = startShim({ policy: DENY_DELETE })
    await shim.call('fail', { message: 'broken\n    at Object.<anonymous> (x.js:1:1)' })
    await shim.call('tool_error')
    await shim.call('delete_all')
    shim.send(toolCall(7, 'never'))
    shim.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    await shim.call('echo')
    const { events } = await shim.end()
    const ends = ofType(events, 'tool_call_end')
    expect(ends.map((event) => [event['status'], event['error']?.class, event['error']?.code] as unknown[])).toEqual([
      ['ERROR', 'upstream_error', -32_050],
      ['ERROR', 'upstream_error', undefined],
      ['ERROR', 'policy_block', -32_081],
      ['CANCELLED', undefined, undefined],
      ['OK', undefined, undefined],
    ])
    expect(JSON.stringify(ends.map((event) => event['error'] as unknown))).not.toContain('    at ')
    expect(checkBooks(events)).toEqual([])
  })

  test('EVT-009: the summary of 3 good and 2 blocked calls is what the events add up to (seed 004 §1.8)', async () => {
    const shim = startShim({ policy: DENY_DELETE })
    for (const name of ['echo', 'delete_a', 'echo', 'delete_b', 'echo']) await shim.call(name)
    const { events } = await shim.end()
    expect(ofType(events, 'run_end')[0]?.['run']).toMatchObject({
      status: 'SUCCEEDED',
      summary: { calls_total: 5, calls_allowed: 3, calls_blocked: 2, calls_throttled: 0, errors_total: 2 },
    })
    expect(checkBooks(events)).toEqual([])
  })

  test('EVT-010: run_end is the last event, with answers still under way at the end of input', async () => {
    const shim = startShim()
    for (let id = 1; id <= 20; id += 1) shim.send(toolCall(id, 'sleep', { ms: 30 + id }))
    // A server that is still starting when the input ends is ended with it.
    await until('the server to read', () => shim.received() !== '')
    const { events, lines } = await shim.end()
    expect(lines).toHaveLength(20)
    expect(ofType(events, 'tool_call_end').every((event) => event['status'] === 'OK')).toBe(true)
    expect(checkBooks(events)).toEqual([])
  })

  test('HASH-001 HASH-002: order of keys does not matter, order of arrays does, golden values hold (seed 004 §1.9.1, §6.1)', async () => {
    const shim = startShim()
    const send = (id: number, args: string): void =>
      shim.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":${args}}}`)
    send(1, '{"a":1,"b":2}')
    send(2, ' { "b" : 2.0 , "a" : 1e0 } ')
    send(3, '{"branch":"main","command":"git push","force":false}')
    send(4, '{"n":{"y":[1,2],"x":null}}')
    send(5, '{"n":{"x":null,"y":[1,2]}}')
    send(6, '{"n":{"x":null,"y":[2,1]}}')
    shim.send('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}')
    await shim.answer(7)
    const { events } = await shim.end()
    const hashes = ofType(events, 'tool_call_start').map((event) => event['call'].args_hash as string)
    expect(hashes[0]).toBe('43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777')
    expect(hashes[1]).toBe(hashes[0])
    expect(hashes[2]).toBe('e13c608f6d08e999ce8c39b52fa274a731ccab0e6b3b3e62cd23511b93d7527e')
    expect(hashes[4]).toBe(hashes[3])
    expect(hashes[5]).not.toBe(hashes[3])
    expect(hashes[6]).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
  })

  test('ID-001: the SUB_ variables are stamped on every event (seed 004 §5)', async () => {
    const shim = startShim({
      env: {
        SUB_RUN_ID: 'run-42',
        SUB_AGENT_ID: 'amber-otter',
        SUB_ENV: 'ci',
        SUB_CLIENT: 'codex',
        SUB_PRINCIPAL: 'ana@example.org',
        SUB_WORKLOAD: '{"repo":"acme/app","labels":{"team":"core"}}',
      },
    })
    await shim.call('echo')
    const { events } = await shim.end()
    expect(events.length).toBeGreaterThan(4)
    for (const event of events)
      expect(event).toMatchObject({
        run_id: 'run-42',
        agent_id: 'amber-otter',
        env: 'ci',
        client: 'codex',
        principal: 'ana@example.org',
        workload: { repo: 'acme/app', labels: { team: 'core' } },
      })
  })

  test('every event can be joined with coordination and with the session of its agent', async () => {
    const haid = 'haid:ana.box-1f2e/amber-otter'
    const inside = startShim({ env: { SUB_RUN_ID: 'r', HEIMDALL_HAID: haid, HEIMDALL_SESSION_ID: 'amber' } })
    await inside.call('echo')
    for (const event of (await inside.end()).events) expect(event).toMatchObject({ haid, session_id: 'amber' })
    const outside = startShim({ env: { HEIMDALL_HAID: '' } })
    for (const event of (await outside.end()).events) {
      expect(event).not.toHaveProperty('haid')
      expect(event).not.toHaveProperty('session_id')
    }
  })

  test('ID-002: missing, unknown and broken identity is tolerated (seed 004 §1.3.1)', async () => {
    const shim = startShim({ env: { SUB_ENV: 'staging', SUB_CLIENT: 'emacs', SUB_WORKLOAD: '{broken' } })
    await shim.call('echo')
    const { events, code } = await shim.end()
    expect(code).toBe(0)
    for (const event of events) {
      expect(event).toMatchObject({ agent_id: 'unknown', env: 'unknown', client: 'unknown' })
      expect(event).not.toHaveProperty('principal')
    }
  })

  test('the id of the machine stays, those of process and shim do not (seed 004 §1.3)', async () => {
    const first = startShim()
    const one = (await first.end()).events[0]?.['source'] as Record<string, string>
    const second = startShim({ home: first.home })
    const two = (await second.end()).events[0]?.['source'] as Record<string, string>
    expect(two['host_id']).toBe(one['host_id'])
    expect(two['proc_id']).not.toBe(one['proc_id'])
    expect(two['shim_id']).not.toBe(one['shim_id'])
  })

  test('the workload comes from CI and Kubernetes surroundings where they are present (seed 004 §1.3.1)', async () => {
    const shim = startShim({
      env: {
        GITHUB_ACTIONS: 'true',
        GITHUB_RUN_ID: '99',
        GITHUB_REPOSITORY: 'acme/app',
        GITHUB_REF_NAME: 'main',
        KUBERNETES_SERVICE_HOST: '10.0.0.1',
        POD_NAMESPACE: 'agents',
        POD_NAME: 'worker-7',
      },
    })
    const { events } = await shim.end()
    expect(events[0]?.['workload']).toMatchObject({
      ci_provider: 'github',
      job_id: '99',
      repo: 'acme/app',
      branch: 'main',
      namespace: 'agents',
      pod: 'worker-7',
    })
  })

  test('ADAPT-001: the core gets server, tool, arguments, size and transport of each call (seed 004 §7.1)', async () => {
    const shim = startShim({ name: 'srv' })
    const line = JSON.stringify(toolCall(5, 'echo', { path: 'ü' }))
    shim.send(line)
    await shim.answer(5)
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_start')[0]?.['call']).toMatchObject({
      server_name: 'srv',
      tool_name: 'echo',
      transport: adapter,
      bytes_in: Buffer.byteLength(line),
      preview: { args_preview: '{"path":"ü"}' },
    })
  })

  test('secrets of known shapes never reach a preview (seed 004 §1.5, §4.1)', async () => {
    const shim = startShim()
    const secrets = ['sk-abcdefgh12345678', 'ghp_abcdefghijklmnop1234', 'hunter2hunter2']
    await shim.call('echo', { key: secrets[0], nested: { t: secrets[1] }, password: secrets[2] })
    const { events, stderr } = await shim.end()
    for (const secret of secrets) expect(stderr).not.toContain(secret)
    expect(ofType(events, 'tool_call_start')[0]?.['call'].preview.args_preview).toContain('[REDACTED]')
    expect(shim.program.stdout()).toContain('hunter2hunter2')
  })
})
