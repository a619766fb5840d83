import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { scaled } from '../../test/support/scale.ts'
import { escapeColumn, row, unescapeColumn } from './columns.ts'

// Whole strings of any code units, with the ones that matter far more often than chance would have it.
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\t',
        '\n',
        '\r',
        '\\',
        '\\t',
        '\\u0009',
        '\u001b[2J',
        '\u0000',
        '\u007f',
        '\u0085',
        '\u2028',
        '\u202e',
        '\u200b',
        '\ud800',
        '😀',
      ),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('any text survives the way into a column and back, and leaves no control character in it', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const column = escapeColumn(text)
      expect(unescapeColumn(column)).toBe(text)
      expect(column).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/u)
    }),
    { numRuns: scaled(1_000, 100_000) },
  )
})

test('seed 000, protocol.log: whatever the values, a row has the columns that were put in, and no more', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 4, maxLength: 4 }), (columns) => {
      const line = row(...columns)
      expect(line.split(/[\n\r]/)).toHaveLength(1)
      expect(line.split('\t').map(unescapeColumn)).toEqual(columns)
    }),
  )
})
