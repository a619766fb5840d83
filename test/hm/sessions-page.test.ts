// docs/sessions.md: every command line on it is one that the commands take, and every command is on it.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { commandsFor } from '../../src/cli/nouns.ts'

const page = readFileSync('docs/sessions.md', 'utf8')

/** Words of a line as a shell would split them, without the remark after two or more blanks. */
function wordsOf(line: string): string[] {
  const command = line.split(/ {2,}/)[0] ?? ''
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

test('the commands of the page are real, and complete', async () => {
  const sessionCommands = await commandsFor('hm', undefined)
  const lines = [...page.matchAll(/^(?:hm .*)$/gm)].map(([line]) => line)
  expect(lines.length).toBeGreaterThan(8)
  for (const line of lines) {
    // A flag that may stand before the command's name: its place is the parser's, in the tests of `--host`.
    const [, name = '', ...rest] = wordsOf(line.replace(/^hm --host \S+/, 'hm'))
    const command = sessionCommands.find(({ spec }) => spec.names.includes(`hm ${name}`))
    expect(command, line).toBeDefined()
    if (command !== undefined) expect(() => parseCommandLine(command.spec, `hm ${name}`, rest), line).not.toThrow()
  }
  for (const { spec } of sessionCommands) {
    const short = spec.names.find((name) => name.startsWith('hm ')) ?? ''
    expect(page, short).toContain(short)
  }
})
