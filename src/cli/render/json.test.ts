// JSON on a terminal: the same value for a parser, nothing for the terminal to obey.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { safeJson } from './json.ts'

const OBEYED =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u

test('any value parses to itself and holds nothing that a terminal obeys', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
      fc.constantFrom('\u009b', '\u202e', '\u{e0041}'),
    ),
  })
  fc.assert(
    fc.property(
      fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text, { maxLength: 3 })), { maxKeys: 4 }),
      fc.constantFrom(undefined, 2),
      (value, indent) => {
        const json = safeJson(value, indent)
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(json).not.toMatch(OBEYED)
      },
    ),
  )
})

test('ordinary text of any script is left readable', () => {
  expect(safeJson({ a: 'é 日本 🙂' })).toBe('{"a":"é 日本 🙂"}')
})
