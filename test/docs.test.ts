// Pages made from tables are compared with the tables; `npm run docs` writes them anew.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { cliPage, decisionsPage, errorsPage } from './support/generated-docs.ts'
import { findCommand } from '../src/cli/find-command.ts'
import { parseCommandLine } from '../src/cli/parse.ts'
import { allCommands } from '../src/cli/nouns.ts'
import { EVENT_TYPES } from '../src/events/types.ts'

const COMMANDS = await allCommands()
import { FIGURE_PAGES, KEPT, MARKS } from '../scripts/figures-block.mjs'

test('docs/errors.md is the table of errors', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../docs/errors.md')
})

test('docs/cli.md is the table of commands', async () => {
  await expect(cliPage()).toMatchFileSnapshot('../docs/cli.md')
})

test('docs/decisions/README.md lists the decisions by their titles', async () => {
  await expect(decisionsPage('docs/decisions')).toMatchFileSnapshot('../docs/decisions/README.md')
})

test('docs/events.md names every type of event and every transport that is recorded', () => {
  const page = readFileSync('docs/events.md', 'utf8')
  const required = new Set(['tool_call_start', 'tool_call_decision', 'tool_call_end', 'run_start', 'run_end'])
  const added = EVENT_TYPES.filter((type) => !required.has(type))
  expect([...added, 'mcp_stdio', 'mcp_http'].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('every command has a unique name, an example that begins with one of its launchers, and known errors', () => {
  const names = COMMANDS.flatMap(({ spec }) => spec.names)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
  for (const { spec } of COMMANDS) {
    expect(Object.keys(spec.examples).length, spec.names[0]).toBeGreaterThan(0)
  }
})

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

const LAUNCHERS = new Set(COMMANDS.flatMap(({ spec }) => spec.names.map((name) => name.split(' ')[0] ?? '')))

/** As a shell would split it; what a shell would fill in stays a word. */
function wordsOf(line: string): string[] {
  return (line.match(/(?:[^\s"'#]|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replaceAll(/["']/g, ''))
}

test('every command line of the README and of the pages for people is one that the launchers understand', () => {
  const shown = [
    'README.md',
    'docs/demo.md',
    'docs/operating.md',
    ...pages.filter((page) => page.startsWith('docs/hosts/')),
  ]
  const lines = shown.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^```(?:sh)?\n([^]*?)^```/gm)].flatMap((block) =>
      (block[1] ?? '').split('\n').map((line) => ({ page, line })),
    ),
  )
  const wrong = lines.flatMap(({ page, line }) => {
    // `$ heimdall …` is followed by what it printed; `…` and `<` stand for what a reader fills in.
    const [bin = '', ...words] = wordsOf(
      line
        .replace(/\s+#.*$/, '')
        .replace(/^\$ /, '')
        .replace(/\s+<\s.*$/, ''),
    )
    if (!LAUNCHERS.has(bin)) return []
    const { found } = findCommand(COMMANDS, bin, words)
    if (found === undefined) return [`${page}: ${line}`]
    try {
      parseCommandLine(found.command.spec, found.calledAs, found.rest)
      return []
    } catch (error) {
      return [`${page}: ${line}: ${String(error)}`]
    }
  })
  expect(wrong).toEqual([])
  expect(lines.length).toBeGreaterThan(50)
})

/** Of a command line in running text: what is no command, or a flag that it does not have. A topic alone stands for its commands. */
function unknownIn(bin: string, words: readonly string[]): string[] {
  const { found } = findCommand(COMMANDS, bin, words)
  const isTopic = COMMANDS.some(({ spec }) =>
    spec.names.some((name) => `${name} `.startsWith(`${[bin, ...words].join(' ')} `)),
  )
  if (found === undefined) return isTopic ? [] : ['no such command']
  const flags = found.rest.flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? [])
  const known = [...Object.keys(found.command.spec.flags ?? {}), 'help', 'json', 'version']
  return flags.filter((flag) => !known.includes(flag)).map((flag) => `--${flag}`)
}

/** `get|set` is two lines. */
function alternatives(line: string): string[] {
  const [either] = /\S+\|\S+/.exec(line) ?? []
  return either === undefined ? [line] : either.split('|').map((one) => line.replace(either, one))
}

test('every command that a page names in its text is one, with the flags that it names', () => {
  const named = pages.flatMap((page) => {
    const text = readFileSync(page, 'utf8')
      .replaceAll(/^```[^]*?^```/gm, '')
      .replaceAll('\\|', '|')
    return [...text.matchAll(/`([^`\n]+)`/g)]
      .flatMap(([, line = '']) => alternatives(line.replace(/ -- .*$/, '')))
      .flatMap((line) => {
        const [bin = '', ...words] = wordsOf(line.replace(/^hm --host box /, 'hm '))
        // What every launcher takes, and what stands for a command.
        const isPlain = words.length > 0 && !/^(?:--(?:help|version|host)$|[A-Z…])/.test(words[0] ?? '')
        return LAUNCHERS.has(bin) && isPlain ? [{ page, line, bin, words: words.filter((word) => word !== '…') }] : []
      })
  })
  const wrong = named.flatMap(({ page, line, bin, words }) =>
    unknownIn(bin, words).map((what) => `${page}: ${line}: ${what}`),
  )
  expect(wrong).toEqual([])
  expect(named.length).toBeGreaterThan(150)
})

test('every command that a hint names is one, with the flags that it names', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join('src', name))
  const hints = sources.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\bhint: ['`]([^'`]*)/g)].flatMap(([, hint = '']) =>
      [...hint.matchAll(/\b(heimdall|hm|bb) ([a-z][a-z -]*)/g)].map(([shown, bin = '', rest = '']) => ({
        path,
        shown,
        bin,
        words: rest.trim().split(/ +/),
      })),
    ),
  )
  // `hm ls lists the sessions`: what follows the command are words for people, but a flag is a flag.
  const wrong = hints.flatMap(({ path, shown, bin, words }) =>
    unknownIn(bin, words).map((what) => `${path}: ${shown}: ${what}`),
  )
  expect(wrong).toEqual([])
  expect(hints.length).toBeGreaterThan(30)
})

test.each(FIGURE_PAGES)('the figures of $page are those that benches have left', ({ page, block }) => {
  const text = readFileSync(page, 'utf8')
  const shown = text.slice(text.indexOf(MARKS.begin), text.indexOf(MARKS.end) + MARKS.end.length)
  expect(shown).toBe(block(JSON.parse(readFileSync(KEPT, 'utf8')) as Parameters<typeof block>[0]))
})

test('every relative link of a page leads to a file', () => {
  const broken = pages.flatMap((page) =>
    // A regex in an example may look like a link.
    [
      ...readFileSync(page, 'utf8')
        .replace(/^```[^]*?^```/gm, '')
        .matchAll(/(?:\]\(|(?:src|srcset)=")(?!https?:|#)([^)#\s"]+)/g),
    ]
      .map((link) => join(dirname(page), link[1] ?? ''))
      .filter((target) => !existsSync(target))
      .map((target) => `${page}: ${target}`),
  )
  expect(broken).toEqual([])
})

test('every page is reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached)
    for (const link of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+\.md)/g))
      reached.add(join(dirname(page), link[1] ?? ''))
  expect(pages.filter((page) => !reached.has(page))).toEqual([])
})

test('every file that the map of the code names is there, and there is one that can be meant', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const named = [...readFileSync('docs/architecture.md', 'utf8').matchAll(/`([a-z0-9/-]+\.ts)`/g)].map(
    (m) => m[1] ?? '',
  )
  const meant = (name: string): readonly string[] =>
    files.includes(name) ? [name] : files.filter((file) => file.endsWith(`/${name}`))
  expect(named.filter((name) => meant(name).length !== 1).map((name) => [name, ...meant(name)])).toEqual([])
  expect(named.length).toBeGreaterThan(100)
})

test('continuous integration runs the test line of the README', () => {
  const line = /^npm ci && npm test$/m
  expect(readFileSync('README.md', 'utf8')).toMatch(line)
  expect(readFileSync('.ci/run', 'utf8')).toMatch(line)
})

test('every decision has a number of its own, and begins with it', () => {
  const names = readdirSync('docs/decisions').filter((name) => name !== 'README.md')
  const numbers = names.map((name) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1] ?? name)
  expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([])
  const begins = (name: string): string => readFileSync(join('docs/decisions', name), 'utf8').slice(0, 7)
  expect(names.filter((name) => begins(name) !== `# ${name.slice(0, 4)} `)).toEqual([])
})
