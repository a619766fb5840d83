// What is kept of output that is passed over: everything that outlasts the text.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { condense } from './condense.ts'

test('modes, margins, resets and the last colours are kept in order; text, positions and other commands are not', () => {
  const kept = '\x1b[?1049h\x1b[?25l\x1b[2;10r\x1b[>1u\x1b(0\x1b7\x1bc\x1b[4 q'
  const text = `before\x1b[31mred${kept.slice(0, 8)}x\x1b[5;5H${kept.slice(8)}\x1b]52;c;QQ\x07\x1b[m\x1b[1m\x1b[32mend`
  expect(condense([Buffer.from(text)]).toString()).toBe(`${kept}\x1b[m\x1b[1m\x1b[32m`)
})

test('a megabyte of text is nothing', () => {
  expect(condense([Buffer.alloc(1 << 20, 'text\n')]).length).toBe(0)
})

test('a long question is kept whole, and so are colours that the program sets', () => {
  const question = `\x1b]4;${Array.from({ length: 16 }, (_, n) => `${n};?`).join(';')}\x1b\\`
  const palette = `\x1b]4;${Array.from({ length: 256 }, (_, n) => `${n};rgb:1111/2222/3333`).join(';')}\x07`
  const kept = `\x1bP$qm\x1b\\\x1b]11;#336699\x07${question}${palette}\x1b]104;1;2\x07\x1b]104\x07\x1b]110\x1b\\`
  expect(condense([Buffer.from(`a${kept.slice(0, 7)}b${kept.slice(7)}c\x1b]0;title\x07`)]).toString()).toBe(kept)
})

/** Beginnings, ends and whole sequences, in any order. */
const PIECES = [
  '\x1b[',
  '\x1b',
  '[',
  'm',
  '0',
  '31',
  ';',
  'H',
  '?25',
  'h',
  'text',
  '\x1b[0m',
  '\x1b[m',
  '\x1b[1;31m',
  '\x1b[4:3m',
  '\x1b[5;5H',
  '\x1b[K',
  '\x1b[?2004h',
  '\x1b[>1u',
  '\x1b]4;1;',
  'rgb:1/2/3',
  '\x07',
  '\x1b\\',
  '\x1b[6n',
  '\x1bP$qm',
]

test('where the output is cut into slices makes no difference', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), fc.array(fc.nat(300)), (pieces, cuts) => {
      const whole = Buffer.from(pieces.join(''), 'latin1')
      const at = [0, ...cuts.filter((cut) => cut < whole.length).toSorted((a, b) => a - b), whole.length]
      const slices = at.slice(1).map((to, n) => whole.subarray(at[n], to))
      expect(condense(slices).toString('latin1')).toBe(condense([whole]).toString('latin1'))
    }),
    { numRuns: scaled(150, 5_000) },
  )
})

test('what is kept is what a search for each kind of sequence finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES.filter((piece) => !/\]|P/.test(piece))), { maxLength: 60 }),
      (pieces) => {
        const text = pieces.join('')
        const colors = text.match(/\x1b\[[\d;:]*m/g) ?? []
        const reset = colors.findLastIndex((color) => /^\x1b\[0*m$/.test(color))
        const modes = text.match(/\x1b\[[<=>?]?[\d;:]*[hlru]|\x1b\[6n/g) ?? []
        const expected = modes.join('') + colors.slice(Math.max(0, reset)).slice(-32).join('')
        expect(condense([Buffer.from(text, 'latin1')]).toString('latin1')).toBe(expected)
      },
    ),
    { numRuns: scaled(150, 5_000) },
  )
})

test('of many colours without a reset the last 32 are kept, in order', () => {
  const colors = Array.from({ length: 100 }, (_, n) => `\x1b[38;5;${n}m`)
  expect(condense([Buffer.from(colors.join('x'))]).toString()).toBe(colors.slice(-32).join(''))
})
