import { expect, test } from 'vitest'
import { nearest } from './suggest.ts'

test.each([
  ['verson', ['version', 'help'], 'version'],
  ['scrollback_byte', ['scrollback_bytes', 'socket_dir'], 'scrollback_bytes'],
  ['tkae', ['check', 'take'], 'take'],
  ['ekat', ['check', 'take'], undefined],
  ['zzzzzz', ['version', 'help'], undefined],
  ['', ['ls'], undefined],
])('nearest(%j) among %j is %j', (typed, known, expected) => {
  expect(nearest(typed, known)).toBe(expected)
})
