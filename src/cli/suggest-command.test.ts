import { expect, test } from 'vitest'
import { suggestCommands } from './suggest-command.ts'
import { MEANINGS } from './table/meanings.ts'
import { COMMANDS } from './table.ts'

const NAMES = COMMANDS.map(({ spec }) => spec.names[0])
const offers = (line: string, path = 1): readonly string[] => {
  const words = line.split(' ')
  return suggestCommands(COMMANDS, words.slice(0, path), words.slice(path))
}

test.each([
  ['heimdall jobs', ['heimdall session ls', 'heimdall task list']],
  ['heimdall events', ['heimdall runs show', 'heimdall claim history']],
  ['heimdall launch', ['heimdall run', 'heimdall session run']],
  ['heimdall ps', ['heimdall session ls']],
  ['heimdall kill', ['heimdall session kill']],
  ['heimdall UNLOCK', ['heimdall claim release']],
  ['heimdall verson', ['heimdall version']],
  ['heimdall clam list', ['heimdall claim list']],
  ['hm ps', ['hm ls']],
  ['hm runs', ['hm ls', 'hm run']],
  ['hm stop build', ['hm kill']],
  ['hm claim take src', ['heimdall claim take']],
  ['hm rm build', ['hm kill', 'hm clean']],
  ['heimdall dashboard', ['heimdall up', 'heimdall open']],
  ['heimdall web', ['heimdall up', 'heimdall open']],
  ['heimdall down', ['heimdall up', 'heimdall session kill']],
  ['heimdall nope', []],
  ['heimdall qqqqqq', []],
])('%s', (line, expected) => {
  expect(offers(line)).toEqual(expected)
})

test('within a group, its own commands come first', () => {
  expect(offers('heimdall session list', 2)).toEqual(['heimdall session ls'])
  expect(offers('heimdall claim lst', 2)).toEqual(['heimdall claim list'])
})

test('every word means commands that exist, and is no command itself', () => {
  expect([...new Set(Object.values(MEANINGS).flat())].filter((name) => !NAMES.includes(name))).toEqual([])
  expect(Object.keys(MEANINGS).filter((word) => NAMES.includes(`heimdall ${word}`))).toEqual([])
})
