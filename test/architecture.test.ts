// The house rules that a program can check: who imports whom, what is absent from pure rooms, names, catches, file sizes.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Room to the rooms it may import, besides the shared vocabulary (files directly in src/). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  vocabulary: [],
  canonical: [],
  wire: [],
  cells: [],
  scopes: [],
  policy: ['canonical', 'scopes'],
  storage: ['canonical'],
  briefing: ['storage', 'canonical'],
  events: ['storage', 'canonical'],
  runs: ['events', 'storage', 'canonical'],
  coordination: ['storage', 'scopes', 'canonical'],
  // Nobody imports it: a session's process is spawned.
  supervisor: ['wire', 'cells', 'storage'],
  client: ['wire'],
  hosts: ['storage', 'canonical', 'events'],
  sessions: ['client', 'wire', 'storage'],
  shim: ['policy', 'events', 'runs', 'storage', 'canonical', 'scopes', 'client', 'coordination'],
  dispatch: ['coordination', 'briefing', 'runs', 'sessions', 'storage', 'client'],
  mcp: ['coordination', 'briefing'],
  cli: [
    'canonical',
    'wire',
    'cells',
    'scopes',
    'policy',
    'storage',
    'briefing',
    'events',
    'runs',
    'coordination',
    'client',
    'hosts',
    'sessions',
    'shim',
    'mcp',
  ],
}

const PURE = ['canonical', 'wire', 'cells', 'scopes', 'policy']
/** What a pure room may take from Node.js: nothing that reads or writes the world. */
const PURE_BUILTINS = ['node:crypto', 'node:buffer', 'node:util', 'node:path', 'node:string_decoder']

/** Packages that one place alone may know. */
const ONLY_IN: Readonly<Record<string, RegExp>> = {
  '@lydell/node-pty': /^src\/supervisor\/pty\.ts$/,
  '@photostructure/sqlite': /^src\/storage\//,
  'fs-native-extensions': /^src\/storage\//,
  '@modelcontextprotocol/server': /^src\/mcp\//,
}

/** Longer than 400 lines because they are tables. */
const LONG_TABLES = ['src/errors.ts', 'src/limits.ts', 'src/cli/table/']

const BANNED_NAME = /(Manager|Helper|Helpers|Utils?|Impl|Service|Handler)$/

interface Source {
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
}

function sourcesUnder(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    return entry.isDirectory() ? sourcesUnder(path) : path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  })
}

const IMPORT =
  /(?:^|[\s;])(?:import|export)\s[^'"`;]*?from\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm
const REQUIRE = /createRequire\(import\.meta\.url\)\(\s*['"]([^'"]+)['"]/g

function load(path: string): Source {
  const text = readFileSync(path, 'utf8')
  const found = [...text.matchAll(IMPORT), ...text.matchAll(REQUIRE)].map((m) => m[1] ?? m[2] ?? m[3] ?? '')
  return { path, room: roomOf(path), text, imports: found }
}

function roomOf(path: string): string {
  const [, second, third] = path.split('/')
  return third === undefined ? 'vocabulary' : (second ?? '')
}

const sources = sourcesUnder('src').map(load)

describe('imports', () => {
  test('every arrow between rooms is in the table', () => {
    const stray = sources.flatMap(({ path, room, imports }) =>
      imports
        .filter((name) => name.startsWith('.'))
        .map((name) => roomOf(normalize(join(dirname(path), name))))
        .filter((target) => target !== room && target !== 'vocabulary' && !(MAY_IMPORT[room] ?? []).includes(target))
        .map((target) => `${path}: ${room} -> ${target}`),
    )
    expect(stray).toEqual([])
  })

  test('every room is in the table', () => {
    const rooms = [...new Set(sources.map(({ room }) => room))]
    expect(rooms.filter((room) => !Object.hasOwn(MAY_IMPORT, room))).toEqual([])
  })

  test('a session’s rooms have no import that leads back to where it came from', () => {
    const rooms = ['wire', 'cells', 'supervisor', 'sessions']
    const within = new Map(
      sources
        .filter(({ room }) => rooms.includes(room))
        .map(({ path, imports }) => [path, imports.map((name) => normalize(join(dirname(path), name)))]),
    )
    const isDone = new Set<string>()
    const circles: string[] = []
    const walk = (path: string, above: readonly string[]): void => {
      if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' -> '))
      if (isDone.has(path) || above.includes(path)) return
      for (const next of within.get(path) ?? []) if (within.has(next)) walk(next, [...above, path])
      isDone.add(path)
    }
    for (const path of within.keys()) walk(path, [])
    expect(circles).toEqual([])
  })

  test('relative imports name an existing file with its extension', () => {
    const broken = sources.flatMap(({ path, imports }) =>
      imports
        .filter((name) => name.startsWith('.') && !existsSync(join(dirname(path), name)))
        .map((name) => `${path}: ${name}`),
    )
    expect(broken).toEqual([])
  })

  test('pure rooms touch no I/O', () => {
    const impure = sources
      .filter(({ room }) => PURE.includes(room))
      .flatMap(({ path, imports, text }) => [
        ...imports
          .filter((name) => name.startsWith('node:') && !PURE_BUILTINS.includes(name))
          .map((name) => `${path}: ${name}`),
        ...(/\b(Date\.now|Math\.random|performance\.now|setTimeout|process\.)\b/.test(text)
          ? [`${path}: reads the clock, chance or the process`]
          : []),
      ])
    expect(impure).toEqual([])
  })

  test('packages with an owner are imported there alone', () => {
    const stray = sources.flatMap(({ path, imports }) =>
      imports
        .filter((name) =>
          Object.entries(ONLY_IN).some(
            ([owned, where]) => (name === owned || name.startsWith(`${owned}/`)) && !where.test(path),
          ),
        )
        .map((name) => `${path}: ${name}`),
    )
    expect(stray).toEqual([])
  })

  test('the path of a call knows no SQL: state of a run is the business of runs/', () => {
    const knowing = sources.filter(
      ({ room, imports, text }) =>
        room === 'shim' &&
        (imports.some((name) => name.endsWith('storage/sqlite.ts')) ||
          /\b(SELECT|INSERT INTO|DELETE FROM|CREATE TABLE|PRAGMA) /.test(text)),
    )
    expect(knowing.map(({ path }) => path)).toEqual([])
  })

  test('only entry points read the environment of the process', () => {
    const isEntry = (path: string): boolean => /\/([a-z-]+-)?(entry|worker)\.ts$/.test(path)
    const readers = sources.filter(
      ({ path, text }) => !isEntry(path) && /^(?!\s*(\/\/|\*|\/\*)).*\bprocess\.env\b/m.test(text),
    )
    expect(readers.map(({ path }) => path)).toEqual([])
  })
})

describe('style', () => {
  test('every file says in its first line what it is for', () => {
    expect(sources.filter(({ text }) => !/^(\/\/ .{10,}|\/\*\*? .{10,})/.test(text)).map(({ path }) => path)).toEqual(
      [],
    )
  })

  test('no role names', () => {
    const declared = /\b(?:class|interface|type|function|const)\s+([A-Za-z0-9_]+)/g
    const named = sources.flatMap(({ path, text }) =>
      [...text.matchAll(declared)]
        .map((m) => m[1] ?? '')
        .filter((name) => BANNED_NAME.test(name))
        .map((name) => `${path}: ${name}`),
    )
    const files = sources
      .filter(({ path }) => /\/(utils?|helpers?|manager|service|types\/index)(\.ts|\/)/.test(path))
      .map(({ path }) => path)
    expect([...named, ...files]).toEqual([])
  })

  test('no catch block swallows what it caught', () => {
    const swallowed = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/catch\s*(\([^)]*\))?\s*\{([^{}]*)\}/g)]
        .filter((m) => {
          const body = (m[2] ?? '').replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '').trim()
          return (
            body === '' ||
            /^return( null| undefined| false)?;?$/.test(body) ||
            /^(console|log|logger)\.\w+\([^;]*\);?$/.test(body)
          )
        })
        .map((m) => `${path}:${text.slice(0, m.index).split('\n').length}`),
    )
    expect(swallowed).toEqual([])
  })

  test('files stay under 400 lines unless they are tables', () => {
    const long = sources.filter(
      ({ path, text }) => text.split('\n').length > 400 && !LONG_TABLES.some((table) => path.startsWith(table)),
    )
    expect(long.map(({ path, text }) => `${path}: ${text.split('\n').length}`)).toEqual([])
  })

  test('Markdown at the root is what a newcomer expects', () => {
    const expected = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
    expect(readdirSync('.').filter((name) => name.endsWith('.md') && !expected.includes(name))).toEqual([])
  })
})

describe('launchers', () => {
  test('every launcher of bin/ is in package.json and starts something that exists', () => {
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> }
    const files = readdirSync('bin').filter((name) => name !== 'package.json')
    expect(Object.keys(bin).sort()).toEqual(files.sort())
    for (const name of files) expect(bin[name]).toBe(`bin/${name}`)
  })
})
