// Everyday requests in the words that users of gh, tmux and kubectl type first (everyday-requests.json, written without
// sight of the source): each line works as typed, or the error names the exact line that does.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findCommand } from '../../src/cli/find-command.ts'
import { allCommands } from '../../src/cli/nouns.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { renamed } from '../../src/cli/renames.ts'

const COMMANDS = await allCommands()

interface Request {
  readonly want: string
  readonly types: string
}
const REQUESTS = JSON.parse(readFileSync('test/cli/everyday-requests.json', 'utf8')) as Request[]

/** What is typed to the line that does it, where that is another. */
const ANSWERED: Readonly<Record<string, string>> = {
  'heimdall stop amber-otter': 'heimdall kill amber-otter',
  'heimdall stop --all': 'heimdall kill --all',
  'heimdall prune': 'heimdall clean',
  'heimdall dashboard': 'heimdall open',
  'heimdall who src/login.ts': 'heimdall why src/login.ts',
  'heimdall release src/login.ts': 'heimdall claim release src/login.ts',
  'heimdall claims': 'heimdall claim list',
  'heimdall task view TASK': 'heimdall task show TASK',
  'heimdall get runs': 'heimdall runs list',
  'heimdall describe RUN': 'heimdall runs show RUN',
  'heimdall policy validate': 'heimdall policy lint',
}

const wordsOf = (line: string): string[] =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')).slice(1)

/** The name of the command that runs, or why none does. */
function outcome(line: string): string {
  const words = wordsOf(line)
  if (words.join(' ') === '--version') return 'heimdall --version'
  const { found } = findCommand(COMMANDS, 'heimdall', words)
  const right = renamed(words, found === undefined ? 0 : found.calledAs.split(' ').length - 1)
  if (right !== undefined) return `answered: ${right}`
  if (found === undefined) return 'unknown command'
  try {
    parseCommandLine(found.command.spec, found.calledAs, found.rest)
    return `works: ${found.calledAs}`
  } catch (error) {
    return String(error)
  }
}

test('at least 34 of 40 everyday requests work, or are answered with the right command', () => {
  expect(REQUESTS).toHaveLength(40)
  const missed = REQUESTS.filter(({ types }) => {
    const said = outcome(types)
    const right = ANSWERED[types]
    return right === undefined ? !/^(works: |heimdall --version)/.test(said) : said !== `answered: ${right}`
  }).map(({ types }) => `${types}: ${outcome(types)}`)
  expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(6)
})

test('what a user is told to type instead is a command that parses', () => {
  for (const line of Object.values(ANSWERED))
    expect([line, outcome(line)]).toEqual([line, expect.stringMatching(/^works/)])
})
