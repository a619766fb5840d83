import { expect, test } from 'vitest'
import { becameOf } from './became-of.ts'

test.each([
  // answer, by, ended by, what the page says, whether it counts
  ['somebody typed', 'root', null, 'Answered in its terminal, by root', true],
  ['somebody typed', null, null, 'Somebody typed into its terminal', true],
  ['osc: OSC 7501: working', 'root', null, 'Answered in its terminal, by root', true],
  ['allowed, once', 'ana', null, 'Allowed, once, by ana', true],
  ['osc: OSC 7501: working', null, null, 'Went on by itself', false],
  ['it went on', null, null, 'Went on by itself', false],
  ['it asked something else', null, null, 'Asked something else', false],
  ['a call was allowed again', null, null, 'Its budget allows calls again', false],
  ['the session ended', null, null, 'Ended before an answer', false],
  ['the session was killed', null, null, 'Killed before an answer', false],
  ['the session was killed', null, 'hm kill by root (process 17)', 'Killed before an answer: hm kill by root', false],
])('%s, by %s, ended by %s: %s', (answer, by, endedBy, outcome, isAnswer) => {
  expect(becameOf({ answer, by, endedBy })).toEqual({ outcome, is_answer: isAnswer })
})
