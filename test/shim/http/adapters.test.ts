// ADAPT-002 (seed 004 §7.4): the same calls through two adapters leave the same events, but for the name of the transport.
import { expect, test } from 'vitest'
import { type AdapterName, ADAPTERS, bundle, deny, type Json, rule, shimOver, tool } from '../../support/shim-client.ts'

const POLICY = bundle([
  rule('writes', 'tag', tool('write_*'), { tag: { add_risk_class: ['write_like'] } }),
  deny('no-delete', tool('delete_*'), {
    action: 'REJECT_WITH_HINT',
    hint: { hint_text: 'move it', hint_kind: 'SAFETY' },
  }),
  rule('three', 'budget', tool('echo'), { budget: { scope: 'run', limit_calls: 3, on_exceed: 'BLOCK' } }),
])

/** What differs between any two runs of the same thing. */
const OWN =
  /^(ts|run_id|call_id|latency_ms|started_at|ended_at|duration_ms|host_id|proc_id|shim_id|uptime_ms|transport|mono_ms|until_ms|since_ms)$/

async function eventsOver(adapter: AdapterName): Promise<unknown> {
  const shim = shimOver(adapter)({ policy: POLICY, name: 'srv' })
  for (let n = 0; n < 4; n += 1) await shim.call('echo', { n, text: 'ü ☃ "quoted"' }, n)
  await shim.call('write_file', { path: 'a' }, 'a string')
  await shim.call('delete_all', { deep: { er: [1, 2.5, null] } }, 90)
  await shim.call('fail', { message: 'no such file' }, 91)
  await shim.call('tool_error', {}, 92)
  await shim.call('big', { bytes: 1_100_000 }, 93)
  await shim.call('echo', { text: 'x'.repeat(1_100_000) }, 94)
  shim.send('[{"jsonrpc":"2.0","id":95,"method":"tools/call","params":{"name":"echo"}}]')
  await shim.answer(95)
  shim.send('not JSON')
  await shim.answer(null)
  const { events, code } = await shim.end()
  expect(code).toBe(0)
  // Signs of life come with time, not with calls.
  const ofCalls = events.filter((event) => event['type'] !== 'shim_health')
  return JSON.parse(JSON.stringify(ofCalls, (key, value: unknown) => (OWN.test(key) ? typeof value : value)))
}

test('ADAPT-002: identical decisions, hashes, sizes, previews and books', async () => {
  const [first, second] = (await Promise.all(ADAPTERS.map(eventsOver))) as [Json[], Json[]]
  expect(first.length).toBeGreaterThan(36)
  expect(second).toEqual(first)
})
