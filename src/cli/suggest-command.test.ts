import { expect, test } from 'vitest'
import { allCommands, GROUPS, NOUNS } from './nouns.ts'
import { FLAG_MEANINGS, renamed, RENAMES } from './renames.ts'
import { suggestCommand } from './suggest-command.ts'

const COMMANDS = await allCommands()
const NAMES = COMMANDS.flatMap(({ spec }) => spec.names)

const offer = (line: string, path = 1): string | undefined => {
  const words = line.split(' ')
  return suggestCommand(COMMANDS, words.slice(0, path), words.slice(path))
}

test.each([
  ['heimdall verson', 'heimdall version'],
  ['heimdall clam list', 'heimdall claim list'],
  ['heimdall statsu', 'heimdall status'],
  ['heimdall nope', undefined],
  ['heimdall qqqqqq', undefined],
])('%s', (line, expected) => {
  expect(offer(line)).toBe(expected)
})

test('the commands of the same noun come first', () => {
  expect(offer('heimdall claim lst', 2)).toBe('heimdall claim list')
  expect(offer('heimdall config lsit', 2)).toBe('heimdall config list')
  expect(offer('heimdall mcp list', 2)).toBeUndefined()
})

test('a slip of the fingers never leads to a command that destroys something', () => {
  for (const name of NAMES) {
    const words = name.split(' ')
    const last = words.at(-1) ?? ''
    if (!['kill', 'clean', 'remove', 'prune', 'uninstall', 'revoke', 'cancel'].includes(last)) continue
    const typed = [...words.slice(1, -1), `${last}e`]
    expect(suggestCommand(COMMANDS, [words[0] ?? ''], typed) ?? '', typed.join(' ')).not.toMatch(
      /(kill|clean|remove|prune|uninstall|revoke|cancel)$/,
    )
  }
})

test('words after a renamed command carry over, quoted for a shell', () => {
  expect(renamed(['stop', 'amber-otter'], 0, NAMES)).toBe('heimdall kill amber-otter')
  expect(renamed(['session', 'send', 'amber-otter', 'run the tests'], 0, NAMES)).toBe(
    "heimdall send amber-otter 'run the tests'",
  )
  expect(renamed(['claim', 'take', 'src/x'], 1, NAMES)).toBe('heimdall claim src/x')
  expect(renamed(['claim', 'src/x'], 1, NAMES)).toBeUndefined()
  expect(renamed(['tell', 'amber-otter', 'go on'], 0, NAMES)).toBe("heimdall send amber-otter 'go on' --enter")
  expect(renamed(['down', 'now'], 0, NAMES)).toBe('heimdall up --stop')
})

test('a verb of another tool is ours for the same noun, where the noun has it', () => {
  expect(renamed(['task', 'create', 'Fix it'], 0, NAMES)).toBe("heimdall task add 'Fix it'")
  expect(renamed(['secret', 'set', 'TOKEN'], 0, NAMES)).toBe('heimdall mcp secrets add TOKEN')
  expect(renamed(['fact', 'create', 'a', 'b'], 0, NAMES)).toBe('heimdall fact set a b')
  expect(renamed(['symbol', 'get', 'F1'], 2, NAMES)).toBeUndefined()
  expect(renamed(['hosts', 'create'], 1, NAMES)).toBeUndefined()
  // With a path of that name it is a claim.
  expect(renamed(['claim', 'create'], 1, NAMES)).toBeUndefined()
})

test('every renamed line leads to a command that exists, and is no command itself', () => {
  const isCommand = (line: string): boolean => NAMES.some((name) => name === line || name.startsWith(`${line} `))
  const right = [...RENAMES.keys()].map((words) => renamed(words.split(' '), 0, NAMES) ?? '')
  expect(right.filter((line) => !isCommand(line.replace(/ --.*$/, '')))).toEqual([])
  expect([...RENAMES.keys()].filter((words) => NAMES.includes(`heimdall ${words}`))).toEqual([])
})

test('every flag that another one is meant by exists', () => {
  const flags = COMMANDS.flatMap(({ spec }) => Object.keys(spec.flags ?? {}))
  const args = COMMANDS.flatMap(({ spec }) => (spec.args ?? []).map(({ name }) => name.toUpperCase()))
  const known = new Set(['json', ...flags, ...args])
  expect([...new Set(Object.values(FLAG_MEANINGS).flat())].filter((flag) => !known.has(flag))).toEqual([])
})

test('every word of the index is the first word of its commands, and the other way round', async () => {
  for (const { words, launchers = [], sub = [], load } of NOUNS) {
    const names = (await load()).commands.flatMap(({ spec }) => spec.names)
    const ours = names.filter((name) => name.startsWith('heimdall ')).map((name) => name.split(' ')[1] ?? '')
    const seeds = names.map((name) => name.split(' ')[0] ?? '').filter((bin) => bin !== 'heimdall')
    expect([new Set(ours), new Set(seeds)]).toEqual([new Set(words), new Set(launchers)])
    const subWords = names.filter((name) => name.startsWith('sub ')).map((name) => name.split(' ')[1] ?? '')
    expect(new Set(subWords)).toEqual(new Set(sub))
  }
  const known = NOUNS.flatMap(({ words }) => words)
  expect(
    Object.values(GROUPS)
      .flat()
      .filter((word) => !known.includes(word)),
  ).toEqual([])
})
