// A failing request under the id of a call made dedupe forget the call, which could then be made again
// (seed 004 §2.5 `dedupe`: an entry goes with a call that failed, and with no other).
import { expect, test } from 'vitest'
import { bundle, type Json, rule, startShim, toolCall } from '../support/shim-client.ts'

const POLICY = bundle([
  rule('once', 'dedupe', {}, { dedupe: { scope: 'tool', window_ms: 3_600_000, on_duplicate: 'BLOCK' } }),
])
const line = (message: object): string => JSON.stringify(message)
const failing = line(toolCall(1, 'fail', { n: 0 }))
const unknown = line({ jsonrpc: '2.0', id: 1, method: 'no/such/method' })
const write = line(toolCall(1, 'never', { n: 1 }))
const cancelled = line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })

const isDuplicate = (answer: Json): boolean => answer['error']?.data?.subluminal?.reason_code === 'DEDUPE_DUPLICATE'

test.each([
  ['a call that fails before it', [failing, write]],
  ['a call that fails behind it', [write, failing]],
  ['a request that fails before it', [unknown, write]],
  ['a request that fails behind it', [write, unknown]],
  ['a request that fails and was cancelled', [unknown, cancelled, write]],
  ['a call that fails and was cancelled', [failing, cancelled, write]],
  ['its own cancellation, and a call that fails', [write, cancelled, failing]],
])('%s frees no entry of dedupe', async (_, lines) => {
  const shim = startShim({ policy: POLICY })
  // In one write: all are open before the error comes back.
  shim.send(lines.join('\n'))
  await shim.answer(1)
  expect(isDuplicate(await shim.call('never', { n: 1 }, 'again'))).toBe(true)
  await shim.end()
})

test('a call that failed, and was alone under its id, may be made again', async () => {
  const shim = startShim({ policy: POLICY })
  expect(isDuplicate(await shim.call('fail', { n: 0 }))).toBe(false)
  expect(isDuplicate(await shim.call('fail', { n: 0 }))).toBe(false)
  expect(isDuplicate(await shim.call('echo', { n: 0 }))).toBe(false)
  expect(isDuplicate(await shim.call('echo', { n: 0 }))).toBe(true)
  await shim.end()
})
