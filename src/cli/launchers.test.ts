import { expect, test } from 'vitest'
import { commandsOf, TABLE_OF } from './launchers.ts'
import { COMMANDS } from './table.ts'

test('each launcher finds all of its commands in the one table that it loads', async () => {
  for (const launcher of TABLE_OF.keys()) {
    const table = await commandsOf(launcher)
    const isItsOwn = (name: string): boolean => name === launcher || name.startsWith(`${launcher} `)
    const namesIn = (commands: typeof COMMANDS): string[] =>
      commands.flatMap(({ spec }) => spec.names.filter(isItsOwn)).sort()
    expect(namesIn(table)).toEqual(namesIn(COMMANDS))
  }
})

test('all that begins with `heimdall shim` is in the table that it loads', async () => {
  const namesIn = (commands: typeof COMMANDS): string[] =>
    commands.flatMap(({ spec }) => spec.names.filter((name) => /^heimdall shim( |$)/.test(name)))
  const found = namesIn(await commandsOf('heimdall', ['shim']))
  expect(found).toContain('heimdall shim')
  expect(found).toEqual(namesIn(COMMANDS))
})
