// What the agent is told and what the record says agree: integration ids POL-INT-001 to 003 (seed 004 §1.6, §3.1, §3.2).
import { expect, test } from 'vitest'
import { bundle, deny, type Json, ofType, rule, startShim, tool } from '../support/shim-client.ts'

/** Refuses the second call of two, and gives both sides of it. */
async function refused(rules: readonly object[]): Promise<{ told: Json; decision: Json; events: Json[] }> {
  const shim = startShim({ policy: bundle(rules), name: 'fs' })
  await shim.call('read', { n: 1 })
  const { error } = await shim.call('write', { n: 2 })
  const { events } = await shim.end()
  const decision = ofType(events, 'tool_call_decision').at(-1) as Json
  const end = ofType(events, 'tool_call_end').at(-1)
  expect(end).toMatchObject({ status: 'ERROR', error: { class: 'policy_block', code: error.code } })
  expect(error.data.subluminal).toMatchObject({
    v: decision['v'],
    server_name: 'fs',
    tool_name: 'write',
    args_hash: decision['call'].args_hash,
    run_id: decision['run_id'],
    call_id: decision['call'].call_id,
    action: decision['decision'].action,
    rule_id: decision['decision'].rule_id,
    reason_code: decision['decision'].explain.reason_code,
    summary: decision['decision'].explain.summary,
    policy: decision['decision'].policy,
  })
  return { told: error as Json, decision: decision['decision'] as Json, events }
}

test('POL-INT-001 a BLOCK is -32081, and the event says the same', async () => {
  const { told, decision } = await refused([deny('no-writes', tool('write'))])
  expect(told['code']).toBe(-32_081)
  expect(decision).toMatchObject({ action: 'BLOCK', rule_id: 'no-writes', explain: { reason_code: 'DENYLIST_MATCH' } })
})

test('POL-INT-002 a THROTTLE is -32082, with the same backoff in the event', async () => {
  const rate = { capacity: 1, refill_tokens: 1, refill_period_ms: 3_600_000, on_limit: 'THROTTLE', backoff_ms: 7 }
  const { told, decision } = await refused([rule('pace', 'rate_limit', {}, { rate_limit: rate })])
  expect(told['code']).toBe(-32_082)
  expect(decision).toMatchObject({ action: 'THROTTLE', rule_id: 'pace', backoff_ms: expect.any(Number) })
  expect(told['data'].subluminal.backoff_ms).toBe(decision['backoff_ms'])
})

test('POL-INT-003 a REJECT_WITH_HINT is -32083, with the same hint in the event and in hint_issued', async () => {
  const hint = { hint_text: 'use another path', hint_kind: 'ARG_FIX', suggested_args: { n: 3 }, retry_advice: 'soon' }
  const { told, decision, events } = await refused([
    rule('hinted', 'deny', tool('write'), { action: 'REJECT_WITH_HINT', message: 'not there', hint }),
  ])
  expect(told['code']).toBe(-32_083)
  expect(decision['hint']).toEqual(hint)
  expect(told['data'].subluminal.hint).toEqual(decision['hint'])
  expect(ofType(events, 'hint_issued').map((event) => event['hint'] as Json)).toEqual([decision['hint']])
})
