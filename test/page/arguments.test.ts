// Arguments as the page writes them: what hides or turns text is seen by its number, in the list as in the call.
import { expect, test } from 'vitest'
import { argumentsLine, argumentsText } from '../../dashboard/src/components/format.ts'

test('signs that hide or turn text are shown by their numbers, recorded as they are or escaped', () => {
  const args = { path: 'src/\u202etxt.yek', zw: 'a\u200bb', note: 'one\ntwo' }
  const preview = JSON.stringify(args)
  for (const recorded of [preview, preview.replaceAll('\u202e', '\\u202e').replaceAll('\u200b', '\\u200b')]) {
    expect(argumentsLine(recorded)).toBe('src/\\u202etxt.yek, zw: a\\u200bb, note: one\ntwo')
    expect(argumentsText(recorded)).toBe(
      '{\n  "path": "src/\\u202etxt.yek",\n  "zw": "a\\u200bb",\n  "note": "one\\ntwo"\n}',
    )
  }
  expect(argumentsLine('{"path":"cut\u202e')).toBe('{"path":"cut\\u202e')
  expect(argumentsText('"tag \u{e0041}"')).toBe('"tag \\u{e0041}"')
})
