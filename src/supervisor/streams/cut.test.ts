// Where a stream may be cut: the same answer for any chunking, and never inside a sequence or a character.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SEQUENCE_BYTES_MAX } from '../../limits.ts'
import { advance, isCut, nextCut, START_OF_STREAM } from './cut.ts'

const after = (text: string | Buffer): boolean => isCut(advance(START_OF_STREAM, Buffer.from(text)))

test.each([
  ['text', 'abc', true],
  ['a lone ESC', 'abc\x1b', false],
  ['CSI without its end', '\x1b[12;3', false],
  ['CSI with it', '\x1b[12;3H', true],
  ['a character set', '\x1b(', false],
  ['a character set named', '\x1b(P', true],
  ['a title', '\x1b]0;title', false],
  ['a title ended by BEL', '\x1b]0;title\x07', true],
  ['a title ended by half of ST', '\x1b]0;title\x1b', false],
  ['a title ended by ST', '\x1b]0;title\x1b\\', true],
  ['a device string with a bell in it', '\x1bPq#0\x07\n', false],
  ['a device string ended', '\x1bPq#0\x07\n\x1b\\', true],
  ['a sequence given up', '\x1b]0;x\x18', true],
  ['a new sequence inside another', '\x1b]0;x\x1b[0m', true],
])('after %s: %#', (_name, text, expected) => expect(after(text)).toBe(expected))

test('characters are not torn', () => {
  const bytes = Buffer.from('é日😀')
  const cuts = Array.from({ length: bytes.length + 1 }, (_, n) => n).filter((n) => after(bytes.subarray(0, n)))
  expect(cuts).toEqual([0, 2, 5, 9])
})

test('a sequence past the limit may be cut: its end is not waited for', () => {
  expect(after(`\x1bPq${'x'.repeat(SEQUENCE_BYTES_MAX)}`)).toBe(true)
})

const stream = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b[1m',
        '\x1b]0;t\x07',
        '\x1b]8;;u\x1b\\',
        '\x1bPq\x07\n\x1b\\',
        '\x1b(B',
        '\x1b7',
        '\x18',
        'é',
        '日',
        '😀',
        '\n',
        '\x1b',
        '\x1b[',
      ),
      fc.stringMatching(/^[ -~]{0,10}$/),
    ),
    { maxLength: 30 },
  )
  .map((parts) => Buffer.from(parts.join('')))

test('any chunking gives the state that byte by byte gives', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(40), { maxLength: 10 }), (bytes, sizes) => {
      let whole = START_OF_STREAM
      for (const byte of bytes) whole = advance(whole, Buffer.of(byte))
      let chunked = START_OF_STREAM
      let at = 0
      for (const size of [...sizes, bytes.length]) {
        chunked = advance(chunked, bytes.subarray(at, at + size))
        at += size
      }
      expect(isCut(chunked)).toBe(isCut(whole))
      expect(chunked.mode).toBe(whole.mode)
    }),
  )
})

test('the next cut is the first byte after which the stream is cuttable', () => {
  fc.assert(
    fc.property(stream, fc.nat(60), (bytes, split) => {
      const state = advance(START_OF_STREAM, bytes.subarray(0, split))
      const rest = bytes.subarray(split)
      const cut = nextCut(state, rest)
      const expected = Array.from({ length: rest.length + 1 }, (_, n) => n).find((n) =>
        isCut(advance(START_OF_STREAM, bytes.subarray(0, Math.min(split, bytes.length) + n))),
      )
      expect(cut.found ? cut.length : undefined).toBe(expected)
    }),
  )
})
