// Messages of any size: acceptance ids BUF of seed 004 §1.10 and §6.2, byte-exact both ways in bounded memory.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSoak } from '../support/scale.ts'
import { bundle, checkBooks, deny, ofType, rule, startShim, tool } from '../support/shim-client.ts'
import { startExchange } from '../support/shim-exchange.ts'

const MIB = 1 << 20

function largeCall(id: number, name: string, bytes: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"text":"${'x'.repeat(bytes)}"}}}`
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

test('BUF-001 BUF-003 BUF-004: a call of 2 MiB arrives intact, is marked truncated, and has the hash of its bytes', async () => {
  const shim = startShim()
  const line = largeCall(1, 'big-call', 2 * MIB)
  shim.send(line)
  const answer = await shim.answer(1)
  expect(answer['result'].content[0].text).toBe(sha256(line))
  const { events } = await shim.end()
  const call = ofType(events, 'tool_call_start')[0]?.['call']
  expect(call).toMatchObject({
    tool_name: 'big-call',
    args_hash: '',
    args_stream_hash: sha256(line),
    bytes_in: line.length,
    preview: { truncated: true },
  })
  expect(call.preview.args_preview ?? '[TRUNCATED]').toBe('[TRUNCATED]')
  expect(checkBooks(events)).toEqual([])
})

test('BUF-001: a large result has its hash and no preview (seed 004 §1.9.2)', async () => {
  const shim = startShim()
  await shim.call('big', { bytes: 3 * MIB }, 4)
  const { events } = await shim.end()
  const line = shim.program.stdout().split('\n')[0] ?? ''
  expect(line.length).toBeGreaterThan(3 * MIB)
  expect(ofType(events, 'tool_call_end')[0]).toMatchObject({
    status: 'OK',
    bytes_out: line.length,
    result_stream_hash: sha256(line),
    preview: { truncated: true },
  })
})

test('previews are cut at 16 KiB where a character ends, and a secret across the cut is not shown in part', async () => {
  const shim = startShim()
  const text = `${'é'.repeat(8_180)}sk-${'a'.repeat(40)}`
  await shim.call('echo', { text })
  const { events } = await shim.end()
  const [start] = ofType(events, 'tool_call_start')
  const args_preview = start?.['call'].preview.args_preview as string
  expect(start?.['call'].preview.truncated).toBe(true)
  expect(Buffer.byteLength(args_preview)).toBeLessThanOrEqual(16_384)
  expect(args_preview).not.toContain('\ufffd')
  expect(args_preview).not.toContain('sk-a')
})

test('rules on names judge an oversized call, rules on arguments and dedupe take decision_on_error', async () => {
  const policy = bundle([
    deny('by-name', tool('forbidden')),
    deny('by-args', { ...tool('with-args'), args: { has_keys: ['secret'] } }),
    rule('once', 'dedupe', tool('with-dedupe'), {
      dedupe: { scope: 'tool', window_ms: 60_000, key: 'args_hash', on_duplicate: 'BLOCK' },
    }),
  ])
  const shim = startShim({ policy })
  const names = ['forbidden', 'with-args', 'with-dedupe', 'free']
  for (const [i, name] of names.entries()) shim.send(largeCall(i + 1, name, MIB + 10))
  expect(await shim.answer(1)).toMatchObject({ error: { data: { subluminal: { rule_id: 'by-name' } } } })
  for (const id of [2, 3]) expect(await shim.answer(id)).toMatchObject({ error: { code: -32_081 } })
  expect(await shim.answer(4)).toHaveProperty('result')
  const { events } = await shim.end()
  expect(checkBooks(events)).toEqual([])
})

test('BUF-002: fifty large calls at once, in bounded memory and all recorded', async () => {
  const exchange = startExchange()
  const before = await exchange.settledMemory()
  for (let id = 1; id <= 50; id += 1) exchange.writeLine(largeCall(id, 'big', 1_200_000))
  await exchange.answers(50)
  expect(exchange.peakMemory() - before).toBeLessThan(96 * MIB)
  const { events } = await exchange.end()
  expect(ofType(events, 'tool_call_end')).toHaveLength(50)
  expect(checkBooks(events)).toEqual([])
})

test.each(isSoak ? [100, 1_024] : [100])(
  '%i MiB pass in both directions with less than 80 MiB of growth, whatever the engine thinks of garbage',
  async (mib) => {
    const exchange = startExchange()
    // A small call first: code that is loaded by the first call is no growth of a large one.
    exchange.writeLine('{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{}}}')
    await exchange.answers(1)
    const before = await exchange.settledMemory()
    // The server answers with the hash of what it was sent.
    const sent = await exchange.writeLarge(1, 'echo-hash', mib * MIB)
    expect(await exchange.answerText(1)).toContain(sent)
    exchange.writeLine(
      `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"big","arguments":{"bytes":${mib * MIB}}}}`,
    )
    await exchange.answers(2)
    expect(exchange.peakMemory() - before).toBeLessThan(80 * MIB)
    const { events } = await exchange.end()
    expect(ofType(events, 'tool_call_start')[1]?.['call'].args_stream_hash).toBe(sent)
    expect(ofType(events, 'tool_call_end')[2]?.['result_stream_hash']).toBe(exchange.lastLineHash())
    expect(checkBooks(events)).toEqual([])
  },
)

test('nothing of a held request is left on disk', async () => {
  const exchange = startExchange()
  await exchange.writeLarge(1, 'x', 8 * MIB)
  await exchange.answerText(1)
  expect(exchange.heldFiles()).toEqual([])
  await exchange.end()
})
