// The scan against JSON.parse as its oracle, whole and in pieces, and the members that mislead other parsers.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { childrenOf } from '../../canonical/children.ts'
import { scaled } from '../../../test/support/scale.ts'
import { MessageScan } from './message-scan.ts'

function scan(text: string | Buffer, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text)
  const reader = new MessageScan({ strict: true })
  let from = 0
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    const to = Math.min(Math.max(cut, from), bytes.length)
    reader.push(Buffer.from(bytes.subarray(from, to)), 0, to - from)
    from = to
  }
  return reader.finish()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const message = fc.record(
  {
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double()),
    method: fc.oneof(fc.constant('tools/call'), fc.string()),
    params: fc.record({ name: fc.string(), arguments: fc.jsonValue(), _meta: fc.jsonValue() }, { requiredKeys: [] }),
    result: fc.jsonValue(),
  },
  { requiredKeys: [] },
)

test('accepts exactly what JSON.parse accepts, also after a mutation and in any pieces', () => {
  fc.assert(
    fc.property(
      fc.oneof(message, fc.jsonValue()),
      fc.array(
        fc.record({ at: fc.nat(400), byte: fc.constantFrom(...Array.from('{}[]",:\\0-1eE.+ tfn\u0001\u007fux')) }),
        {
          maxLength: 2,
        },
      ),
      fc.array(fc.nat(400), { maxLength: 4 }),
      (value, edits, cuts) => {
        let text = JSON.stringify(value)
        for (const { at, byte } of edits) {
          const place = at % (text.length + 1)
          text = text.slice(0, place) + byte + text.slice(place + 1)
        }
        if (Buffer.from(text).toString() !== text) return
        expect(scan(text, cuts).valid).toBe(isJson(text))
      },
    ),
    { numRuns: scaled(400, 30_000) },
  )
})

test('finds the members wherever they stand and however the bytes are cut', () => {
  fc.assert(
    fc.property(message, fc.array(fc.nat(300), { maxLength: 5 }), (value, cuts) => {
      const text = JSON.stringify(value)
      const seen = scan(text, cuts)
      if (value.id !== undefined)
        expect(JSON.parse(seen.id.raw ?? 'null')).toEqual(JSON.parse(JSON.stringify(value.id)))
      if (value.method !== undefined) expect(seen.method.text).toBe(value.method)
      if (value.params?.name !== undefined) expect(seen.name.text).toBe(value.params.name)
      const bytes = Buffer.from(text)
      if (value.params?.arguments !== undefined)
        expect(JSON.parse(bytes.subarray(seen.args.from, seen.args.to).toString())).toEqual(
          JSON.parse(JSON.stringify(value.params.arguments)),
        )
      if (value.result !== undefined)
        expect(bytes.subarray(seen.result.from, seen.result.to).toString()).toBe(JSON.stringify(value.result))
    }),
    { numRuns: scaled(150, 10_000) },
  )
})

test.each([
  ['{"method":"ping","method":"tools/call"}', 'method'],
  ['{"method":"ping","Method":"tools/call"}', 'Method'],
  ['{"METHOD":"tools/call"}', 'METHOD'],
  ['{"\\u006dethod":"ping","method":"tools/call"}', 'method'],
  ['{"method":"tools/call","params":{"name":"a","Name":"b"}}', 'Name'],
  ['{"method":"tools/call","params":{"name":"a","name":"b"}}', 'name'],
  ['{"method":"tools/call","param\u017f":{"name":"b"}}', 'param\u017f'],
  ['{"method":"tools/call","params":{},"params":{"name":"b"}}', 'params'],
  ['{"id":1,"id":2}', 'id'],
  ['{"method":"notifications/cancelled","params":{"requestid":1}}', 'requestid'],
  ['{"method":"tools/call","params":{"arguments":{},"Arguments":{"a":1}}}', 'Arguments'],
])('%s is ambiguous by %s', (text, member) => {
  expect(scan(text)).toMatchObject({ valid: true, ambiguous: member })
})

test('keys of the arguments and of foreign members may be anything', () => {
  expect(
    scan(
      '{"method":"tools/call","params":{"name":"a","arguments":{"Name":1,"name":{"x":1,"x":2}},"other":{"name":1}}}',
    ),
  ).toMatchObject({ valid: true, ambiguous: null })
})

test('a message nested beyond the limit is not valid', () => {
  expect(scan(`{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`).valid).toBe(false)
})

test('a lenient scan decodes strings that have raw control characters next to escapes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '\t', '\u0001', '\r', '\u007f', '\\n', '\\u0041', '\\"', 'é'), { maxLength: 8 }),
      fc.constantFrom('key', 'id', 'message', 'result'),
      (parts, place) => {
        const raw = parts.join('')
        const at = (name: string): string => (place === name ? `"${raw}"` : '"x"')
        const bytes = Buffer.from(
          `{"id":${at('id')},${at('key')}:0,"result":{${at('result')}:0},"error":{"code":1,"message":${at('message')}}}`,
        )
        const reader = new MessageScan({ strict: false })
        reader.push(bytes, 0, bytes.length)
        const seen = reader.finish()
        expect(seen.valid).toBe(true)
        for (const slot of seen.slots) void slot.text
        const decoded = parts
          .map((part) => (part.startsWith('\\') ? (JSON.parse(`"${part}"`) as string) : part))
          .join('')
        if (place === 'id') expect(seen.id.text).toBe(decoded)
        if (place === 'message') expect(seen.errorMessage.text).toBe(decoded)
        if (place === 'key') expect(childrenOf(bytes).map(({ name }) => name)).toContain(decoded)
      },
    ),
    { numRuns: scaled(400, 30_000) },
  )
})
