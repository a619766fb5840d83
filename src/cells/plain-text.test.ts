// No sequence of a hostile program survives: a corpus of some 400, whole, in pieces, cut off and at random.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { inlineText, PlainText } from './plain-text.ts'

const clean = (text: string): string => {
  const plain = new PlainText()
  return plain.push(Buffer.from(text)) + plain.end()
}

const bySplitting = (text: string, at: number): string => {
  const bytes = Buffer.from(text)
  const plain = new PlainText()
  return plain.push(bytes.subarray(0, at)) + plain.push(bytes.subarray(at)) + plain.end()
}

const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

const SECRET = 'c2VjcmV0'

function corpus(): string[] {
  const strings = [
    '0 1 2 4;1 7 8; 9 10 11 52;c 52;p 99; 104 133;A 633 777;notify',
    '1337;File= 1337;ClearScrollback 50 3008 7501',
  ]
    .flatMap((line) => line.split(' '))
    .flatMap((selector) =>
      [']', '\u009d'].flatMap((start) =>
        ['\u0007', '\u001b\\', '\u009c'].map(
          (end) => `${start === ']' ? '\u001b]' : start}${selector};${SECRET}${end}`,
        ),
      ),
    )
  const others = ['P$q', 'P+q', 'P1;2;3q', '_G', '^', 'X'].flatMap((start) => [
    `\u001b${start}${SECRET}\u001b\\`,
    `\u001b${start}${SECRET}\u009c`,
  ])
  const c1 = [0x90, 0x98, 0x9e, 0x9f].map((code) => `${String.fromCodePoint(code)}${SECRET}\u009c`)
  const finals = Array.from({ length: 0x7f - 0x40 }, (_, i) => String.fromCharCode(0x40 + i))
  const csi = finals.flatMap((final) => [
    `\u001b[${final}`,
    `\u001b[?25;1049${final}`,
    `\u009b1;2${final}`,
    `\u001b[>0 ${final}`,
  ])
  const escapes = '78=>DEHMNOZcno|}~'.split('').map((final) => `\u001b${final}`)
  const charsets = '()*+-./#% '.split('').map((middle) => `\u001b${middle}0`)
  const marks = [0xad, 0x61c, 0x180e, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069]
  const format = [...marks, 0xfeff, 0xfff9, 0xe0001, 0xe0041].map((code) => String.fromCodePoint(code))
  const controls = [...Array.from({ length: 0x20 }, (_, i) => i), 0x7f]
    .filter((code) => ![0x09, 0x0a, 0x0d, 0x1b].includes(code))
    .map((code) => String.fromCharCode(code))
  const singleC1 = [0x84, 0x85, 0x88, 0x8d, 0x8e, 0x8f, 0x96, 0x97, 0x9a, 0x9c].map((c) => String.fromCodePoint(c))
  return [...strings, ...others, ...c1, ...csi, ...escapes, ...charsets, ...format, ...controls, ...singleC1]
}

describe('the corpus (threat row 5)', () => {
  const sequences = corpus()

  test('has about 400 sequences', () => {
    expect(sequences.length).toBeGreaterThanOrEqual(400)
  })

  test('nothing of a sequence is left, and the text around it is, however it is split', () => {
    for (const sequence of sequences) {
      const text = `left${sequence}right`
      const bytes = Buffer.byteLength(text)
      for (let at = 0; at <= bytes; at += 1) {
        const seen = bySplitting(text, at)
        expect(seen, JSON.stringify(sequence)).not.toMatch(OBEYED)
        expect(seen.replaceAll(/[\n ]/g, ''), JSON.stringify(sequence)).toBe('leftright')
      }
    }
  })

  test('a sequence cut off by the end of the stream leaves nothing', () => {
    for (const sequence of sequences.filter((s) => s.length > 1)) {
      const seen = clean(`left${sequence.slice(0, -1)}`)
      expect(seen, JSON.stringify(sequence)).not.toMatch(OBEYED)
      expect(seen).not.toContain(SECRET)
    }
  })
})

test('arbitrary bytes never leave anything that a terminal obeys', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      const plain = new PlainText()
      const seen = chunks.map((chunk) => plain.push(Buffer.from(chunk))).join('') + plain.end()
      return !OBEYED.test(seen)
    }),
    { numRuns: scaled(250, 100_000) },
  )
})

test('plain text of any script is left as it is', () => {
  const text = 'naïve\t日本語 🙂\nשלום\n'
  expect(clean(text)).toBe(text)
  expect(clean('')).toBe('')
})

test.each([
  ['family', '👩\u200d👩\u200d👧'],
  ['skin and look', '👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🧑\u200d⚕\ufe0f'],
  ['Persian', 'می\u200cخواهم نامه\u200cها'],
  ['Hindi', 'क्\u200dष क्\u200cष'],
  ['Sinhala', 'ශ්\u200dරී'],
])('joiners stay between what they join, however it is split: %s', (_, text) => {
  for (let at = 0; at <= Buffer.byteLength(text); at += 1) expect(bySplitting(text, at)).toBe(text)
})

test.each([
  ['words in letters that nothing shapes', 'pass\u200cword pa\u200dypal', 'password paypal'],
  ['at an edge', '\u200dمی\u200c می\u200d\n\u200cخ', 'می می\nخ'],
  ['more than one', 'می\u200c\u200cخ 👩\u200d\u200d👧', 'میخ 👩👧'],
  ['between scripts', 'م\u200ca क\u200dم', 'مa कم'],
  ['ZWNJ between pictures', '👩\u200c👧', '👩👧'],
  ['around a bidi control', 'می\u200c\u202eخ', 'میخ'],
  ['around a sequence', 'می\u200c\u001b[5Cخ', 'می     خ'],
])('joiners that join nothing go: %s', (_, text, plain) => {
  expect(clean(text)).toBe(plain)
})

test('a string that never ends does not hide the rest of the log', () => {
  expect(clean(`\u001b]0;${'x'.repeat(70_000)}\nafter\n`)).toContain('\nafter\n')
})

test('lines: CR LF is one line break, a lone CR and a cursor movement start another line', () => {
  expect(clean('a\r\nb\r\r\nc')).toBe('a\nb\nc')
  expect(clean('10%\r20%\rdone\r\n')).toBe('10%\n20%\ndone\n')
  expect(clean('one\u001b[5;1Htwo\u001b[Kthree')).toBe('one\ntwothree')
  expect(clean('one\u001b[3Ctwo')).toBe('one   two')
  expect(clean('\u001b[99999999999Cx')).toBe('x')
})

test.each([
  // What bash writes when a line is pasted and then submitted.
  ['$ \u001b[7mecho hi\u001b[27m\r\u001b[C\u001b[Cecho hi\r\nhi\r\n', '$ echo hi\nhi\n'],
  ['$ \u001b[7mecho hi\u001b[27m\u001b[3Gecho hi there\r\n', '$ echo hi there\n'],
  ['$ \u001b[7mls\u001b[27m\b\bls\r\nhi\r\n', '$ ls\nhi\n'],
  ['$ echo é ünï\b\b\b\b\b\b\b\b\b\becho é ünï\r\n', '$ echo é ünï\n'],
  ['$ 日本 e\u0301\r\u001b[C\u001b[C日本 e\u0301\r\n', '$ 日本 e\u0301\n'],
  ['$ x 👍 x\b\b\b\b👍 x!\n', '$ x 👍 x!\n'],
  ['日本\u001b[3G本語\n', '日本語\n'],
  // What is not the same again goes on in its line.
  ['Working |\b/\b-\bdone\n', 'Working |/-done\n'],
  ['lx\b\u001b[Ks\n', 'lxs\n'],
  ['ab\b\bac\n', 'abac\n'],
  ['abc\b\u001b[Cd\b\bcd\n', 'abcd\n'],
  ['abc\rabcd\n', 'abcd\n'],
  ['abc\rab\n', 'abc\n'],
  ['日本\t語\r日本\t語!\n', '日本\t語!\n'],
  ['Fetched 10%\rFetched 20%\rFetched 20%\r\n', 'Fetched 10%\nFetched 20%\n'],
  ['10% of 9\r20%\u001b[C of 9\n', '10% of 9\n20%  of 9\n'],
  ['abc\rab\u001b[Kx\n', 'abc\nabx\n'],
  ['abc\u001b[K\rabc\n', 'abc\n'],
  ['abc\u001b[2K\rabc\n', 'abc\nabc\n'],
  ['abc\r\u001b[Kab\n', 'abc\nab\n'],
  ['abc\u001b[1;1Habc\n', 'abc\nabc\n'],
])('what is drawn over itself is there once: %j', (text, plain) => {
  for (let at = 0; at <= Buffer.byteLength(text); at += 1) expect(bySplitting(text, at)).toBe(plain)
})

test('a line longer than what is compared is shown again', () => {
  const long = 'x'.repeat(5_000)
  expect(clean(`${long}\r${long}\n`)).toBe(`${long}\n${long}\n`)
})

test('a title is one line', () => {
  expect(inlineText('\u001b]0;evil\u0007a\nb\u202e\tc')).toBe('a b c')
})

test.each([
  ['name\u001b[20Gsize\u001b[30Gtime\n', `name${' '.repeat(15)}size${' '.repeat(6)}time\n`],
  ['日本\u001b[8Gb\n', '日本   b\n'],
  ['a\u001b[2Gb\n', 'ab\n'],
  ['a\u001b[9`b\n', `a${' '.repeat(7)}b\n`],
  ['\ta\u001b[12Gb\n', '\ta  b\n'],
  ['\u001b[40Galone\n', 'alone\n'],
  ['progress 10%\u001b[Gprogress 20%\n', 'progress 10%\nprogress 20%\n'],
  ['one\r\u001b[8Gtwo\n', 'one\ntwo\n'],
])('words that a program has put into columns stay apart: %j', (text, plain) => {
  expect(clean(text)).toBe(plain)
})
