// Ways around a rule that worked: cancelling what failed, editing a message, an empty policy, an id in use.
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bundle, type Json, ofType, rule, type ShimClient, startShim, tool, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const isRefused = (answer: Json): boolean => answer['error']?.data?.subluminal !== undefined

const BREAKER = bundle([
  rule('loop', 'breaker', tool('fail'), {
    breaker: { scope: 'tool', error_threshold: 3, window_ms: 3_600_000, on_trip: 'BLOCK' },
  }),
])

const cancellation = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})
const cancel = (shim: ShimClient, requestId: number): void => shim.send(cancellation(requestId))

test('a call that is cancelled and fails all the same counts for a breaker (seed 004 §2.5)', async () => {
  const shim = startShim({ policy: BREAKER })
  const refused: number[] = []
  for (let id = 1; id <= 10; id += 1) {
    // In one write: else the failure may come back before the cancellation was sent.
    shim.send(`${JSON.stringify(toolCall(id, 'fail', { id }))}\n${JSON.stringify(cancellation(id))}`)
    if (isRefused(await shim.answer(id))) refused.push(id)
  }
  expect(refused).toEqual([4, 5, 6, 7, 8, 9, 10])
  const { events } = await shim.end()
  const ends = ofType(events, 'tool_call_end').map((event) => event['status'] as string)
  expect(ends).toEqual([...Array<string>(3).fill('CANCELLED'), ...Array<string>(7).fill('ERROR')])
})

test.each(['never', 'echo'])('neither do other requests under its id hide an error: %s', async (before) => {
  const shim = startShim({ policy: BREAKER })
  const refused: number[] = []
  for (let id = 1; id <= 6; id += 1) {
    shim.send(toolCall(id, before, { id }))
    cancel(shim, id)
    shim.send(toolCall(id, 'fail', { id }))
    shim.send(toolCall(id, 'never', { id }))
    await shim.answer(id)
    if (isRefused(await shim.call('fail', {}, `${id}`))) refused.push(id)
  }
  // Two failures of each round count: its own, and the one that tells.
  expect(refused).toEqual([2, 3, 4, 5, 6])
  await shim.end()
})

test('editing the message of a budget does not refill it, and a new limit is compared with what is spent', async () => {
  const budget = (limit_calls: number, message: string): object =>
    bundle([rule('few', 'budget', {}, { message, budget: { scope: 'run', limit_calls, on_exceed: 'BLOCK' } })])
  const shim = startShim({ policy: budget(3, 'three are enough') })
  const pass = async (count: number): Promise<number> => {
    let passed = 0
    for (let n = 0; n < count; n += 1) if (!isRefused(await shim.call('echo', { n }))) passed += 1
    return passed
  }
  const loaded = (): number => ofType(shim.events(), 'policy_loaded').length
  const use = async (policy: object): Promise<void> => {
    const before = loaded()
    writeFileSync(shim.policyPath, JSON.stringify(policy))
    await until('the new policy to be loaded', () => loaded() > before)
  }
  expect(await pass(5)).toBe(3)
  await use(budget(3, 'three, really'))
  expect(await pass(5)).toBe(0)
  await use(budget(5, 'two more'))
  expect(await pass(5)).toBe(2)
  await use(budget(4, 'one less'))
  expect(await pass(2)).toBe(0)
  await shim.end()
})

test.each([
  ['an empty text', { SUB_POLICY_JSON: '' }, []],
  ['a text of blanks', { SUB_POLICY_JSON: ' \n' }, []],
  ['a file that is empty', {}, ['--policy=/dev/null']],
  ['a file that is not there', {}, ['--policy=/no/such/policy.yaml']],
  ['a file without a name', {}, ['--policy=']],
])('%s is no open gate', async (_, env, flags) => {
  const shim = startShim({ env, flags })
  expect(await shim.call('echo')).toMatchObject({ error: { code: -32_081 } })
  const { stderr } = await shim.end()
  expect(stderr).toContain('decision_on_error')
})
