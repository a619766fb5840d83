// Any Unicode character for property tests.
import fc from 'fast-check'

/** Every code point but halves of surrogate pairs, as `unit: 'binary'` of fast-check, which builds a table of a million entries first: a second per worker. */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
  )
  .map((code) => String.fromCodePoint(code))
