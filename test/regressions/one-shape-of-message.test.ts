// From the agent comes one JSON-RPC object or a flat batch of them, in names that everybody reads alike; all else is refused and recorded (seed 004 §7.2).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle, checkBooks, deny, ofType, startShim, tool, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const FOLDER = join(import.meta.dirname, '../fixtures/smuggled')
const LINES = readdirSync(FOLDER).map((name) => ({ name, bytes: readFileSync(join(FOLDER, name)) }))

const POLICY = bundle(
  [
    deny('no-danger', tool('danger')),
    deny('no-force', { ...tool('push'), args: { key_equals: { force: true } } }),
    deny('no-access', { ...tool('publish'), args: { has_keys: ['access'] } }),
  ],
  // What can be read in two ways is no error of policy: it is refused even where those let calls pass.
  { defaults: { decision_on_error: 'ALLOW' } },
)

test('not one of the raw lines reaches the server, each is answered and stands in the record', async () => {
  const shim = startShim({ policy: POLICY })
  for (const { bytes } of LINES) shim.program.child.stdin?.write(bytes)
  const last = toolCall('last', 'push', { force: false, path: 'a', Branch: 'main' })
  shim.send(last)
  expect(await shim.answer('last')).toHaveProperty('result')
  const { events, lines } = await shim.end()
  expect(shim.received()).toBe(`${JSON.stringify(last)}\n`)
  expect(lines.flat().filter((line) => line['error'] !== undefined).length).toBeGreaterThanOrEqual(LINES.length)
  const refused = ofType(events, 'tool_call_decision').filter(({ decision }) => decision.action === 'BLOCK')
  expect(refused.length).toBe(LINES.length)
  expect(checkBooks(events)).toEqual([])
})

test('in mode observe they go on as they came, and the record says what would have been done', async () => {
  const lines = LINES.filter(({ name }) => !name.startsWith('arguments-'))
  const shim = startShim({ policy: { ...POLICY, mode: 'observe' } })
  for (const { bytes } of lines) shim.program.child.stdin?.write(bytes)
  // One that is still starting when the input ends is ended with it.
  await until('the server to read', () => shim.received() !== '')
  const { events } = await shim.end()
  expect(Buffer.from(shim.received())).toEqual(Buffer.from(Buffer.concat(lines.map(({ bytes }) => bytes)).toString()))
  const decisions = ofType(events, 'tool_call_decision').map(({ decision }) => decision)
  expect(decisions.length).toBe(lines.length)
  for (const decision of decisions) expect(decision).toMatchObject({ action: 'BLOCK', enforced: false })
})

test('a key in other letter case is no matter where no rule looks at it', async () => {
  const shim = startShim({ policy: POLICY })
  expect(await shim.call('echo', { Force: true, force: false })).toHaveProperty('result')
  expect(await shim.call('push', { Path: 'a', path: 'b' })).toHaveProperty('result')
  await shim.end()
})
