import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { assertMeasured, measure } from './tokens.ts'

const PROSE =
  'Every message is a validated shape; 3,300 tokens → 250. Größe naïve 你好 emoji 😀👩‍👩‍👧 \t\n\n  if (a !== b) { return "x" }\n'.repeat(
    40,
  )

test('ordinary text is counted exactly, and the count says by which tokenizer', () => {
  expect(measure(PROSE)).toEqual({ tokens: encode(PROSE).length, tokenizer: 'o200k_base' })
  expect(measure('hello world', 'cl100k_base')).toEqual({ tokens: 2, tokenizer: 'cl100k_base' })
  expect(measure('').tokens).toBe(0)
})

test('text that spells a special token is text', () => {
  expect(measure('a <|endoftext|> b').tokens).toBeGreaterThan(3)
})

test.each(['a', '=', ' ', '\n', '你', '\u0301'])('a run of 200,000 times %j is counted piecewise', (unit) => {
  // Uncut, each of these takes from ten seconds to minutes.
  expect(measure(unit.repeat(200_000)).tokens).toBeGreaterThan(100)
})

test('a number typed in does not pass for a measured one', () => {
  expect(() => assertMeasured(measure('text'))).not.toThrow()
  expect(() => assertMeasured({ tokens: 3_300, tokenizer: 'o200k_base' })).toThrow(/claims to be measured/)
  expect(() => assertMeasured({ ...measure('text') })).toThrow(/claims to be measured/)
})
