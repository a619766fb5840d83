import { spawnSync } from 'node:child_process'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { needs } from '../../test/support/needs.ts'
import { scaled } from '../../test/support/scale.ts'
import { MESSAGE_BYTES_MAX } from '../limits.ts'
import { publishedSchema } from './messages.ts'
import { judge, judgeText } from './verdict.ts'

const validate = new Ajv({ allErrors: false, strict: false }).compile(publishedSchema())

const TYPES = ['task_claim', 'task_result', 'gate_report', 'escalation', 'question', 'checkpoint']
const FIELDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  type: fc.constantFrom(...TYPES, 'frobnicate', '', null, 7),
  from: fc.constantFrom('coder', 'coder/F12', 'haid:ana.box-1f2e/otter', '', 7, null),
  msg_id: fc.constantFrom('m1', '', {}, 'x'.repeat(256), 'x'.repeat(257), '😀'.repeat(256), '😀'.repeat(257)),
  reply_to: fc.constantFrom('m0', '', 1),
  ts: fc.constantFrom('2026-06-11T12:07:27Z', 'x'.repeat(65), null),
  task: fc.constantFrom('3.2', '', 42, 'a\tb', 'a\nb', '\ud800'),
  symbols: fc.constantFrom(
    [],
    ['F12'],
    'F12',
    [1],
    Array.from({ length: 257 }, () => 'a'),
  ),
  capsules: fc.constantFrom([], ['w1', 'w2'], [['w1']], null),
  status: fc.constantFrom('pass', 'fail', 'partial', 'banana', true),
  criteria: fc.constantFrom([], [1, 2, 4], [1.5], ['1'], [2 ** 53], [-1], [1e300], 'x'),
  commit: fc.constantFrom('a2ef507', '', 7),
  capsule: fc.constantFrom('3.2', null),
  gate_id: fc.constantFrom('exchange-lob', '', 1),
  report_ref: fc.constantFrom('a/report.json', 'x'.repeat(1_025), []),
  wave: fc.constantFrom('w1', null, 3),
  reason: fc.constantFrom('because', '', 'two\nlines\tof it', 'x'.repeat(4_001), 'a\u0000b'),
  severity: fc.constantFrom('blocker', 'warning', 'info', 'BLOCKER'),
  refs: fc.constantFrom([], ['F12', 'w1'], [null]),
  question: fc.constantFrom('which port?', '', null, 'x\r\ny'),
  state: fc.constantFrom('started', 'in_progress', 'complete', 'blocked', 'done'),
}

/** The fields that a type needs, with good values, so that the generator reaches deep enough to accept. */
const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  task_claim: { task: '3.2' },
  task_result: { task: '3.2', status: 'pass' },
  gate_report: { gate_id: 'g', status: 'fail' },
  escalation: { reason: 'stuck', severity: 'info' },
  question: { question: 'which port?' },
  checkpoint: { wave: 'w1', state: 'started' },
}

const extra = fc.dictionary(
  fc.constantFrom('note', 'body', 'metrics', 'constructor', 'toString', 'x'),
  fc.oneof(
    fc.constantFrom('short', 'x'.repeat(300), { deep: 1 }, [1], null, true, 'a\nb'),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  { maxKeys: 2 },
)

/** A good message with a few fields changed, dropped or added: about half of them are valid. */
const messages = fc
  .record({
    type: fc.constantFrom(...TYPES),
    changes: fc.array(
      fc
        .constantFrom(...Object.keys(FIELDS))
        .chain((field) => fc.tuple(fc.constant(field), FIELDS[field] as fc.Arbitrary<unknown>)),
      { maxLength: 3 },
    ),
    dropped: fc.array(fc.constantFrom('type', 'from', 'msg_id', 'task', 'status', 'reason', 'wave'), { maxLength: 1 }),
    extra: fc.option(extra, { nil: {}, freq: 3 }),
  })
  .map(({ type, changes, dropped, extra }) => {
    const message: Record<string, unknown> = {
      type,
      from: 'coder',
      msg_id: 'm1',
      ...GOOD[type],
      ...extra,
      ...Object.fromEntries(changes),
    }
    for (const field of dropped) delete message[field]
    return message
  })

test('seed 000, messages: validator and published schema agree on generated messages', () => {
  const count = scaled(600, 10_000)
  let accepted = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: messages }, { weight: 1, arbitrary: fc.anything() }), (value) => {
      const { valid, errors } = judge(value)
      expect({ valid, errors }).toEqual({ valid: validate(value), errors: valid ? [] : expect.any(Array) })
      if (valid) accepted += 1
      else expect(errors.length).toBeGreaterThan(0)
    }),
    { numRuns: count },
  )
  // A generator whose messages are all alike would agree about nothing.
  expect(accepted).toBeGreaterThan(count / 5)
  expect(accepted).toBeLessThan((4 * count) / 5)
})

test('seed 000, "minor on an additive field": Python validates the published schema with the same verdicts', () => {
  needs('jsonschema for python3')
  const samples = fc.sample(messages, { numRuns: 300, seed: 1 })
  samples.push({ type: 'task_claim', from: 'coder', msg_id: 'm1', task: 'ends in a newline\n' })
  const program = [
    'import json, sys, jsonschema',
    'given = json.load(sys.stdin)',
    "validator = jsonschema.Draft7Validator(given['schema'])",
    "json.dump([validator.is_valid(message) for message in given['samples']], sys.stdout)",
  ].join('\n')
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program], {
    input: JSON.stringify({ schema: publishedSchema(), samples }),
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual(samples.map((message) => judge(JSON.parse(JSON.stringify(message))).valid))
})

test('seed 000, "the contract is bin/protocol/message-schema.json": the file is the schema that the validator uses', async () => {
  const json = `${JSON.stringify(publishedSchema(), null, 2)}\n`
  await expect(json).toMatchFileSnapshot('../../bin/protocol/message-schema.json')
  expect(json).not.toContain('\\p{')
})

test('seed 000, messages: the published schema is draft-07 with the version in its id', () => {
  expect(publishedSchema()).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://heimdall/protocol/message-schema-2.1.0.json',
  })
})

const errorsOf = (value: unknown): readonly string[] => judge(value).errors
const base = { from: 'coder', msg_id: 'm1' }

test.each([
  [{}, ['missing required field: type', 'missing required field: from', 'missing required field: msg_id']],
  [
    { type: 'question', from: '', msg_id: 3, question: '?' },
    ['from must be a non-empty string', 'msg_id must be a non-empty string'],
  ],
  [{ type: 'task_result', ...base, task: 42, status: 'pass' }, ['task_result: task must be a string, got 42']],
  [
    { type: 'task_result', ...base, task: 'a', status: 'pass', criteria: [1, 1.5] },
    ['task_result: criteria[1] must be an integer, got 1.5'],
  ],
  [
    { type: 'gate_report', ...base, gate_id: 'g', status: 'skipped' },
    ['gate_report: status not in enum [pass,fail]: skipped'],
  ],
  [{ type: 'escalation', ...base, reason: '', severity: 'info' }, ['escalation: reason must be a non-empty string']],
  [{ type: 'checkpoint', ...base, wave: 'w', state: 'complete', cost: { usd: 0.2 }, tags: ['a'] }, []],
  [[], ['a message must be a JSON object']],
])('the reason names the field: %j', (message, errors) => {
  expect(errorsOf(message)).toEqual(errors)
})

test('a key that changes prototypes is refused', () => {
  expect(
    judgeText(Buffer.from('{"type":"question","from":"a","msg_id":"b","question":"?","__proto__":{}}')).errors,
  ).toEqual(['field not allowed: __proto__'])
})

test('size, duplicate keys, several documents and bad UTF-8 are refused before the schema is asked', () => {
  const good = JSON.stringify({ type: 'question', ...base, question: '?' })
  const errors = (text: string | Uint8Array): readonly string[] => judgeText(Buffer.from(text as Uint8Array)).errors
  expect(errors(good)).toEqual([])
  expect(errors(`${good.slice(0, -1)},"from":"mallory"}`)[0]).toMatch(/from/)
  expect(errors(`${good.slice(0, -1)},"fr\\u006fm":"mallory"}`)[0]).toMatch(/from/)
  expect(errors(`${good}\n${good}`)[0]).toMatch(/document/)
  expect(errors(Buffer.from([0x22, 0xff, 0x22]))[0]).toMatch(/unparseable/)
  expect(errors('')[0]).toMatch(/unparseable/)
  expect(errors(`${good}${' '.repeat(MESSAGE_BYTES_MAX)}`)[0]).toMatch(/more than 65536 bytes/)
})
