// heimdall events export --otlp: what shims recorded, as a collector reads it by OpenTelemetry's own definitions.
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { BASE_MS, callEvents, envelope, linesOf, runStart, writeRecord } from '../support/event-records.ts'
import { type ReadSpan, spansOfJson, startCollector, type TestCollector } from '../support/otlp-collector.ts'
import { type Ending, launcher, runProgram, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, deny, type Json, rule, runsDir, startShim, tool } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const exporting = (home: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ending> =>
  runLauncher('heimdall', ['events', 'export', ...words], { env: { HOME: home, ...env }, cwd: home })

const named = (spans: readonly ReadSpan[], name: string): ReadSpan => {
  const found = spans.find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`)
  return found
}

const POLICY = bundle([
  deny('no-mail', tool('mail')),
  rule('twice', 'budget', tool('dear'), { budget: { scope: 'run', limit_calls: 2, on_exceed: 'BLOCK' } }),
])

test('a run is a trace: run, turn, call and decision, in the names of the conventions, without a word of what was said', async () => {
  const home = temporaryFolder()
  const shim = startShim({
    policy: POLICY,
    bin: 'heimdall',
    home,
    env: { SUB_RUN_ID: 'r', SUB_AGENT_ID: 'amber-otter', SUB_CLIENT: 'claude', SUB_ENV: 'ci' },
  })
  await shim.call('echo', { text: 'good morning' })
  await shim.call('mail', { to: 'ana@example.org' })
  await shim.call('dear')
  await shim.end()
  const collector = await startCollector()
  const sent = await exporting(home, ['--otlp', collector.url, '--json'], {
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue%20team,authorization=Bearer%20abc',
  })
  expect(sent).toMatchObject({ code: 0 })
  expect((JSON.parse(sent.stdout) as Json)['data']).toMatchObject({ spans: 8, traces: 1, rejected: 0, open: 0 })
  expect(collector.paths).toEqual(['/v1/traces'])
  expect(collector.headers[0]).toMatchObject({
    'content-type': 'application/x-protobuf',
    'x-team': 'blue team',
    authorization: 'Bearer abc',
  })
  const { spans } = collector
  const run = named(spans, 'invoke_agent amber-otter')
  const turn = named(spans, 'turn')
  const echo = named(spans, 'tools/call echo')
  const mail = named(spans, 'tools/call mail')
  expect(run).toMatchObject({
    parentId: '',
    kind: 1,
    resource: { 'service.name': 'heimdall', 'deployment.environment.name': 'ci' },
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.agent.name': 'amber-otter',
      'gen_ai.conversation.id': 'r',
      'heimdall.run.status': 'SUCCEEDED',
      'heimdall.run.calls.total': 3,
      'heimdall.run.calls.blocked': 1,
    },
  })
  expect(turn).toMatchObject({ parentId: run.spanId, attributes: { 'heimdall.turn.number': 1 } })
  // MCP conventions: kind CLIENT, the method and the tool in the name, the pipe as transport.
  expect(echo).toMatchObject({
    parentId: turn.spanId,
    kind: 3,
    status: 0,
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'network.transport': 'pipe',
      'heimdall.server.name': 'fake',
      'heimdall.call.status': 'OK',
    },
  })
  // A refused call is an error with the code of its answer (seed 004 §3.2).
  expect(mail).toMatchObject({
    status: 2,
    attributes: { 'error.type': '-32081', 'rpc.response.status_code': '-32081', 'heimdall.call.status': 'ERROR' },
  })
  const decisions = spans.filter(({ name }) => name === 'decide')
  expect(decisions.find(({ parentId }) => parentId === mail.spanId)).toMatchObject({
    kind: 1,
    attributes: { 'heimdall.decision.action': 'BLOCK', 'heimdall.decision.rule_id': 'no-mail' },
  })
  const dear = named(spans, 'tools/call dear')
  expect(decisions.find(({ parentId }) => parentId === dear.spanId)?.events).toMatchObject([
    { name: 'counter', attributes: { 'heimdall.counter.before': 0, 'heimdall.counter.after': 1 } },
  ])
  for (const { startNs, endNs } of spans) expect(BigInt(endNs) >= BigInt(startNs)).toBe(true)
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(8)
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  // Names that are not ours are OpenTelemetry's.
  const official = new Set<unknown>(Object.values(conventions))
  const foreign = spans.flatMap(({ attributes, resource }) => [...Object.keys(attributes), ...Object.keys(resource)])
  for (const name of foreign) expect(name.startsWith('heimdall.') || official.has(name), name).toBe(true)

  // Previews stay home unless they are asked for; the same run makes the same spans, in JSON too.
  const text = Buffer.concat(collector.bodies).toString('latin1')
  for (const word of ['good morning', 'ana@example', 'Denylist', 'no-mail matched']) expect(text).not.toContain(word)
  const file = join(home, 'traces.jsonl')
  expect(await exporting(home, ['--otlp', file, '--with-previews'])).toMatchObject({ code: 0 })
  const written = readFileSync(file, 'utf8').trimEnd().split('\n').flatMap(spansOfJson)
  expect(written.map(({ spanId }) => spanId)).toEqual(spans.map(({ spanId }) => spanId))
  expect(named(written, 'tools/call echo').attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"text":"good morning"}',
  })
  collector.spans.length = 0
  expect(
    await exporting(home, ['--otlp', `${collector.url}/api/otel/v1/traces`, '--tool', 'mail'], {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    }),
  ).toMatchObject({ code: 0 })
  expect(collector.paths.at(-1)).toBe('/api/otel/v1/traces')
  expect(collector.spans.map(({ name }) => name).toSorted()).toEqual([
    'decide',
    'invoke_agent amber-otter',
    'tools/call mail',
    'turn',
  ])
  expect(collector.spans.map(({ spanId }) => spanId)).toContain(mail.spanId)
})

test('turns lie between waits for a person, segments are traces that lead back, and what has not ended has no span', async () => {
  const home = temporaryFolder()
  const wait = (type: string, atMs: number, more: Json = {}): Json => ({
    ...envelope(type, 'w', atMs),
    wait: { wait_id: 'w1', started_at: '', source: 'hook', evidence: 'Allow rm -rf?', ...more },
  })
  const end = (atMs: number, segment: number, status = 'SUCCEEDED'): Json => ({
    ...envelope('run_end', 'w', atMs),
    run: { ended_at: '', status, segment, summary: { calls_total: 1 } },
  })
  const second = runStart('w', 2_000)
  ;(second['run'] as Json)['segment'] = 2
  writeRecord(runsDir(home), 'w', [
    runStart('w'),
    ...callEvents('w', { callId: 'a', atMs: 10 }),
    { ...envelope('secret_exposed', 'w', 20), secret: { inject_as: 'TOKEN', secret_ref: 'ref', source: 'env' } },
    wait('wait_start', 100),
    wait('wait_end', 600, { waited_ms: 500, answer: 'input' }),
    ...callEvents('w', { callId: 'b', atMs: 700, status: 'CANCELLED' }),
    end(1_000, 1, 'FAILED'),
    second,
    callEvents('w', { callId: 'c', atMs: 2_100 })[0],
  ])
  const file = join(home, 'traces.jsonl')
  const { code, stderr, stdout } = await exporting(home, ['--otlp', file, '--json'])
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('1 run is still active') })
  expect((JSON.parse(stdout) as Json)['data']).toMatchObject({ open: 1, traces: 1 })
  const spans = spansOfJson(readFileSync(file, 'utf8'))
  const [first, next] = spans
    .filter(({ name }) => name === 'turn')
    .toSorted((a, b) => Number(BigInt(a.startNs) - BigInt(b.startNs)))
  const ms = (span: ReadSpan | undefined): number[] =>
    [span?.startNs, span?.endNs].map((ns) => Number(BigInt(ns ?? 0) / 1_000_000n) - BASE_MS)
  expect([ms(first), ms(next), ms(named(spans, 'wait for a person'))]).toEqual([
    [0, 100],
    [600, 1_000],
    [100, 600],
  ])
  expect(
    spans.filter(({ name }) => name === 'tools/call echo').map(({ parentId, status }) => [parentId, status]),
  ).toEqual([
    [first?.spanId, 0],
    [next?.spanId, 0],
  ])
  expect(JSON.stringify(spans)).not.toContain('rm -rf')
  const run = named(spans, 'invoke_agent amber-otter')
  expect(run).toMatchObject({ status: 2, events: [{ name: 'secret_exposed' }], attributes: { 'error.type': 'FAILED' } })
  // The second segment ends, and leads back to the first.
  writeRecord(runsDir(home), 'w', [
    runStart('w'),
    end(1_000, 1),
    second,
    ...callEvents('w', { callId: 'c', atMs: 2_100 }),
    end(3_000, 2),
  ])
  expect(await exporting(home, ['--otlp', file])).toMatchObject({ code: 0 })
  const runs = spansOfJson(readFileSync(file, 'utf8')).filter(({ parentId }) => parentId === '')
  expect(runs.map(({ links }) => links)).toEqual([[], [{ traceId: run.traceId, spanId: run.spanId }]])
  expect(runs[1]?.traceId).not.toBe(run.traceId)
})

test('--follow sends spans while the run goes on, waits for a collector that is away, and ends when told to', async () => {
  const home = temporaryFolder()
  const collector = await startCollector()
  collector.behave((_, response, attempt) => {
    if (attempt <= 2) response.writeHead(503, { 'retry-after': '0' }).end()
  })
  const shim = startShim({ policy: POLICY, bin: 'heimdall', home, env: { SUB_RUN_ID: 'live' } })
  await shim.call('echo', { text: 'before' })
  const follower = startProgram(
    [...launcher('heimdall'), 'events', 'export', '--otlp', collector.url, '--follow', '--run', 'live'],
    { env: { HOME: home }, cwd: home },
  )
  const calls = (): number => collector.spans.filter(({ name }) => name === 'tools/call echo').length
  await until('the first call', () => calls() === 1)
  await shim.call('echo', { text: 'after' })
  await until('the second call', () => calls() === 2)
  expect(collector.spans.some(({ parentId }) => parentId === '')).toBe(false)
  await shim.end()
  await until('the run', () => collector.spans.some(({ parentId }) => parentId === ''))
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(collector.spans.length)
  follower.kill('SIGTERM')
  expect(await follower.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('6 spans of 1 trace') })
})

test('a collector that hangs, breaks off, refuses, leads elsewhere or answers nonsense is told as what it is', async () => {
  const home = temporaryFolder()
  writeRecord(runsDir(home), 'r', [runStart('r'), ...callEvents('r', { callId: 'a' })])
  const elsewhere = await startCollector()
  /** Each with a collector of its own, all at once. */
  const answer = async (answering: Parameters<TestCollector['behave']>[0]): Promise<Ending> => {
    const collector = await startCollector()
    collector.behave(answering)
    return await exporting(home, ['--otlp', collector.url], { OTEL_EXPORTER_OTLP_TIMEOUT: '500' })
  }
  const nonsense = ['null', '[', '\u0000\u00ff', 'x'.repeat(100_000)]
  const [endless, brokenOff, full, led, ...taken] = await Promise.all([
    answer((_, response) => void response.writeHead(200).write('x')),
    answer((request) => request.socket.destroy()),
    answer((_, response) => response.writeHead(500, { 'content-type': 'text/plain' }).end('no \u001b[31mroom')),
    answer((_, response) => response.writeHead(307, { location: `${elsewhere.url}/v1/traces` }).end()),
    ...nonsense.map((text) => answer((_, response) => response.writeHead(200).end(text))),
  ])
  expect(endless).toMatchObject({ code: 8, stderr: expect.stringContaining('no answer within 500 ms') })
  expect(brokenOff).toMatchObject({ code: 8, stderr: expect.stringContaining('nothing is lost') })
  expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining('500: no \\u001b[31mroom') })
  expect(led).toMatchObject({ code: 1, stderr: expect.stringContaining('it answered 307') })
  expect(elsewhere.paths).toEqual([])
  expect(taken.map(({ code }) => code)).toEqual(nonsense.map(() => 0))
  const collector = await startCollector()
  // What it takes only in part is said.
  collector.behave((_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"quota"}}'),
  )
  const partly = await exporting(home, ['--otlp', collector.url, '--json'], {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  })
  expect(partly.stderr).toContain('rejected 2 spans: quota')
  expect((JSON.parse(partly.stdout) as Json)['data']).toMatchObject({ rejected: 2 })
  // And what is wrong with the question is told before anything is sent.
  const before = collector.paths.length
  for (const words of [
    ['--otlp', 'http://ana:hunter2@127.0.0.1:1/'],
    ['--otlp', 'grpc://127.0.0.1:4317'],
    ['--otlp', ''],
    ['--otlp', collector.url, '--format', 'csv'],
    ['--follow'],
    ['--otlp', collector.url, '--follow', '--tool', 'x'],
  ]) {
    const wrong = await exporting(home, words)
    expect(wrong, words.join(' ')).toMatchObject({ code: 2 })
    expect(wrong.stderr).not.toContain('hunter2')
  }
  expect(collector.paths.length).toBe(before)
})

test('a record that holds anything makes spans that a collector takes, and no calls that are none', async () => {
  const home = temporaryFolder()
  const file = join(home, 'odd.jsonl')
  const of = (type: string, more: Json): Json => ({ type, run_id: 'z', ...more })
  writeFileSync(
    file,
    linesOf([
      of('tool_call_start', { call: null, ts: 5 }),
      of('run_start', { run_id: { a: 1 } }),
      of('run_start', { ts: '9999-99-99', run: [] }),
      of('tool_call_start', {
        ts: '+275760-09-13T00:00:00.000Z',
        call: { call_id: 'c', server_name: ['a'], seq: 'q' },
      }),
      of('tool_call_decision', { call: { call_id: 'c' }, decision: { counters: [1, null, 'x', { before: [1] }] } }),
      of('tool_call_end', { call: { call_id: 'c' }, latency_ms: 1e300, status: 'ERROR', error: 'boom' }),
      of('wait_start', { wait: 5 }),
      of('wait_end', { wait: null }),
      // Names that every object has.
      of('constructor', { call: { call_id: 'q' } }),
      of('__proto__', {}),
      of('run_end', { run: 'x', ts: '-000001-01-01T00:00:00Z' }),
    ]),
  )
  const out = join(home, 'traces.jsonl')
  expect(await exporting(home, ['--file', file, '--otlp', out])).toMatchObject({ code: 0 })
  const spans = spansOfJson(readFileSync(out, 'utf8'))
  expect(spans.map(({ name }) => name)).toContain('tools/call')
  for (const { startNs, endNs } of spans)
    expect(
      [startNs, endNs].map(BigInt).every((ns) => ns >= 0n && ns < 1n << 63n),
      `${startNs} ${endNs}`,
    ).toBe(true)
  const query = [...launcher('heimdall'), 'events', '--file', file, '--tsv'] as const
  const { stdout } = await runProgram([...query], { env: { HOME: home }, cwd: home })
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split('\t').at(-1)),
  ).toEqual(['c'])
})

test.each(['--otlp', '--out'])('%s into a folder that is not there is said in words', async (flag) => {
  const { code, stderr } = await exporting(temporaryFolder(), [flag, 'nowhere/x.json'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^error: no folder .*nowhere to write to\nhint: .*\n$/),
  })
})
