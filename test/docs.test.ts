// Pages made from tables are compared with the tables; `npm run docs` writes them anew.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ERRORS } from '../src/errors.ts'
import { cliPage, errorsPage } from './support/generated-docs.ts'
import { COMMANDS } from '../src/cli/table.ts'

test('docs/errors.md is the table of errors', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../docs/errors.md')
})

test('docs/cli.md is the table of commands', async () => {
  await expect(cliPage()).toMatchFileSnapshot('../docs/cli.md')
})

test('every command has a unique name, an example that begins with one of its launchers, and known errors', () => {
  const names = COMMANDS.flatMap(({ spec }) => spec.names)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
  for (const { spec } of COMMANDS) {
    expect(spec.examples.length, spec.names[0]).toBeGreaterThan(0)
    for (const code of spec.errors ?? []) expect(Object.keys(ERRORS)).toContain(code)
  }
})

test('every relative link of a page leads to a file', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
  ]
  const broken = pages.flatMap((page) =>
    // A regex in an example may look like a link.
    [
      ...readFileSync(page, 'utf8')
        .replace(/^```[^]*?^```/gm, '')
        .matchAll(/\]\((?!https?:|#)([^)#\s]+)/g),
    ]
      .map((link) => join(dirname(page), link[1] ?? ''))
      .filter((target) => !existsSync(target))
      .map((target) => `${page}: ${target}`),
  )
  expect(broken).toEqual([])
})

test('continuous integration runs the test line of the README', () => {
  const line = /^npm ci && npm test$/m
  expect(readFileSync('README.md', 'utf8')).toMatch(line)
  expect(readFileSync('.ci/run', 'utf8')).toMatch(line)
})

test('every decision has a number of its own', () => {
  const numbers = readdirSync('docs/decisions').map((name) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1] ?? name)
  expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([])
})
