// Server-sent events as the standard reads them, whatever the chunks.
import { expect, test } from 'vitest'
import { SseMessages } from './sse-messages.ts'

function read(text: string, step: number): { messages: string[]; hasEventId: boolean; isBetween: boolean } {
  const messages: string[] = []
  let message = ''
  const events = new SseMessages({
    piece: (buffer, from, to) => void (message += buffer.toString('utf8', from, to)),
    end() {
      messages.push(message)
      message = ''
    },
    drop: () => void (message = ''),
  })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += step) events.push(bytes.subarray(at, at + step))
  return { messages, hasEventId: events.hasEventId, isBetween: events.isBetween }
}

test.each<[string, string, string[]]>([
  ['one', 'data: {"a":1}\n\n', ['{"a":1}']],
  ['without a space', 'data:x\n\n', ['x']],
  ['of two spaces one stays', 'data:  x\n\n', [' x']],
  ['over several lines', 'data: a\ndata:b\ndata\n\n', ['a\nb\n']],
  ['carriage returns', 'data: a\r\rdata: b\r\n\r\ndata: c\n\n', ['a', 'b', 'c']],
  ['comments and other fields', ': data: x\nretry: 5\ndataset: y\nid: 1\ndata: a\n\n', ['a']],
  ['of type message', 'data: a\nevent: message\n\n', ['a']],
  ['of another type', 'event: ping\ndata: a\n\ndata: b\n\n', ['b']],
  ['a mark of byte order', '\ufeffdata: a\n\n', ['a']],
  ['unfinished', 'data: a\n\ndata: b\n', ['a']],
  ['nothing but an id', 'id: 1\n\n', []],
])('%s', (_, text, messages) => {
  for (const step of [1, 2, 3, 7, 1_000]) expect(read(text, step).messages).toEqual(messages)
})

test('whether the client may come back, and whether something may be added', () => {
  expect(read('id:\ndata: a\n\n', 1)).toMatchObject({ hasEventId: false, isBetween: true })
  expect(read('id: 1\ndata: a\n', 1)).toMatchObject({ hasEventId: true, isBetween: false })
  expect(read('data: a\n\n: c', 1)).toMatchObject({ isBetween: false })
})
