// A denied tool, asked for in every way that got past the origin's shim: none may reach the server, none may break the books.
import { describe, expect, test } from 'vitest'
import { DELETE, ROADS } from '../support/bypass-roads.ts'
import { perFile } from '../support/cleanup.ts'
import { bundle, checkBooks, deny, ofType, rule, startShim, tool, toolCall } from '../support/shim-client.ts'

const POLICY = bundle([deny('no-delete', tool('delete_*'))])
describe('planted bypass', () => {
  const shared = perFile(() => startShim({ policy: POLICY }))

  test.each(ROADS)('%s', async (_, line) => {
    const shim = shared()
    const before = shim.received().length
    shim.send(line)
    expect(await shim.call('echo', { still: 'alive' })).toHaveProperty('result')
    expect(shim.received().slice(before)).not.toMatch(/delete_all|u0064elete/)
  })

  test('the books of all of them are right', async () => {
    const { code, events } = await shared().end()
    expect(code).toBe(0)
    expect(checkBooks(events)).toEqual([])
  })
})

test('planted bypass: invalid UTF-8 in a name', async () => {
  const shim = startShim({ policy: POLICY })
  const line = Buffer.from(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_all\u00ff"}}\n',
    'latin1',
  )
  shim.program.stdin.write(line)
  expect(await shim.answer(null)).toMatchObject({ error: { code: -32_700 } })
  await shim.end()
  expect(shim.received()).toBe('')
})

test('planted bypass: an oversized call with its name behind the arguments', async () => {
  const shim = startShim({ policy: POLICY })
  const filler = 'x'.repeat(1_500_000)
  shim.send(
    `{"jsonrpc":"2.0","params":{"arguments":{"f":"${filler}"},"name":"delete_all"},"id":5,"method":"tools/call"}`,
  )
  expect(await shim.answer(5)).toMatchObject({ error: { code: -32_081 } })
  shim.send(
    `{"jsonrpc":"2.0","params":{"arguments":{"f":"${filler}"},"name":"echo","Name":"delete_all"},"id":6,"method":"tools/call"}`,
  )
  expect(await shim.answer(6)).toMatchObject({ error: { code: -32_600 } })
  const { events } = await shim.end()
  expect(shim.received()).toBe('')
  expect(checkBooks(events)).toEqual([])
})

test('a request of the server under the id of an open call does not end the call', async () => {
  const shim = startShim()
  shim.send(toolCall(3, 'ask'))
  await shim.answer(3)
  shim.send({ jsonrpc: '2.0', id: 3, result: { role: 'assistant' } })
  await shim.call('echo')
  const { events } = await shim.end()
  const [end] = ofType(events, 'tool_call_end')
  expect(end).toMatchObject({ status: 'OK', preview: { result_preview: expect.stringContaining('asked') } })
  expect(shim.received()).toContain('"assistant"')
  expect(checkBooks(events)).toEqual([])
})

test('the answer to another request under the same id does not end a call, and ids used twice are told apart', async () => {
  const shim = startShim()
  shim.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  shim.send(toolCall(1, 'sleep', { ms: 40 }))
  shim.send(toolCall('1', 'echo', { text: true }))
  shim.send('{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"never"}}')
  shim.send(toolCall(2, 'in_batch'))
  await shim.call('sleep', { ms: 80 })
  const { events, lines } = await shim.end()
  const ends = ofType(events, 'tool_call_end')
  expect(ends.map((event) => [event['call'].tool_name, event['status']] as unknown[])).toEqual([
    ['echo', 'OK'],
    ['in_batch', 'OK'],
    ['sleep', 'OK'],
    ['sleep', 'OK'],
    ['never', 'ERROR'],
  ])
  expect(ends[2]?.['latency_ms']).toBeGreaterThanOrEqual(39)
  // The id of the call that was never answered comes back byte for byte.
  expect(shim.program.stdout()).toContain('"id":9007199254740993,')
  expect(lines.length).toBeGreaterThan(4)
  expect(checkBooks(events)).toEqual([])
})

test('a batch without calls passes as it came', async () => {
  const shim = startShim({ policy: POLICY })
  const line = '[ {"jsonrpc":"2.0","id":1,"method":"ping"} , {"jsonrpc":"2.0","method":"notifications/initialized"} ]'
  shim.send(line)
  await shim.answer(1)
  await shim.end()
  expect(shim.received()).toBe(`${line}\n`)
})

test('keys that a prototype has are ordinary arguments', async () => {
  const policy = bundle([deny('ctor', { args: { has_keys: ['constructor'] } })])
  const shim = startShim({ policy })
  expect(await shim.call('echo', { a: 1 })).toHaveProperty('result')
  shim.send(
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"x":1},"toString":1}}}',
  )
  expect(await shim.answer(2)).toHaveProperty('result')
  shim.send('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"constructor":1}}}')
  expect(await shim.answer(3)).toHaveProperty('error')
  await shim.end()
})

test('a key twice inside the arguments takes decision_on_error where a rule looks at arguments', async () => {
  const shim = startShim({
    policy: bundle([deny('etc', { ...tool('write'), args: { key_equals: { path: '/etc' } } })]),
  })
  const call = (id: number, name: string): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"path":"/etc","path":"/tmp"}}}`
  shim.send(call(1, 'write'))
  expect(await shim.answer(1)).toMatchObject({ error: { code: -32_081 } })
  shim.send(call(2, 'read'))
  expect(await shim.answer(2)).toHaveProperty('result')
  const { events } = await shim.end()
  expect(ofType(events, 'tool_call_start')[1]?.['call']).toMatchObject({
    args_hash: '',
    args_stream_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

test('planted bypass: a carriage return inside a message that is too large to be kept in memory', async () => {
  const shim = startShim({ policy: POLICY })
  const filler = 'x'.repeat(1_500_000)
  shim.send(`{"f":"${filler}","a":\r{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}}\r}`)
  expect(await shim.call('echo', {}, 'last')).toHaveProperty('result')
  await shim.end()
  expect(shim.received()).not.toContain('delete_all')
})

test('lines that end with carriage return and newline pass as they came', async () => {
  const shim = startShim({ policy: POLICY })
  const line = `${JSON.stringify(toolCall(1, 'echo', { a: 1 }))}\r`
  shim.send(line)
  expect(await shim.answer(1)).toHaveProperty('result')
  await shim.end()
  expect(shim.received()).toBe(`${line}\n`)
})

test('planted bypass: a call that is cancelled at once may not be sent again within the window of dedupe', async () => {
  const policy = bundle([
    rule('once', 'dedupe', tool('never'), {
      dedupe: { scope: 'run', window_ms: 600_000, key: 'args_hash', on_duplicate: 'BLOCK' },
    }),
    rule(
      'errors',
      'breaker',
      {},
      { breaker: { scope: 'run', error_threshold: 1, window_ms: 600_000, on_trip: 'BLOCK' } },
    ),
  ])
  const shim = startShim({ policy })
  shim.send(toolCall(1, 'never', { pay: 100 }))
  shim.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  expect(await shim.call('never', { pay: 100 })).toMatchObject({
    error: { data: { subluminal: { rule_id: 'once', reason_code: 'DEDUPE_DUPLICATE' } } },
  })
  // Nor is a cancelled call an error that a breaker counts.
  expect(await shim.call('echo')).toHaveProperty('result')
  const { events } = await shim.end()
  expect(checkBooks(events)).toEqual([])
})

test.each([
  [
    'a line that is no JSON',
    (filler: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE},"f":"${filler}",}`,
    '',
  ],
  [
    'a batch too large to look into',
    (filler: string) => `[{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}},"${filler}"]`,
    'x'.repeat(1_500_000),
  ],
])('in mode observe %s goes on as it came, and the record says so', async (_, lineOf, filler) => {
  const line = lineOf(filler)
  const shim = startShim({ policy: bundle([deny('no-delete', tool('delete_*'))], { mode: 'observe' }) })
  shim.send(line)
  await shim.call('echo')
  const { events } = await shim.end()
  expect(shim.received().startsWith(`${line}\n`)).toBe(true)
  expect(ofType(events, 'tool_call_decision')[0]?.['decision']).toMatchObject({ action: 'BLOCK', enforced: false })
  expect(checkBooks(events)).toEqual([])
})

test('a batch too large to look into is refused, and the record says so', async () => {
  const shim = startShim({ policy: POLICY })
  shim.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call",${DELETE}},"${'x'.repeat(1_500_000)}"]`)
  expect(await shim.answer(null)).toMatchObject({ error: { code: -32_600 } })
  const { events } = await shim.end()
  expect(shim.received()).toBe('')
  expect(ofType(events, 'tool_call_decision')[0]?.['decision']).toMatchObject({
    action: 'BLOCK',
    explain: { reason_code: 'BATCH_REFUSED' },
  })
  expect(checkBooks(events)).toEqual([])
})

test('planted bypass: invalid UTF-8 in the name of a call that is too large to be kept in memory', async () => {
  const shim = startShim({ policy: bundle([deny('no-delete', tool('delete_all'))]) })
  const filler = 'é😀'.repeat(400_000)
  const send = (name: Buffer, id: number): void => {
    const head = Buffer.from(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"arguments":{"f":"${filler}"},"name":"`,
    )
    shim.program.stdin.write(Buffer.concat([head, name, Buffer.from('"}}\n')]))
  }
  // A reader that passes over what it cannot decode would call delete_all.
  send(Buffer.from('delete\u00ff_all', 'latin1'), 1)
  expect(await shim.answer(null)).toMatchObject({ error: { code: -32_700 } })
  expect(shim.received()).toBe('')
  send(Buffer.from('echo'), 2)
  expect(await shim.answer(2)).toHaveProperty('result')
  await shim.end()
})
