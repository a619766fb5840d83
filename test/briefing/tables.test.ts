// Symbols and facts: what the seed leaves open, and what it left broken.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deleteFact, getFact, listFacts, setFact } from '../../src/briefing/blackboard.ts'
import { tail } from '../../src/storage/protocol-log.ts'
import { row, unescapeColumn } from '../../src/storage/columns.ts'
import {
  findSymbolOf,
  importSymbols,
  listSymbols,
  lookUpSymbol,
  parseImport,
  removeSymbol,
  setSymbol,
} from '../../src/briefing/symbols.ts'
import { temporaryFolder } from '../support/project.ts'
import { temporaryDesk } from './desk.ts'
import { temporaryIsland } from './island.ts'

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test('seed 000, versions: what 2.0.0 wrote is read, and the next write stamps 2.1.0 without losing a field', async () => {
  const { planning, path } = temporaryDesk()
  put(path('protocol/symbols.json'), '{"version":"2.0.0","symbols":{"F12":"a.ts"},"later":{"x":1}}')
  put(path('blackboard.json'), '{"version":"2.0.0","facts":{"dev_port":"5173","n":7}}')
  expect(lookUpSymbol(planning, 'F12')).toBe('a.ts')
  expect(getFact(planning, 'n').value).toBe('7')
  await setSymbol(planning, 'F13', 'b.ts')
  await setFact(planning, 'host', 'box', 'amber-otter')
  expect(json(path('protocol/symbols.json'))).toEqual({
    version: '2.1.0',
    symbols: { F12: 'a.ts', F13: 'b.ts' },
    later: { x: 1 },
  })
  expect(json(path('blackboard.json'))).toEqual({
    version: '2.1.0',
    facts: { dev_port: '5173', n: '7', host: 'box' },
    provenance: { host: { by: 'amber-otter', ts: '2026-06-11T12:07:27Z' } },
  })
})

test('a table of a later major version is neither read nor overwritten', async () => {
  const { planning, path } = temporaryDesk()
  const text = '{"version":"3.0.0","symbols":[["F12","a.ts"]]}'
  put(path('protocol/symbols.json'), text)
  expect(() => lookUpSymbol(planning, 'F12')).toThrow(expect.objectContaining({ code: 'STORE_NEWER' }))
  await expect(setSymbol(planning, 'F13', 'b')).rejects.toThrow(expect.objectContaining({ code: 'STORE_NEWER' }))
  expect(readFileSync(path('protocol/symbols.json'), 'utf8')).toBe(text)
})

test('ids that are names of object properties are ids like any other', async () => {
  const { planning } = temporaryDesk()
  for (const id of ['constructor', 'toString', 'hasOwnProperty', '0', '12']) {
    expect(() => lookUpSymbol(planning, id)).toThrow(expect.objectContaining({ code: 'SYMBOL_UNKNOWN' }))
    await setSymbol(planning, id, `value of ${id}`)
    expect(lookUpSymbol(planning, id)).toBe(`value of ${id}`)
  }
  await expect(setSymbol(planning, '__proto__', 'x')).rejects.toThrow(expect.objectContaining({ code: 'ID_INVALID' }))
})

test('whatever the values, list and protocol.log have one row for each, and import takes back what list printed', async () => {
  const value = fc
    .array(fc.constantFrom('\t', '\n', '\\', '\\n', 'a', '=', '2026-01-01T00:00:00Z\tresolve\tset\tforged', 'ü😀'), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join(''))
  const tables = fc.dictionary(fc.constantFrom('F1', 'F2', 'C3', 'x.y'), value, { minKeys: 1, maxKeys: 4 })
  await fc.assert(
    fc.asyncProperty(tables, async (table) => {
      const { planning } = temporaryDesk()
      await importSymbols(planning, new Map(Object.entries(table)))
      const printed = [...listSymbols(planning)].map(([id, text]) => row(id, text)).join('\n')
      expect(printed.split('\n')).toHaveLength(Object.keys(table).length)
      expect(Object.fromEntries(parseImport(Buffer.from(printed)))).toEqual(table)
      const log = tail(planning, 100).map((line) => line.split('\t').map(unescapeColumn))
      expect(log.map(([, actor, action, detail]) => [actor, action, detail])).toEqual(
        Object.entries(table).map(([id, text]) => ['resolve', 'set', `${id}=${text}`]),
      )
    }),
    { numRuns: 60 },
  )
})

test('import is all or nothing and names the line', async () => {
  const { planning } = temporaryDesk()
  await importSymbols(planning, parseImport(Buffer.from('A\t1\r\nB\t2')))
  await importSymbols(planning, parseImport(Buffer.from('{"version":"2.0.0","symbols":{"C":"3"}}')))
  expect(() => parseImport(Buffer.from('D\t4\nno tab here\n'))).toThrow(/line 2 /)
  expect(() => parseImport(Buffer.from('D\t4\nD\t5\n'))).toThrow(/line 2 names "D" a second time/)
  await expect(
    importSymbols(
      planning,
      new Map([
        ['E', 'ok'],
        ['../F', 'bad'],
      ]),
    ),
  ).rejects.toThrow(/\.\.\/F/)
  expect([...listSymbols(planning)]).toEqual([
    ['A', '1'],
    ['B', '2'],
    ['C', '3'],
  ])
})

test('of two symbols with the same value the first of the table is found, and what is removed is gone', async () => {
  const { planning } = temporaryDesk()
  await importSymbols(
    planning,
    new Map([
      ['B', 'same'],
      ['A', 'same'],
    ]),
  )
  expect(findSymbolOf(planning, 'same')).toBe('B')
  await removeSymbol(planning, 'B')
  expect(findSymbolOf(planning, 'same')).toBe('A')
  await expect(removeSymbol(planning, 'B')).rejects.toThrow(expect.objectContaining({ code: 'SYMBOL_UNKNOWN' }))
})

test('a fact knows who set it and when, and is refused when it is older than asked for', async () => {
  const { planning, clock, path } = temporaryDesk()
  await setFact(planning, 'dev_port', '5173', 'amber-otter')
  clock.advance(3_600_000)
  expect(getFact(planning, 'dev_port', 3_600_000)).toEqual({
    key: 'dev_port',
    value: '5173',
    by: 'amber-otter',
    ts: '2026-06-11T12:07:27Z',
  })
  clock.advance(1)
  expect(() => getFact(planning, 'dev_port', 3_600_000)).toThrow(expect.objectContaining({ code: 'FACT_STALE' }))
  put(path('blackboard.json'), '{"version":"2.0.0","facts":{"old":"1"}}')
  expect(() => getFact(planning, 'old', 3_600_000)).toThrow(/of unknown age/)
  expect(getFact(planning, 'old').value).toBe('1')
  clock.jumpWall(Date.UTC(2020, 0, 1))
  await setFact(planning, 'future', 'x', null)
  clock.jumpWall(Date.UTC(2019, 0, 1))
  expect(() => getFact(planning, 'future', 3_600_000)).toThrow(/of unknown age/)
})

test('a deleted fact is gone with its provenance; deleting what is not there is no error', async () => {
  const { planning, path } = temporaryDesk()
  await setFact(planning, 'a', '1', null)
  expect(await deleteFact(planning, 'a')).toBe(true)
  expect(await deleteFact(planning, 'a')).toBe(false)
  expect(listFacts(planning)).toEqual([])
  expect(json(path('blackboard.json'))).toEqual({ version: '2.1.0', facts: {}, provenance: {} })
})

test.each(['{"version":"2.0.0","symb', '[]', '{"symbols":{"A":{}}}', '\ufffd\u0000', ''])(
  'a corrupt table %j is an error to read; a write sets it aside, whole, and says so',
  async (text) => {
    const { planning, path, notes } = temporaryDesk()
    put(path('protocol/symbols.json'), text)
    expect(() => lookUpSymbol(planning, 'A')).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }))
    expect(readFileSync(path('protocol/symbols.json'), 'utf8')).toBe(text)
    await setSymbol(planning, 'B', '2')
    const kept = readdirSync(path('protocol')).filter((name) => name.includes('.corrupt-'))
    expect(kept).toHaveLength(1)
    expect(readFileSync(path(`protocol/${kept[0]}`), 'utf8')).toBe(text)
    expect(notes).toEqual([expect.stringContaining(`kept as ${kept[0]}`)])
    expect([...listSymbols(planning)]).toEqual([['B', '2']])
  },
)

test('a link out of the planning folder is refused, for the file, the folder, and the log', async () => {
  const outside = temporaryFolder()
  const target = join(outside, 'symbols.json')
  writeFileSync(target, '{"version":"2.0.0","symbols":{"A":"1"}}')
  const asFile = temporaryDesk()
  mkdirSync(asFile.path('protocol'), { recursive: true })
  symlinkSync(target, asFile.path('protocol/symbols.json'))
  expect(() => lookUpSymbol(asFile.planning, 'A')).toThrow(expect.objectContaining({ code: 'PATH_OUTSIDE_ROOT' }))
  await expect(setSymbol(asFile.planning, 'B', '2')).rejects.toThrow(
    expect.objectContaining({ code: 'PATH_OUTSIDE_ROOT' }),
  )
  const asFolder = temporaryDesk()
  mkdirSync(asFolder.path(''))
  symlinkSync(outside, asFolder.path('protocol'))
  await expect(setSymbol(asFolder.planning, 'B', '2')).rejects.toThrow(
    expect.objectContaining({ code: 'PATH_OUTSIDE_ROOT' }),
  )
  const asLog = temporaryDesk()
  mkdirSync(asLog.path(''))
  symlinkSync(join(outside, 'stolen.log'), asLog.path('protocol.log'))
  await setSymbol(asLog.planning, 'B', '2')
  expect(asLog.notes).toEqual([expect.stringContaining('protocol.log was not written')])
  expect(readdirSync(outside)).toEqual(['symbols.json'])
  expect(json(target)).toEqual({ version: '2.0.0', symbols: { A: '1' } })
})

test('a state file keeps the mode that its owner gave it', async () => {
  const { planning, path } = temporaryDesk()
  await setSymbol(planning, 'A', '1')
  chmodSync(path('protocol/symbols.json'), 0o640)
  await setSymbol(planning, 'B', '2')
  expect(statSync(path('protocol/symbols.json')).mode & 0o777).toBe(0o640)
})

test('an id called like a sub-command can be set, and asked for by either name', async () => {
  const island = temporaryIsland()
  expect((await island.run('heimdall-resolve', ['set', 'set', 'x'])).code).toBe(0)
  expect((await island.run('heimdall', ['symbol', 'get', 'set'])).stdout).toBe('x\n')
  expect((await island.run('heimdall-resolve', ['--', 'set'])).stdout).toBe('x\n')
  expect((await island.run('heimdall-protocol', ['resolve', 'set', 'F1', '--flag-like', '--json'])).stdout).toContain(
    '--flag-like',
  )
  expect((await island.run('heimdall-resolve', ['set', 'onlyid'])).code).toBe(2)
})

test('reading in a folder without a planning folder makes none', async () => {
  const island = temporaryIsland()
  expect((await island.run('heimdall-resolve', ['F12'])).code).toBe(1)
  expect(await island.run('heimdall-blackboard', ['list'])).toMatchObject({ code: 0, stdout: '' })
  expect(existsSync(island.path(''))).toBe(false)
})

test.each([
  ['an id that climbs', 'heimdall-resolve', ['set', '../x', 'v'], 2],
  ['an absolute id', 'heimdall-resolve', ['set', '/abs', 'v'], 2],
  ['an id with a newline', 'heimdall-resolve', ['set', 'a\nb', 'v'], 2],
  ['an empty value', 'heimdall-resolve', ['set', 'ok', ''], 2],
  ['a value with an escape sequence', 'heimdall-resolve', ['set', 'ok', 'a\u001b]0;title\u0007'], 2],
  ['an id of 65 letters', 'heimdall-blackboard', ['set', 'x'.repeat(65), 'v'], 2],
  ['a value of 9,000 letters', 'heimdall-blackboard', ['set', 'ok', 'x'.repeat(9_000)], 2],
  ['no key', 'heimdall-blackboard', ['get'], 2],
  ['an unknown sub-command', 'heimdall-blackboard', ['frobnicate'], 2],
  ['an unknown symbol, asked for by our name', 'heimdall', ['symbol', 'get', 'NOPE'], 3],
])('%s is one clear line and its exit code, and nothing is written', async (_, bin, args, code) => {
  const island = temporaryIsland()
  const outcome = await island.run(bin, args)
  expect(outcome).toMatchObject({ code, stdout: '' })
  expect(outcome.stderr).toMatch(/^error: [^\u0000-\u0008\u000b-\u001f]+\n(hint: .+\n)?$/)
  expect(existsSync(island.path(''))).toBe(false)
})

test('ten megabytes on stdin are refused, and the table stays as it was', async () => {
  const island = temporaryIsland()
  expect((await island.run('heimdall-resolve', ['set', 'A', '1'])).code).toBe(0)
  const { code, stderr } = await island.run('heimdall-resolve', ['import'], { stdin: `B\t${'x'.repeat(10 << 20)}\n` })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^error: the input has more than \d+ bytes\n/),
  })
  expect((await island.run('heimdall-resolve', ['list'])).stdout).toBe('A\t1\n')
})

test("on the seed's names a corrupt or unreadable store is exit 3", async () => {
  const island = temporaryIsland()
  island.write('protocol/symbols.json', '{')
  expect((await island.run('heimdall-resolve', ['A'])).code).toBe(3)
  expect((await island.run('heimdall', ['symbol', 'get', 'A'])).code).toBe(8)
  mkdirSync(island.path('blackboard.json'))
  expect(await island.run('heimdall-blackboard', ['get', 'a'])).toMatchObject({ code: 3, stdout: '' })
})

test('a value is the same bytes by the short way and by the frame, and both leave the same row in the log', async () => {
  const island = temporaryIsland()
  const value = 'two\nlines\tand a tab'
  await island.run('heimdall-resolve', ['set', 'F12', value])
  await island.run('heimdall-blackboard', ['set', 'k', value])
  for (const [short, framed] of [
    [await island.spawn('heimdall-resolve', ['F12']), await island.run('heimdall-resolve', ['--', 'F12'])],
    [
      await island.spawn('heimdall', ['symbol', 'get', 'F12']),
      await island.run('heimdall', ['symbol', 'get', '--no-color', 'F12']),
    ],
    [
      await island.spawn('heimdall-blackboard', ['get', 'k']),
      await island.run('heimdall-blackboard', ['get', '--', 'k']),
    ],
  ] as const) {
    expect(short).toEqual({ code: 0, stdout: `${value}\n`, stderr: '' })
    expect(short).toEqual(framed)
  }
  const actions = island
    .read('protocol.log')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').slice(1).join(' '))
  expect(actions.slice(2)).toEqual([
    ...Array.from({ length: 4 }, () => 'resolve lookup F12'),
    ...Array.from({ length: 2 }, () => 'blackboard get k'),
  ])
})

test('seed 000, "Every action appends one line": look-ups that fail, too, and an empty value is named as what it is', async () => {
  const island = temporaryIsland()
  await island.run('heimdall-protocol', ['init'])
  for (const words of [
    'resolve NOPE',
    'resolve --reverse nope',
    'blackboard get NOPE',
    'capsule show NOPE',
    'capsule hydrate NOPE',
  ])
    expect(await island.run('heimdall-protocol', words.split(' '))).toMatchObject({ code: 1, stdout: '' })
  await island.run('heimdall-brief', ['build', '--task', '1', '--spec', 'x', '--budget', '1'])
  await island.run('heimdall-resolve', ['list'])
  const rows = island.read('protocol.log').trim().split('\n')
  expect(rows.slice(1).map((line) => line.split('\t').slice(1).join(' '))).toEqual([
    'resolve lookup-failed NOPE SYMBOL_UNKNOWN',
    'resolve reverse-failed nope SYMBOL_UNKNOWN',
    'blackboard get-failed NOPE FACT_UNKNOWN',
    'capsule show-failed NOPE CAPSULE_UNKNOWN',
    'capsule hydrate-failed NOPE CAPSULE_UNKNOWN',
    'brief refused task=1 symbols= capsules= BRIEF_OVER_BUDGET',
    'resolve list entries=0',
  ])
  const empty = await island.run('heimdall-blackboard', ['set', 'port', ''])
  expect(empty).toMatchObject({ code: 2, stderr: 'error: the value is empty\n' })
})
