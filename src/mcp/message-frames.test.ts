// Both framings, whole, byte by byte and split at every place; what is refused, and that reading goes on.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MCP_MESSAGE_BYTES_MAX } from '../limits.ts'
import { type Framed, MessageReader } from './message-frames.ts'

const shown = (found: readonly Framed[]): string[] =>
  found.map((item) => (item.kind === 'message' ? item.bytes.toString('utf8') : `! ${item.reason}`))

function readAll(bytes: Buffer, cuts: readonly number[] = []): string[] {
  const reader = new MessageReader()
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  const found = edges.slice(1).flatMap((end, i) => reader.push(bytes.subarray(edges[i], end)))
  return shown([...found, ...reader.end()])
}

const framed = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

describe('seed 000 T-4: newline and Content-Length framing', () => {
  test.each([
    ['lines', '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['a last line without its newline', '{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['carriage returns and empty lines', '\r\n{"a":1}\r\n\n{"b":2}\r\n', ['{"a":1}\r', '{"b":2}\r']],
    ['a length', framed('{"a":1}'), ['{"a":1}']],
    ['bytes, not characters', framed('{"é":"日本"}') + framed('{"b":2}'), ['{"é":"日本"}', '{"b":2}']],
    ['other headers, any case, bare newlines', 'content-type: x\ncontent-LENGTH:7\n\n{"a":1}', ['{"a":1}']],
    ['a body with newlines in it', framed('{\n"a":\n1}'), ['{\n"a":\n1}']],
    ['both in one stream', `${framed('{"a":1}')}{"b":2}\n${framed('{"c":3}')}`, ['{"a":1}', '{"b":2}', '{"c":3}']],
    ['no length', 'Content-Type: x\r\n\r\n{"a":1}\n', ['! headers without Content-Length', '{"a":1}']],
    [
      'a length that is none',
      'Content-Length: -5\r\n\r\n{"a":1}\n',
      ['! a Content-Length that is no number, or a second one', '{"a":1}'],
    ],
    [
      'two lengths',
      'Content-Length: 7\r\nContent-Length: 8\r\n\r\n{"a":1}\n',
      ['! a Content-Length that is no number, or a second one', '{"a":1}'],
    ],
    ['an end inside a body', 'Content-Length: 70\r\n\r\n{"a":1}', ['! the stream ended inside a message']],
    ['an end inside headers', 'Content-Length: 70\r\n', ['! the stream ended inside a message']],
    ['text that is not JSON', 'hello\n{"a":1}\n', ['hello', '{"a":1}']],
  ])('%s', (_, text, expected) => {
    const bytes = Buffer.from(text)
    expect(readAll(bytes)).toEqual(expected)
    expect(readAll(bytes, [...bytes.keys()])).toEqual(expected)
  })

  test('any split of any mixture gives the same messages', () => {
    const message = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => JSON.stringify({ text }))
    const piece = message.chain((body) => fc.constantFrom(`${body}\n`, framed(body)).map((wire) => ({ body, wire })))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.array(fc.nat(400)), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.map(({ wire }) => wire).join(''))
        const inside = cuts.filter((cut) => cut < bytes.length)
        expect(readAll(bytes, inside)).toEqual(pieces.map(({ body }) => body))
      }),
    )
  })
})

describe('limits are checked before memory is taken', () => {
  test('a length above the limit is skipped, and the next message is read', () => {
    const reader = new MessageReader()
    const length = MCP_MESSAGE_BYTES_MAX + 1
    const found = reader.push(Buffer.from(`Content-Length: ${length}\r\n\r\n`))
    const chunk = Buffer.alloc(1 << 20, 0x20)
    for (let sent = 0; sent < length; sent += chunk.length)
      found.push(...reader.push(chunk.subarray(0, Math.min(chunk.length, length - sent))))
    expect(shown(found)).toEqual([`! Content-Length ${length}, limit ${MCP_MESSAGE_BYTES_MAX}`])
    expect(shown(reader.push(Buffer.from('{"a":1}\n')))).toEqual(['{"a":1}'])
  })

  test('a length that nobody would wait for ends the reading', () => {
    const reader = new MessageReader()
    expect(shown(reader.push(Buffer.from('Content-Length: 999999999999\r\n\r\n{"a":1}\n')))).toEqual([
      `! Content-Length 999999999999, limit ${MCP_MESSAGE_BYTES_MAX}`,
    ])
    expect(shown([...reader.push(Buffer.from('{"a":1}\n')), ...reader.end()])).toEqual([])
  })

  test('a line that never ends is dropped at the limit, and the next line is read', () => {
    const reader = new MessageReader()
    const chunk = Buffer.alloc(1 << 20, 0x61)
    const found: Framed[] = []
    for (let sent = 0; sent <= MCP_MESSAGE_BYTES_MAX + chunk.length; sent += chunk.length)
      found.push(...reader.push(chunk))
    expect(found).toEqual([])
    expect(shown(reader.push(Buffer.from('aaa\n{"a":1}\n')))).toEqual([
      `! a line of more than ${MCP_MESSAGE_BYTES_MAX} bytes`,
      '{"a":1}',
    ])
  })

  const padding = 'x'.repeat(MCP_MESSAGE_BYTES_MAX)
  test.each([
    ['in front', `{"jsonrpc":"2.0","id":"a\\"b","params":{"id":7,"text":"${padding}"}}`, 'a"b'],
    ['behind what is long', `{"params":{"id":7,"text":"${padding}"},"id":12 , "method":"tools/call" }`, 12],
    ['only inside', `{"params":{"text":"${padding}","id":7}}`, null],
    ['a fraction', `{"id":1.5,"params":"${padding}"}`, 1.5],
    ['no JSON at all', padding + padding, null],
  ])('the id of a message that is skipped: %s', (_, text, id) => {
    for (const wire of [`${text}\n`, framed(text), text])
      for (const cut of [1, 60, MCP_MESSAGE_BYTES_MAX]) {
        const reader = new MessageReader()
        const bytes = Buffer.from(wire)
        const found = [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut)), ...reader.end()]
        expect(found).toMatchObject([{ kind: 'refused', id }])
      }
  })

  test('headers that never end', () => {
    const reader = new MessageReader()
    const found = Array.from({ length: 2_000 }, () => reader.push(Buffer.from('X-Header: yes\r\n'))).flat()
    expect(shown([...found, ...reader.push(Buffer.from('\r\n{"a":1}\n'))])).toEqual([
      '! headers of more than 4096 bytes',
      '{"a":1}',
    ])
  })
})
