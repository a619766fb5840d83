// Seed 004 §4.1: bindings in the origin's four shapes; what is wrong with one is said in one line, and then nothing is bound.
import { expect, test } from 'vitest'
import { readBindings } from './bindings.ts'
import { bindingsOrigin } from './origin.ts'

const read = (value: unknown, serverName = 'git'): ReturnType<typeof readBindings> =>
  readBindings(
    { kind: 'text', text: typeof value === 'string' ? value : JSON.stringify(value), name: 'B' },
    serverName,
    'variables',
  )

const TOKEN = { inject_as: 'GITHUB_TOKEN', secret_ref: 'github_token' }
const BOUND = [{ ...TOKEN, source: 'env', redact: true }]

test.each([
  ['one server', { server_name: 'git', secret_bindings: [TOKEN] }],
  ['one server without a name', { secret_bindings: [TOKEN] }],
  [
    'a list of servers',
    [
      { server_name: 'fs', secret_bindings: [] },
      { server_name: 'git', secret_bindings: [TOKEN] },
    ],
  ],
  [
    'a list in which the first without a name comes first',
    [{ secret_bindings: [TOKEN] }, { server_name: 'git', secret_bindings: [] }],
  ],
  ['a map of servers', { fs: [], git: [TOKEN] }],
  ['bindings alone', [TOKEN]],
])('%s', (_, value) => {
  expect(read(value)).toMatchObject({ bindings: BOUND, problems: [], isForOthers: false })
})

test('another server gets none, is told so, and is kept from what the others take', () => {
  const others = { fs: [TOKEN, { inject_as: 'K', secret_ref: 'k', source: 'file' }] }
  expect(read(others)).toEqual({ bindings: [], refsOfOthers: ['github_token'], problems: [], isForOthers: true })
})

const WRONG: readonly (readonly [unknown, string])[] = [
  ['', 'not JSON'],
  ['{"git":[],"git":[]}', 'duplicate key'],
  ['7', 'is of type number'],
  [{ git: {} }, '"git" is of type object'],
  [{ server_name: 'git', secret_bindings: {} }, '.secret_bindings is of type object'],
  [{ server_name: 'git', secret_bindings: [], more: 1 }, 'unknown field "more"'],
  [[null], '[0] is null'],
  [[{ ...TOKEN, redacted: false }], 'unknown field "redacted"'],
  [[{ ...TOKEN, source: 'vault' }], '.source is "vault"; known: env, file, keychain'],
  [[{ ...TOKEN, redact: 'no' }], '.redact is of type string'],
  [[{ secret_ref: 'a' }], '.inject_as is missing'],
  [[{ inject_as: 'A' }], '.secret_ref is missing'],
  [[{ inject_as: 'A', secret_ref: '-w' }], 'no name of a secret'],
  [[TOKEN, TOKEN], 'GITHUB_TOKEN is bound twice'],
  ...['A-B', '1A', '', 'A=B'].map((name) => [[{ ...TOKEN, inject_as: name }], 'no name of a variable'] as const),
  ...['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'PATH', 'BASH_ENV', 'PYTHONPATH'].map(
    (name) => [[{ ...TOKEN, inject_as: name }], 'what programs load'] as const,
  ),
  ...['HEIMDALL_SECRET', 'SUB_RUN_ID', 'HEIMDALL_SHIM_MARK', 'BB_AGENT'].map(
    (name) => [[{ ...TOKEN, inject_as: name }], 'our own'] as const,
  ),
]

test.each(WRONG)('%j', (value, said) => {
  const { bindings, problems } = read(value)
  expect(bindings).toEqual([])
  expect(problems).toEqual([expect.stringContaining(said)])
})

test('every binding that is wrong has its line', () => {
  expect(read([{ ...TOKEN, source: 'x' }, TOKEN, { ...TOKEN, inject_as: 'PATH' }]).problems).toHaveLength(2)
})

test('the flag wins, then the file, then the text; blanks are none', () => {
  const env = { SUB_SECRET_BINDINGS_FILE: '/b', SUB_SECRET_BINDINGS: '[]' }
  expect(bindingsOrigin('/a', env)).toEqual({ kind: 'file', path: '/a' })
  expect(bindingsOrigin(undefined, env)).toEqual({ kind: 'file', path: '/b' })
  expect(bindingsOrigin(undefined, { SUB_SECRET_BINDINGS: '[]' })).toMatchObject({ kind: 'text', text: '[]' })
  expect(bindingsOrigin(undefined, { SUB_SECRET_BINDINGS: ' ' })).toEqual({ kind: 'none' })
})

test('a file that is not there is said', () => {
  expect(readBindings({ kind: 'file', path: '/nowhere/b.json' }, 'git', 'variables').problems).toEqual([
    expect.stringMatching(/^\/nowhere\/b\.json: cannot be read/),
  ])
})
