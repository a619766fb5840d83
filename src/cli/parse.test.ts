import { describe, expect, test } from 'vitest'
import { spec } from './command.ts'
import { parseCommandLine } from './parse.ts'

const row = spec({
  names: ['heimdall try', 'try'],
  summary: 'Tries',
  args: [
    { name: 'id', help: 'an id' },
    { name: 'more', help: 'more', optional: true, variadic: true },
  ],
  flags: {
    count: { type: 'integer', short: 'n', help: 'a number', default: 3 },
    wait: { type: 'duration', help: 'a time' },
    kind: { choices: ['a', 'b'], help: 'a choice' },
    tag: { value: 'TAG', multiple: true, help: 'many' },
    group: { help: 'on or off', default: true },
  },
  rest: 'CMD…',
  examples: { 'heimdall try x': 'tries' },
  output: '',
})

const parse = (...words: string[]): ReturnType<typeof parseCommandLine> => parseCommandLine(row, 'heimdall try', words)

describe('values', () => {
  test('typed, defaulted, repeated, negated, given with = or a space', () => {
    expect(parse('x', '--wait', '1h30m', '--kind=b', '--tag', 'p', '--tag=q', '--no-group', '-n', '7')).toMatchObject({
      args: { id: 'x', more: [] },
      flags: { count: 7, wait: 5_400_000, kind: 'b', tag: ['p', 'q'], group: false },
    })
    expect(parse('x').flags).toMatchObject({ count: 3, tag: [], group: true })
    expect(parse('x', '--group=false').flags).toMatchObject({ group: false })
  })

  test('what follows -- is not looked at', () => {
    expect(parse('x', 'y', '--', 'cmd', '--json', '-n')).toMatchObject({
      args: { id: 'x', more: ['y'] },
      rest: ['cmd', '--json', '-n'],
      globals: { json: false },
    })
  })

  test('a value may begin with a hyphen', () => {
    expect(parse('x', '--tag', '-v').flags).toMatchObject({ tag: ['-v'] })
  })
})

describe('refusals say what is allowed', () => {
  test.each([
    [['x', '--cuont', '1'], /unknown flag "--cuont"/, 'did you mean --count?'],
    [['x', '--count', 'ten'], /whole number, got/, undefined],
    [['x', '--count', '1'.repeat(21)], /whole number of at most 999999999999999, got/, undefined],
    [['x', '--count'], /needs a value/, undefined],
    [['x', '--wait', '5'], /duration such as/, undefined],
    [['x', '--wait', '0s'], /duration such as/, undefined],
    [['x', '--kind', 'c'], /takes a, b/, undefined],
    [['x', '--group=maybe'], /true or false/, undefined],
    [[], /ID is missing/, undefined],
    [['x', '--__proto__', 'y'], /unknown flag/, undefined],
    [['x', '--constructor'], /unknown flag/, undefined],
  ])('%j', (words, message, hint) => {
    expect(() => parse(...words)).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: expect.stringMatching(message) as string,
        ...(hint === undefined ? {} : { hint }),
      }),
    )
  })
})
