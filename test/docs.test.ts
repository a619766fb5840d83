// Pages made from tables are compared with the tables; `npm run docs` writes them anew.
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
