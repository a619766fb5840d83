import { TaskState } from '@a2a-js/sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDispatch } from '../messages.ts'
import { objectsIn } from './json-in-text.ts'
import { replyInWords } from './plain-reply.ts'
import { resultFromText } from './plain-result.ts'

const CONTRACT = parseDispatch({
  type: 'TASK_DISPATCH',
  protocol_version: '2.0',
  task: { task_id: 'T', reply_schema: 'structured' },
  brief: 'do it',
})
const read = (text: string) => resultFromText(text, CONTRACT, TaskState.TASK_STATE_COMPLETED)

test('JSON in prose is found, whatever stands around it, and prose is never an end of the world', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 3 }),
      fc.string().filter((text) => !/["{}\\]/.test(text)),
      (objects, prose) => {
        const text = objects.map((one) => `${prose}\n\`\`\`json\n${JSON.stringify(one, null, 2)}\n\`\`\``).join(prose)
        expect(objectsIn(text)).toEqual(JSON.parse(JSON.stringify(objects)))
      },
    ),
  )
  fc.assert(fc.property(fc.string(), (text) => void objectsIn(text)))
  expect(objectsIn('{'.repeat(100_000))).toEqual([])
})

test('what a plain peer says is a result of source text: never valid, never measured', () => {
  const said =
    'All done.\n```json\n{"type":"TASK_RESULT","task_id":"T","status":"done","tokens_spent":3240,"schema_valid":true,"next_steps":["Open PR",4],"artifacts":{"pr":"https://x","files_changed":["a"]}}\n```\nBye'
  expect(read(said)).toMatchObject({
    status: 'done',
    source: 'text',
    schema_valid: false,
    tokens_spent: null,
    usage: { source: 'unknown' },
    next_steps: ['Open PR'],
    artifacts: { pr: 'https://x', files_changed: ['a'] },
  })
  expect(read('just words')).toMatchObject({ status: 'done', reply: 'just words', schema_valid: false })
})

test.each([
  ['{"status":"blocked","blocked_reason":"no key"}', { status: 'blocked', blocked_reason: 'no key', blocked: null }],
  ['{"status":"error","error":{"summary":"broke"}}', { status: 'error', error: { summary: 'broke' } }],
  ['{"status":"partial","remaining":["tests"]}', { status: 'partial', remaining: ['tests'] }],
  ['{"status":"wonderful"}', { status: 'done' }],
  // Of another task, or of another kind: not its result.
  ['{"task_id":"other","status":"error","error":{"summary":"x"}}', { status: 'done' }],
  ['{"type":"TASK_DISPATCH","status":"error"}', { status: 'done' }],
])('its words can make a result worse than its state: %s', (text, expected) => {
  expect(read(text)).toMatchObject({ ...expected, source: 'text' })
})

test('and never better', () => {
  expect(resultFromText('{"status":"done"}', CONTRACT, TaskState.TASK_STATE_FAILED).status).toBe('error')
  expect(resultFromText('', CONTRACT, TaskState.TASK_STATE_REJECTED)).toMatchObject({
    status: 'blocked',
    tokens_spent: 0,
  })
})

test.each([
  ['[queued]', { kind: 'later' }],
  ['[busy] 3 turns run', { kind: 'ended', result: { status: 'blocked', blocked: { class: 'overload' } } }],
  ['[error] it broke', { kind: 'ended', result: { status: 'error' } }],
  ['[no reply produced by the CLI]', { kind: 'ended', result: { status: 'error' } }],
  ['hello', { kind: 'ended', result: { status: 'done' } }],
])('a message in the manner of Hermes: %s', (text, expected) => {
  expect(replyInWords(text, CONTRACT)).toMatchObject({ ...expected, remoteId: 'context:T-1' })
})
