// Questions in a stream: found in any chunking, taken out without touching anything else, and nothing else taken for one.
import { expect, test } from 'vitest'
import { QueryFilter, QueryScanner } from './query-stream.ts'

const ASKED = [
  '\x1b[c',
  '\x1b[0c',
  '\x1b[>c',
  '\x1b[>0c',
  '\x1b[5n',
  '\x1b[6n',
  '\x1b[?6n',
  '\x1b[>q',
  '\x1b[>0q',
  '\x1b[?u',
  '\x1b[18t',
  '\x1b[4$p',
  '\x1b[?2026$p',
  '\x1bP$qm\x1b\\',
  '\x1bP$q q\x1b\\',
  '\x1b]10;?\x07',
  '\x1b]11;?\x1b\\',
  '\x1b]4;1;?\x07',
  '\x1b]4;1;#fff;2;?\x1b\\',
]
const NOT_ASKED = [
  '\x1b[31m',
  '\x1b[?62;22c',
  '\x1b[3;4H',
  '\x1b[2 q',
  '\x1b[!p',
  '\x1b]11;#123456\x07',
  '\x1b[22;2t',
  '\x1b]8;;http://x/?\x07',
]

const bytesOf = (text: string): Buffer[] => [...Buffer.from(text)].map((byte) => Buffer.of(byte))

test.each(ASKED)('%j is a question, whole and byte by byte', (query) => {
  expect(new QueryScanner().scan(Buffer.from(`text${query}more`))).toBe(true)
  const scanner = new QueryScanner()
  expect(bytesOf(`te\x1b[1mxt${query}more`).filter((byte) => scanner.scan(byte))).toHaveLength(1)
})

test.each(NOT_ASKED)('%j is none', (text) => {
  expect(new QueryScanner().scan(Buffer.from(`text${text}more`))).toBe(false)
})

test.each([true, false])('the filter leaves everything else as it is; byte by byte: %s', (isByByte) => {
  const given = ASKED.map((query, n) => `é${n}${query}${NOT_ASKED[n % NOT_ASKED.length]}`).join('\r\n')
  const expected = ASKED.map((_, n) => `é${n}${NOT_ASKED[n % NOT_ASKED.length]}`).join('\r\n')
  const filter = new QueryFilter()
  const kept = (isByByte ? bytesOf(given) : [Buffer.from(given)]).map((chunk) => filter.push(chunk))
  expect(Buffer.concat([...kept, filter.end()]).toString()).toBe(expected)
})

test('what is open for too long is no question and is let go', () => {
  const filter = new QueryFilter()
  const image = `\x1b]1337;File=${'A'.repeat(2_000)}`
  expect(filter.push(Buffer.from(image)).toString()).toBe(image)
})
