// A server that answers with its own secret: the answer goes on byte for byte, and the record has a critical event.
import { expect, test } from 'vitest'
import { startWithSecrets, variable } from '../support/bound-secrets.ts'
import { type Json, ofType } from '../support/shim-client.ts'

const VALUE = 'correct "horse"\nbattery ☃ staple'

test('in a result: unchanged for the agent, critical in the record, gone from the preview', async () => {
  const shim = startWithSecrets([{ value: VALUE }, { value: 'another-of-its-secrets' }])
  const quiet = await shim.call('echo', { text: 'nothing' })
  expect(quiet['result'].content[0].text).toContain('nothing')
  const answer = await shim.call('env', {}, 77)
  expect((JSON.parse(answer['result'].content[0].text as string) as Json)[variable(0)]).toBe(VALUE)
  const { events } = await shim.end()
  const told = ofType(events, 'secret_exposed')
  expect(told.map(({ secret }) => (secret as Json)['secret_ref'] as string).sort()).toEqual(['ref_0', 'ref_1'])
  const ended = ofType(events, 'tool_call_end').at(-1) as Json
  for (const event of told) {
    expect(event['severity']).toBe('critical')
    expect(event['call'].call_id).toBe(ended['call'].call_id)
  }
  expect(JSON.stringify(events)).not.toMatch(/horse|battery|another-of-its/)
})

// The second is more than may wait to be looked at.
test.each([1_200_000, 13_000_000])('in a result of %i bytes, too large to be kept, in two pieces', async (bytes) => {
  const shim = startWithSecrets([{ value: 'at-the-end-of-very-much' }])
  const answer = await shim.call('big', { bytes, name: variable(0) })
  expect(String(answer['result'].content[0].text)).toMatch(/at-the-end-of-very-much$/)
  const { events } = await shim.end()
  expect(ofType(events, 'secret_exposed')).toMatchObject([{ secret: { secret_ref: 'ref_0' } }])
  expect(JSON.stringify(events)).not.toContain('at-the-end-of')
})

test('in a message that answers no call', async () => {
  const shim = startWithSecrets([{ value: 'secret-of-a-message' }])
  shim.send({ jsonrpc: '2.0', id: 5, method: 'secret-of-a-message' })
  await shim.answer(5)
  const { events } = await shim.end()
  const [told] = ofType(events, 'secret_exposed')
  expect(told).toMatchObject({ severity: 'critical', secret: { inject_as: 'SECRET_0' } })
  expect(Object.hasOwn(told as object, 'call')).toBe(false)
})
