// Random configurations in many hands' formatting: what an import means, by parsers that are not ours; and the way back, byte for byte.
import fc from 'fast-check'
import { parse as parseToml } from 'smol-toml'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { applyEdits, type ConfigText, type Unreadable } from './config-text.ts'
import { importText } from './import-text.ts'
import { readJsonConfig } from './json-config.ts'
import { restoreText } from './restore-text.ts'
import { readTomlConfig } from './toml-config.ts'

type Values = Record<string, any> // oxlint-disable-line typescript/no-explicit-any -- configurations of any shape

const OWN = { node: '/usr/bin/node', launcher: '/opt/our bin/heimdall' }
const RUNS = { numRuns: scaled(25, 5_000) }

const word = fc.oneof(
  fc.constantFrom('npx', '-y', '--', 'shim', '/a b/c', '${HOME}/x', "it's", 'say "hi"', 'back\\slash', 'ünï😀', ''),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
const name = fc.oneof(
  fc.constantFrom('fs', 'git hub', 'a.b', '__proto__', 'tö', '"q"'),
  fc.string({ minLength: 1, maxLength: 6 }),
)
const variable = fc.constantFrom('API_KEY', 'GITHUB_TOKEN', 'PATH', 'XDG_STATE_HOME')
const server = fc.record(
  {
    command: word.filter((text) => text !== ''),
    args: fc.array(word, { maxLength: 4 }),
    env: fc.dictionary(variable, word, { maxKeys: 2 }),
    env_vars: fc.uniqueArray(variable, { maxLength: 2 }),
    url: fc.constant('https://example.org/mcp'),
    extra: fc.constantFrom(true, 3, [1, 2]),
  },
  { requiredKeys: [] },
)
const servers = fc.uniqueArray(fc.tuple(name, server), { selector: ([key]) => key, maxLength: 4 })

/** How somebody writes: the gap before a member, after a comma, at the end. */
interface Hand {
  readonly eol: string
  readonly indent: string
  readonly isBroken: boolean
  readonly note: string
  readonly hasLastComma: boolean
}
const hand: fc.Arbitrary<Hand> = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  indent: fc.constantFrom('', '  ', '\t', '    '),
  isBroken: fc.boolean(),
  note: fc.constantFrom('', ' // why, and "quotes"', ' /* [, ] { } */'),
  hasLastComma: fc.boolean(),
})

function json(value: unknown, how: Hand, depth = 1): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((item) => json(item, how, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${json(item, how, depth + 1)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + (how.isBroken ? ' ' : '') + close
  if (!how.isBroken) return `${open}${parts.join(', ')}${close}`
  const gap = how.eol + how.indent.repeat(depth)
  const last = how.hasLastComma ? ',' : ''
  return `${open}${how.note}${gap}${parts.join(`,${how.note}${gap}`)}${last}${how.note}${how.eol}${how.indent.repeat(depth - 1)}${close}`
}

type Style = 'table' | 'dotted' | 'inline'

function toml(pairs: readonly (readonly [string, Values])[], styles: readonly Style[], how: Hand): string {
  const note = how.isBroken ? ' # why, ["quotes' : ''
  const value = (item: unknown): string => {
    if (!Array.isArray(item)) return typeof item === 'object' ? inline(item as Values) : JSON.stringify(item)
    const items = item.map(value)
    if (!how.isBroken || items.length === 0) return `[${items.join(', ')}]`
    return `[${note}${how.eol}${items.map((one) => `${how.indent}${one},${note}${how.eol}`).join('')}]`
  }
  const inline = (table: Values): string =>
    `{ ${Object.entries(table)
      .map(
        ([key, item]) =>
          `${JSON.stringify(key)} = ${Array.isArray(item) ? `[${item.map(value).join(', ')}]` : value(item)}`,
      )
      .join(', ')} }`
  const written = (style: Style): string[] =>
    pairs.flatMap(([key, table], index) => {
      if (styles[index % styles.length] !== style) return []
      const quoted = JSON.stringify(key)
      if (style === 'inline') return [`mcp_servers.${quoted} = ${inline(table)}${note}`]
      const lines = Object.entries(table).map(([inner, item]) => `${inner} = ${value(item)}${note}`)
      if (style === 'dotted') return lines.map((line) => `mcp_servers.${quoted}.${line}`)
      return [`[mcp_servers.${quoted}]${note}`, ...lines.map((line) => how.indent + line)]
    })
  return [
    'model = "m"',
    ...written('dotted'),
    ...written('inline'),
    ...written('table'),
    '[end]',
    'marker = 1',
    '',
  ].join(how.eol)
}

const escapable = (text: string): string => text.replaceAll('\u007F', '')
const clean = (pairs: readonly (readonly [string, Values])[]): [string, Values][] =>
  pairs.map(([key, table]) => [escapable(key), JSON.parse(escapable(JSON.stringify(table))) as Values])

function configOf(read: ConfigText | Unreadable): ConfigText {
  if ('servers' in read) return read
  throw new Error(`${read.line}:${read.column} ${read.problem}`)
}

/** What an import has to make of one server, said without our code. */
function expected(key: string, before: Values, envList: string | undefined): Values {
  const { command, args = [], env = {} } = before
  if (command === undefined || before['url'] !== undefined) return before
  const listed: string[] = envList === undefined ? [] : (before[envList] ?? [])
  // The last is one that the shim itself asks a host for, and that every server gets anyway.
  const names = [...new Set([...Object.keys(env), ...listed])].filter((one) => one !== 'XDG_STATE_HOME')
  return {
    ...before,
    command: OWN.node,
    args: [
      OWN.launcher,
      'mcp',
      'shim',
      `--server-name=${key}`,
      `--pass-env=${names.join(',')}`,
      '--',
      command,
      ...args,
    ],
  }
}

function roundTrip(
  text: string,
  read: (text: string) => ConfigText,
  envList: string | undefined,
  change: (text: string) => string,
): string {
  const before = read(text)
  const wrapping = { own: OWN, envList, passEnv: [] }
  const done = importText(before, [], wrapping)
  const undo = done.servers.flatMap((one) => one.undo ?? [])
  // Byte for byte where nobody has touched it, and again with what somebody has changed elsewhere.
  expect(restoreText(read(done.text), undo, envList).text).toBe(text)
  expect(restoreText(read(change(done.text)), undo, envList).text).toBe(change(text))
  // A second import finds nothing to do, and its record is as good as the first.
  const again = importText(read(done.text), undo, wrapping)
  expect(again.text).toBe(done.text)
  const undoAgain = again.servers.flatMap((one) => one.undo ?? [])
  expect(restoreText(read(again.text), undoAgain, envList).text).toBe(text)
  // Moved elsewhere, renewed, and still back.
  const moved = importText(read(done.text), undo, { ...wrapping, own: { node: '/n2', launcher: '/l2/heimdall' } })
  expect(restoreText(read(moved.text), undo, envList).text).toBe(text)
  return done.text
}

test('JSON with comments: the meaning of an import, and the way back byte for byte', () => {
  fc.assert(
    fc.property(servers, hand, (pairs, how) => {
      const table = Object.fromEntries(pairs)
      const text = json({ first: 'é', mcpServers: table, marker: 1 }, how) + how.eol
      const done = roundTrip(
        text,
        (one) => configOf(readJsonConfig(one, [['mcpServers']])),
        undefined,
        (one) =>
          `${how.isBroken ? '// mine\n' : ' '}${one.replace(/"marker": 1(?!.*"marker": 1)/s, '"marker": [2, "new"]')}`,
      )
      const { config, error } = ts.parseConfigFileTextToJson('config.json', done) as { config: Values; error?: unknown }
      expect(error).toBeUndefined()
      expect(Object.entries(config['mcpServers'] as Values)).toEqual(
        Object.entries(table)
          // An object of the other parser cannot hold it.
          .filter(([key]) => key !== '__proto__')
          .map(([key, value]) => [key, expected(key, value, undefined)]),
      )
    }),
    RUNS,
  )
})

test('TOML in tables, dotted keys and inline tables: the same', () => {
  fc.assert(
    fc.property(
      servers,
      fc.array(fc.constantFrom<Style>('table', 'dotted', 'inline'), { minLength: 1, maxLength: 4 }),
      hand,
      (random, styles, how) => {
        const pairs = clean(random).filter(([, value]) => Object.keys(value).length > 0)
        fc.pre(new Set(pairs.map(([key]) => key)).size === pairs.length)
        const text = toml(pairs, styles, how)
        const done = roundTrip(
          text,
          (one) => configOf(readTomlConfig(one, [['mcp_servers']])),
          'env_vars',
          (one) => `# mine\n${one.replace(/marker = 1\b/, 'marker = 2 # changed')}`,
        )
        const table = (parseToml(done)['mcp_servers'] ?? {}) as Values
        for (const [key, value] of pairs) {
          const { env_vars: listed, ...rest } = table[key] as Values
          const { env_vars: before, ...wanted } = expected(key, value, 'env_vars')
          expect(rest).toEqual(wanted)
          if (value['command'] === undefined || value['url'] !== undefined) expect(listed).toEqual(before)
          else expect(listed).toEqual(expect.arrayContaining(['SUB_RUN_ID', 'HEIMDALL_SECRET', ...(before ?? [])]))
        }
      },
    ),
    RUNS,
  )
})

test('edits are applied where they say, whatever their order', () => {
  expect(
    applyEdits('abcdef', [
      { start: 4, end: 5, text: 'E' },
      { start: 1, end: 1, text: '+' },
      { start: 0, end: 1, text: '' },
    ]),
  ).toBe('+bcdEf')
})
