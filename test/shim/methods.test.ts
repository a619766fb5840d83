// What a server says of its tools, where the bundle believes it; and requests that are no tool calls but that rules name.
import { describe, expect, test } from 'vitest'
import {
  ADAPTERS,
  bundle,
  checkBooks,
  deny,
  type Json,
  ofType,
  rule,
  shimOver,
  toolCall,
} from '../support/shim-client.ts'

const TOOLS = JSON.stringify([
  { name: 'read', annotations: { readOnlyHint: true } },
  { name: 'write', annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true } },
  { name: 'wipe', annotations: { destructiveHint: true, openWorldHint: false } },
  { name: 'silent' },
  { name: 'odd', annotations: { readOnlyHint: 'yes' } },
])

const RULES = [
  rule('reads', 'allow', { annotations: { read_only: true } }, {}),
  deny('no-wipe', { annotations: { destructive: true } }),
  deny('twice', { annotations: { idempotent: false } }),
]

describe.each(ADAPTERS)('over %s', (adapter) => {
  const startShim = shimOver(adapter)

  test('annotations count for a server that the bundle names; what is not known is dangerous', async () => {
    const shim = startShim({ policy: bundle(RULES, { trust_annotations: ['fa*'] }), env: { FAKE_TOOLS: TOOLS } })
    // Before the list has come nothing is known.
    shim.send(toolCall(1, 'read'))
    expect(await shim.answer(1)).toHaveProperty('error')
    shim.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' })
    await shim.answer('list')
    const told: Record<string, unknown> = {}
    for (const name of ['read', 'write', 'wipe', 'silent', 'odd', 'unheard']) {
      const answer = await shim.call(name)
      told[name] = answer['error']?.data.subluminal.rule_id ?? 'passed'
    }
    expect(told).toEqual({
      read: 'passed',
      write: 'passed',
      wipe: 'no-wipe',
      silent: 'no-wipe',
      odd: 'no-wipe',
      unheard: 'no-wipe',
    })
    const { events } = await shim.end()
    expect(checkBooks(events)).toEqual([])
  })

  test('a server that is not named is believed nothing, and an id in use for a call proves nothing', async () => {
    const other = startShim({ policy: bundle(RULES, { trust_annotations: ['git'] }), env: { FAKE_TOOLS: TOOLS } })
    other.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' })
    await other.answer('list')
    expect(await other.call('read')).toHaveProperty('error')
    await other.end()

    // The list is asked for under the id of a call that is still open: either answer may be the call's.
    const shim = startShim({
      policy: bundle([rule('slow', 'allow', { tool_name: { glob: ['sleep'] } }, {}), ...RULES], {
        trust_annotations: ['fake'],
      }),
      env: { FAKE_TOOLS: TOOLS },
    })
    shim.send(toolCall(7, 'sleep', { ms: 1_000 }))
    shim.send({ jsonrpc: '2.0', id: 7, method: 'tools/list' })
    await shim.answer(7)
    expect(await shim.call('read', {}, 'r')).toHaveProperty('error')
    await shim.end()
  })

  test.each(['BLOCK', 'ALLOW'])(
    'a policy that does not compile decides every request by decision_on_error %s (seed 004 §2.1)',
    async (onError) => {
      const shim = startShim({
        policy: { policy_id: 'broken', defaults: { decision_on_error: onError }, rules: [{ rule_id: 7 }] },
      })
      const asked = [
        ['resources/read', { uri: 'file:///etc/passwd' }],
        ['resources/subscribe', { uri: 'file:///etc/passwd' }],
        ['prompts/get', { name: 'x' }],
        ['completion/complete', {}],
        ['Resources/Read', { uri: 'file:///etc/passwd' }],
        ['tools/call', { name: 'echo', arguments: {} }],
      ] as const
      for (const [method, params] of asked) {
        shim.send({ jsonrpc: '2.0', id: method, method, params })
        expect([method, Object.hasOwn(await shim.answer(method), 'error')]).toEqual([method, onError === 'BLOCK'])
      }
      // What sets up a connection works: a client has to be told.
      for (const method of ['ping', 'tools/list', 'resources/list', 'prompts/list']) {
        shim.send({ jsonrpc: '2.0', id: method, method })
        expect(await shim.answer(method)).toHaveProperty('result')
      }
      const { events } = await shim.end()
      expect(shim.received().includes('etc/passwd')).toBe(onError === 'ALLOW')
      const decided = ofType(events, 'tool_call_decision').map(({ decision }) => [
        decision.action,
        decision.explain.reason_code,
      ])
      expect(decided).toEqual(asked.map(() => [onError, 'POLICY_ERROR']))
      expect(checkBooks(events)).toEqual([])
    },
  )

  test('requests that rules name are judged and recorded with their params as arguments; others pass unseen', async () => {
    const shim = startShim({
      policy: bundle([
        deny('no-secrets', { method: ['resources/*'], args: { at: { uri: { glob: ['file:///etc/*'] } } } }),
        rule('prompts', 'budget', { method: ['prompts/get'] }, { budget: { limit_calls: 1, on_exceed: 'BLOCK' } }),
        deny('no-tools', { tool_name: { glob: ['*'] } }),
      ]),
    })
    const ask = (id: string, method: string, params?: object): Promise<Json> => {
      shim.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
      return shim.answer(id)
    }
    expect((await ask('a', 'resources/read', { uri: 'file:///etc/passwd' }))['error']).toMatchObject({
      code: -32_081,
      data: { subluminal: { rule_id: 'no-secrets', tool_name: 'resources/read' } },
    })
    expect(await ask('b', 'resources/read', { uri: 'file:///tmp/x' })).toHaveProperty('result')
    expect(await ask('c', 'resources/list')).toHaveProperty('result')
    expect(await ask('d', 'prompts/get', { name: 'x' })).toHaveProperty('result')
    expect(await ask('e', 'prompts/get', { name: 'x' })).toHaveProperty('error')
    expect(await ask('f', 'completion/complete', {})).toHaveProperty('result')
    // Ways around: letter case, a notification, params of another shape, a batch.
    expect((await ask('g', 'Resources/Read', { uri: 'file:///etc/passwd' }))['error'].code).toBe(-32_600)
    shim.send({ jsonrpc: '2.0', method: 'resources/read', params: { uri: 'file:///etc/shadow' } })
    expect((await ask('h', 'resources/read', ['file:///etc/passwd']))['error'].code).toBe(-32_602)
    shim.send('[{"jsonrpc":"2.0","id":"i","method":"resources/read","params":{"uri":"file:///etc/passwd"}}]')
    await shim.answer('i')
    shim.send({ jsonrpc: '2.0', id: { a: 1 }, method: 'resources/read', params: { uri: 'file:///etc/passwd' } })
    await ask('last', 'ping')
    const { events } = await shim.end()
    expect(shim.received()).not.toMatch(/etc/)
    expect(ofType(events, 'tool_call_start').map(({ call }) => `${call.tool_name} ${call.method ?? '-'}`)).toEqual([
      'resources/read resources/read',
      'resources/read resources/read',
      'resources/list resources/list',
      'prompts/get prompts/get',
      'prompts/get prompts/get',
      'Resources/Read -',
      'resources/read resources/read',
      'resources/read -',
      'resources/read -',
      'resources/read -',
    ])
    expect(checkBooks(events)).toEqual([])
  })
})
