// Torn characters arrive whole, in any chunking; bytes that are no characters pass as they are.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WholeCharacters } from './whole-characters.ts'

const isWhole = (bytes: Uint8Array): boolean => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    decoder.decode(bytes)
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

test('any text in any chunking comes out the same, and each chunk is whole characters', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'é', '“', '…', '日', '🎉', '👩‍💻') }),
      fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
      (text, sizes) => {
        const whole = new WholeCharacters()
        const bytes = Buffer.from(text)
        const out: Uint8Array[] = []
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value ?? 1
          out.push(Uint8Array.from(whole.push(bytes.subarray(at, at + size))))
          at += size
        }
        expect(Buffer.concat(out).toString()).toBe(text)
        expect(out.every(isWhole)).toBe(true)
      },
    ),
  )
})

test.each(['80', 'ff', 'f8', '61ff', 'c3c3', 'e28080'])('%s is not held back for what may come', (hex) => {
  const whole = new WholeCharacters()
  const held = Buffer.from(hex, 'hex')
  const out = Buffer.concat([whole.push(held), whole.push(Buffer.from('ab'))])
  expect(out.toString('hex')).toBe(`${hex}6162`)
})
