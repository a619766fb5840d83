// Everyday requests in the words that users of docker, gh, kubectl and tmux type first. Both lists were written and
// committed without sight of the table of renames: each line works as typed, or the error names the exact line that does.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findCommand } from '../../src/cli/find-command.ts'
import { allCommands } from '../../src/cli/nouns.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { renamed } from '../../src/cli/renames.ts'
import { HeimdallError } from '../../src/errors.ts'

const COMMANDS = await allCommands()
const NAMES = COMMANDS.flatMap(({ spec }) => spec.names)

interface Request {
  readonly want: string
  readonly types: string
}

/** What is typed, to the line that does it where that is another. */
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
  'heimdall describe RUN': 'heimdall why RUN',
  'heimdall policy validate': 'heimdall policy lint',
  'heimdall ps': 'heimdall ls',
  'heimdall ps -a': 'heimdall ls -a',
  'heimdall run --name api -- claude': 'heimdall run --agent api -- claude',
  'heimdall new -s api claude': 'heimdall run --agent api claude',
  'heimdall attach -t amber-otter': 'heimdall attach amber-otter',
  'heimdall kill-session -t amber-otter': 'heimdall kill amber-otter',
  'heimdall send-keys -t amber-otter yes Enter': 'heimdall send amber-otter yes --enter',
  'heimdall rm amber-otter': 'heimdall clean',
  'heimdall inspect amber-otter': 'heimdall why amber-otter',
  'heimdall describe amber-otter': 'heimdall why amber-otter',
  'heimdall get agents': 'heimdall ls',
  'heimdall delete amber-otter': 'heimdall kill amber-otter',
  'heimdall wait amber-otter': 'hm wait amber-otter',
  'heimdall stats': 'heimdall top',
  'heimdall events -f': 'heimdall events tail --follow',
  'heimdall search migration': 'heimdall events --text migration',
  'heimdall run list --limit 5': 'heimdall runs list --limit 5',
  'heimdall run view RUN': 'heimdall runs show RUN',
  'heimdall approvals': 'heimdall approve',
  'heimdall waiting': 'heimdall status',
  'heimdall task create "Fix the login redirect"': "heimdall task add 'Fix the login redirect'",
  'heimdall task close TASK': 'heimdall task cancel TASK',
  'heimdall task rerun TASK': 'heimdall task retry TASK',
  'heimdall secret set GITHUB_TOKEN': 'heimdall mcp secrets add GITHUB_TOKEN',
  'heimdall secret list': 'heimdall mcp secrets list',
  'heimdall mcp list': 'heimdall mcp import --dry-run',
  // It parses as the file of cases to run, and is not what was wanted.
  'heimdall policy test "rm -rf build"': 'heimdall policy explain',
  'heimdall down': 'heimdall up --stop',
  'heimdall message amber-otter "please rebase"': "heimdall send amber-otter 'please rebase' --enter",
}

const wordsOf = (line: string): string[] =>
  (line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replaceAll(/["']/g, '')).slice(1)

/** The name of the command that runs, or why none does. */
function outcome(line: string): string {
  const words = wordsOf(line)
  const [bin = ''] = line.split(' ')
  if (words.join(' ') === '--version') return 'heimdall --version'
  const { found } = findCommand(COMMANDS, bin, words)
  const right = renamed(words, found === undefined ? 0 : found.calledAs.split(' ').length - 1, NAMES)
  if (right !== undefined) return `answered: ${right}`
  if (found === undefined) return 'unknown command'
  try {
    parseCommandLine(found.command.spec, found.calledAs, found.rest)
    return `works: ${found.calledAs}`
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    // The flag that is meant, or the same line without it.
    const [, flag] = /^did you mean (--[a-z-]+)\?$/.exec(error.hint ?? '') ?? []
    if (flag !== undefined) return `answered: ${line.replace(/ --?[a-z]+\b/, ` ${flag}`)}`
    const [, without] = /^[A-Z]+ needs no flag: (.+)$/.exec(error.hint ?? '') ?? []
    return without === undefined ? error.message : `answered: ${without}`
  }
}

test.each(['everyday-requests.json', 'everyday-requests-second.json'])(
  'at least 34 of 40 requests of %s work, or are answered with the right command',
  (file) => {
    const requests = JSON.parse(readFileSync(`test/cli/${file}`, 'utf8')) as Request[]
    expect(requests).toHaveLength(40)
    const missed = requests
      .filter(({ types }) => {
        const said = outcome(types)
        const right = ANSWERED[types]
        return right === undefined ? !/^(works: |heimdall --version)/.test(said) : said !== `answered: ${right}`
      })
      .map(({ types }) => `${types}: ${outcome(types)}`)
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(6)
  },
)

test('what a user is told to type instead is a command that parses', () => {
  for (const line of Object.values(ANSWERED).filter((one) => one !== 'heimdall policy explain'))
    expect([line, outcome(line)]).toEqual([line, expect.stringMatching(/^works/)])
})
