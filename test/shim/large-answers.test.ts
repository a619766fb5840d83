// Large answers arrive byte for byte and with their hashes, however they are cut into chunks (seed 004 §1.9.2).
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkBooks, ofType, startShim } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const MIB = 1 << 20

/** Sends the next part of its answer with each message that it gets. */
const PARTS = `
const parts = ['{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"' + 'x'.repeat(${MIB + 4_096}), '"}]},"id":7,"more":"', 'y'.repeat(${10 * MIB}), '"}\\n']
process.stdin.on('data', (chunk) => { for (const byte of chunk) if (byte === 10) process.stdout.write(parts.shift() ?? '') })
`

test('the id of a large answer that stands behind its result, in a chunk between two others', async () => {
  const shim = startShim({ server: [process.execPath, '-e', PARTS] })
  let bytes = 0
  shim.send('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"big","arguments":{}}}')
  for (const part of [MIB + 4_096, 16, 10 * MIB]) {
    bytes += part
    await until('the part', () => shim.program.stdout().length > bytes)
    shim.send('{"jsonrpc":"2.0","method":"notifications/next"}')
  }
  await until('the end', () => shim.program.stdout().endsWith('\n'))
  const { events } = await shim.end()
  const line = shim.program.stdout().split('\n')[0] ?? ''
  expect(ofType(events, 'tool_call_end')).toMatchObject([
    { status: 'OK', bytes_out: line.length, result_stream_hash: createHash('sha256').update(line).digest('hex') },
  ])
  expect(checkBooks(events)).toEqual([])
})

test('large and small answers in turn arrive byte for byte and with their hashes', async () => {
  const sizes = [40, 300_000, 2 * MIB, 40, 900_000, 3 * MIB]
  const shim = startShim()
  for (const [n, size] of sizes.entries()) {
    shim.send(
      `{"jsonrpc":"2.0","id":${n + 1},"method":"tools/call","params":{"name":"big","arguments":{"bytes":${size}}}}`,
    )
    await until('the answer', () => shim.program.stdout().split('\n').length > n + 1)
  }
  const { events } = await shim.end()
  const lines = shim.program.stdout().trimEnd().split('\n')
  for (const [n, line] of lines.entries()) expect(JSON.parse(line)).toMatchObject({ id: n + 1 })
  const hashes = ofType(events, 'tool_call_end').flatMap(
    (end) => (end['result_stream_hash'] as string | undefined) ?? [],
  )
  const large = lines.filter((line) => line.length > MIB)
  expect(hashes).toEqual(large.map((line) => createHash('sha256').update(line).digest('hex')))
  expect(checkBooks(events)).toEqual([])
})
