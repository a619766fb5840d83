import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../test/support/any-character.ts'
import { HeimdallError } from './errors.ts'
import { createIdSource } from './id-source.ts'
import { isId, parseId, printable } from './ids.ts'

describe('the id grammar', () => {
  test.each(['a', 'A1', 'amber-otter', 'w1.2_x', 'x'.repeat(64)])('accepts %s', (id) => {
    expect(parseId('session', id)).toBe(id)
  })

  test.each(['', '.', '..', '../x', 'a/b', 'a\\b', '-a', '.a', 'a b', 'a\n', 'a\0', 'é', 'x'.repeat(65), 'a:b'])(
    'refuses %j',
    (id) => {
      expect(() => parseId('session', id)).toThrow(HeimdallError)
    },
  )

  test('no accepted id can leave a folder or hide in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        if (isId(text)) expect(text).toMatch(/^[^./\\][^/\\\0]*$/)
      }),
    )
  })
})

test('hostile text is printable on one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/)
    }),
  )
})

describe('time-sortable ids', () => {
  test('strictly increase while the clock stands still and when it steps back', () => {
    const times = [5, 5, 5, 3, 1, 5, 6]
    let i = 0
    const next = createIdSource({ wallMs: () => times[i++] ?? 7 })
    const made = Array.from({ length: 200 }, next)
    expect([...made].sort()).toEqual(made)
    expect(new Set(made).size).toBe(200)
    for (const id of made) expect(isId(id)).toBe(true)
  })
})
