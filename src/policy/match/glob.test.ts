// Globs and regexes over names: against a simple translation, and under attack.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { compileGlob, normalizeGlob } from './glob.ts'
import { compileNames, compileRegex } from './names.ts'
import { regexSize } from './regex-size.ts'

function matches(glob: string, name: string): boolean {
  const test = compileGlob(glob)
  if (typeof test !== 'function') throw new Error(test.fault)
  return test(name)
}

test.each([
  ['*', '', true],
  ['*', 'a/b', true],
  ['git*', 'git', true],
  ['git*', 'git/push', true],
  ['*push', 'git/push', true],
  ['g*p*h', 'git/push', true],
  ['a*a', 'a', false],
  ['a*ab*b', 'ab', false],
  ['?', 'ab', false],
  ['?', '😀', true],
  ['r?ad', 'read', true],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[!a-c]x', 'zx', true],
  ['[]]', ']', true],
  ['[a-]', '-', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['[\\]]x', ']x', true],
  ['Git', 'git', false],
  ['{a,b}', 'a', false],
])('glob %s on %s is %s', (glob, name, expected) => {
  expect(matches(glob, name)).toBe(expected)
  expect(matches(normalizeGlob(glob), name)).toBe(expected)
})

test('a glob agrees with its translation into a regex', () => {
  const glob = fc
    .array(fc.constantFrom('a', 'b', '/', '.', '*', '**', '?', '[ab]', '[!a]', '\\*'), { maxLength: 7 })
    .map((parts) => parts.join(''))
  const name = fc.array(fc.constantFrom('a', 'b', '/', '.', '*', '😀'), { maxLength: 8 }).map((chars) => chars.join(''))
  const translate = (text: string): RegExp =>
    new RegExp(
      `^${text.replace(/\\\*|\[!a\]|[*?./]/g, (part) => ({ '\\*': '\\*', '[!a]': '[^a]', '*': '[^]*', '?': '.' })[part] ?? `\\${part}`)}$`,
      'su',
    )
  fc.assert(
    fc.property(glob, name, (pattern, text) => {
      expect(matches(pattern, text)).toBe(translate(pattern).test(text))
      expect(matches(normalizeGlob(pattern), text)).toBe(translate(pattern).test(text))
    }),
    { numRuns: scaled(400, 300_000) },
  )
})

test('many stars end: the work is at most name times glob', () => {
  const glob = `${'a*'.repeat(20)}?b`
  const name = 'a'.repeat(256)
  expect(matches(glob, name)).toBe(false)
  expect(matches('a*'.repeat(20), name)).toBe(true)
})

test('regexes are RE2: unanchored, linear, and patterns that kill a backtracking engine do nothing', () => {
  const regex = compileNames({ glob: [], regex: ['^(a+)+$', '(x+x+)+y', '([a-z]+)*\\d$', '(a|aa)+$'] })
  // 28 letters take a backtracking engine 12 s; this is 255, under a test that would time out.
  for (let i = 0; i < 50; i += 1) expect(regex(`${'a'.repeat(254)}!`)).toBe(false)
  expect(regex('aaa')).toBe(true)
  expect(compileNames({ glob: [], regex: ['us'] })('push')).toBe(true)
  expect(compileNames({ glob: [], regex: ['(?i)PUSH'] })('push')).toBe(true)
})

test('a name too long for a regex is not known to match; a glob has no such limit', () => {
  const long = 'a'.repeat(300)
  expect(compileNames({ glob: [], regex: ['^b'] })(long)).toBe('unknown')
  expect(compileNames({ glob: ['a*'], regex: ['^b'] })(long)).toBe(true)
  expect(compileNames({ glob: ['b*'], regex: [] })(long)).toBe(false)
})

test('fuzz: any text is a regex or a reason, and neither hangs nor throws', () => {
  const pieces = fc.constantFrom(
    'a',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '*',
    '+',
    '?',
    '|',
    '^',
    '$',
    '\\',
    '.',
    '1',
    ',',
    '-',
    '(?',
    ':',
    '<n>',
    '\\pL',
    '\\b',
    '[[:alpha:]]',
    '{9}',
  )
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join('')),
      fc.string({ maxLength: 60 }),
      (pattern, name) => {
        const regex = compileRegex(pattern)
        if (typeof regex === 'string') expect(regex).not.toBe('')
        else expect(typeof regex.test(name)).toBe('boolean')
      },
    ),
    { numRuns: scaled(200, 100_000) },
  )
})

test.each([
  ['abc', 3],
  ['(ab){100}', 400],
  ['((a{10}){10}){10}', 1_300],
  ['[a-z]{20}', 20],
  ['\\{9\\}', 4],
  ['[]{9}]', 1],
  ['[[:alpha:]]x', 2],
  ['a{,5}', 5],
  ['x{2', 3],
])('the size of %s is about %i', (pattern, expected) => {
  expect(regexSize(pattern)).toBeGreaterThanOrEqual(expected * 0.7)
  expect(regexSize(pattern)).toBeLessThanOrEqual(expected * 1.3)
})
