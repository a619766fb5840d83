// What is called sure is in every match: the engine itself is the judge.
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { fold } from '../bundle/likeness.ts'
import { requiredLiteral } from './regex-literal.ts'

test.each([
  ['push.*(--force|-f)', 'push'],
  ['\\bgit\\b.*\\bpush\\b', 'push'],
  ['--Force', '--force'],
  ['a|b', ''],
  ['(abc|d)', ''],
  ['abcd?', 'abc'],
  ['abcd+e', 'abcd'],
  ['x{3}', ''],
  ['[abc]def', 'def'],
  ['\\x41bc', 'bc'],
  ['\\p{Greek}abc', 'abc'],
  ['\\Qab*\\E', ''],
])('%s: %s', (regex, literal) => {
  expect(requiredLiteral(regex)).toBe(literal)
})

test('whatever matches has the letters', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'Push',
    '-f',
    '.',
    '\\b',
    '\\.',
    '[ab]',
    '[]a]',
    '(a|b)',
    '(?:ab)?',
    'c*',
    'c?',
    'd{0,1}',
    'd{2}',
    '\\x61',
    'k',
    's',
    '+',
  )
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 6 }),
      fc.stringMatching(/^[abcdkpushPUSHKS. fſ\u212a-]{0,24}$/),
      (pieces, text) => {
        const regex = pieces.join('')
        let compiled
        try {
          compiled = RE2JS.compile(regex, RE2JS.CASE_INSENSITIVE)
        } catch {
          return
        }
        if (compiled.test(text)) expect(fold(text)).toContain(requiredLiteral(regex))
      },
    ),
    { numRuns: scaled(300, 30_000) },
  )
})
