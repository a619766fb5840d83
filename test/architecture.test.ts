// The house rules that a program can check: who imports whom, what is absent from pure rooms, names, catches, file sizes.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Room to the rooms it may import, besides the shared vocabulary (files directly in src/). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  vocabulary: [],
  canonical: [],
  wire: [],
  cells: [],
  shell: [],
  scopes: [],
  'known-secrets': [],
  policy: ['canonical', 'scopes', 'shell'],
  storage: [],
  briefing: ['storage', 'canonical'],
  events: ['known-secrets'],
  runs: ['events', 'policy', 'storage', 'canonical'],
  pins: ['storage', 'canonical'],
  coordination: ['storage', 'scopes'],
  fleet: ['coordination', 'storage'],
  // Nobody imports it: a session's process is spawned.
  supervisor: ['known-secrets', 'wire', 'cells', 'storage'],
  client: ['wire'],
  hosts: ['shell', 'storage'],
  sessions: ['known-secrets', 'cells', 'client', 'wire', 'storage'],
  spine: [
    'hosts',
    'sessions',
    'runs',
    'coordination',
    'fleet',
    'briefing',
    'policy',
    'pins',
    'scopes',
    'shell',
    'storage',
  ],
  shim: [
    'known-secrets',
    'policy',
    'pins',
    'events',
    'runs',
    'storage',
    'canonical',
    'client',
    'coordination',
    'fleet',
  ],
  dispatch: ['events', 'spine', 'coordination', 'briefing', 'sessions', 'storage'],
  mcp: ['coordination', 'briefing', 'fleet'],
  // Shows and passes on. No shim, no supervisor: hooks are answered by the spine.
  hub: [
    'wire',
    'cells',
    'scopes',
    'policy',
    'pins',
    'storage',
    'briefing',
    'events',
    'runs',
    'coordination',
    'fleet',
    'client',
    'hosts',
    'sessions',
    'spine',
    'dispatch',
  ],
  // A fleet that uses the product from outside, by its commands; what it reads for itself are records.
  demo: ['briefing', 'coordination', 'runs', 'storage'],
  cli: [
    'known-secrets',
    'canonical',
    'wire',
    'cells',
    'scopes',
    'policy',
    'pins',
    'storage',
    'briefing',
    'events',
    'runs',
    'coordination',
    'fleet',
    'client',
    'hosts',
    'sessions',
    'spine',
    'shim',
    'dispatch',
    'hub',
    'demo',
  ],
}

const PURE = ['canonical', 'wire', 'cells', 'shell', 'scopes', 'known-secrets', 'policy']
/** What a pure room may take from Node.js: nothing that reads or writes the world. */
const PURE_BUILTINS = ['node:crypto', 'node:buffer', 'node:util', 'node:path', 'node:string_decoder']

/** Packages that one place alone may know. */
const ONLY_IN: Readonly<Record<string, RegExp>> = {
  '@lydell/node-pty': /^src\/supervisor\/pty\.ts$/,
  '@photostructure/sqlite': /^src\/storage\//,
  'fs-native-extensions': /^src\/storage\//,
  '@modelcontextprotocol/server': /^src\/mcp\//,
  '@opentelemetry': /^src\/runs\/otlp\//,
  unbash: /^src\/shell\/parse\.ts$/,
  postgres: /^src\/fleet\//,
  '@a2a-js/sdk': /^src\/dispatch\/a2a\//,
}

/** Longer than 400 lines because they are tables. */
const LONG_TABLES = ['src/errors.ts', 'src/limits.ts', 'src/hub/contract.ts']

const BANNED_NAME = /(Manager|Helper|Helpers|Utils?|Impl|Service|Handler)$/

interface Source {
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
}

function sourcesUnder(dir: string, isSource = /\.ts$/): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) return sourcesUnder(path, isSource)
    return isSource.test(path) && !path.endsWith('.test.ts') ? [path] : []
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

  test('every arrow in the table is one that somebody goes', () => {
    const gone = new Set(
      sources.flatMap(({ path, room, imports }) =>
        imports
          .filter((name) => name.startsWith('.'))
          .map((name) => `${room} -> ${roomOf(normalize(join(dirname(path), name)))}`),
      ),
    )
    const unused = Object.entries(MAY_IMPORT).flatMap(([room, targets]) =>
      targets.map((target) => `${room} -> ${target}`).filter((arrow) => !gone.has(arrow)),
    )
    expect(unused).toEqual([])
  })

  test('every room is in the table', () => {
    const rooms = [...new Set(sources.map(({ room }) => room))]
    expect(rooms.filter((room) => !Object.hasOwn(MAY_IMPORT, room))).toEqual([])
  })

  /** What leads back to where it came from, by the imports that `seen` says count. */
  function circles(seen: readonly { readonly path: string; readonly imports: readonly string[] }[]): string[] {
    const within = new Map(
      seen.map(({ path, imports }) => [path, imports.map((name) => normalize(join(dirname(path), name)))]),
    )
    const isDone = new Set<string>()
    const found: string[] = []
    const walk = (path: string, above: readonly string[]): void => {
      if (above.includes(path)) found.push([...above.slice(above.indexOf(path)), path].join(' -> '))
      if (isDone.has(path) || above.includes(path)) return
      for (const next of within.get(path) ?? []) if (within.has(next)) walk(next, [...above, path])
      isDone.add(path)
    }
    for (const path of within.keys()) walk(path, [])
    return found
  }

  test('a session’s rooms have no import that leads back to where it came from', () => {
    const rooms = ['wire', 'cells', 'supervisor', 'sessions']
    expect(circles(sources.filter(({ room }) => rooms.includes(room)))).toEqual([])
  })

  test('nowhere does code that is loaded lead back to where it came from; types may', () => {
    const loaded = sources.map(({ path, text }) => ({
      path,
      imports: [...text.matchAll(/^(?:import|export)\s(?!type\b)[^'"`;]*?from\s+['"](\.[^'"]+)['"]/gm)].map(
        (found) => found[1] ?? '',
      ),
    }))
    expect(circles(loaded)).toEqual([])
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

  test('a type that others import has a name of its own, in the house and on the page', () => {
    const owners = new Map<string, string[]>()
    for (const { path, text } of [...sources, ...sourcesUnder('dashboard', /\.tsx?$/).map(load)])
      for (const [, name = ''] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm))
        owners.set(name, [...(owners.get(name) ?? []), path])
    const shared = [...owners].filter(([, paths]) => paths.length > 1)
    expect(shared.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([])
  })

  test('a file name says which one thing it is: no three rooms share one', () => {
    // Files of commands are named after their noun, entries after what they start.
    const isNamedByRule = /^src\/cli\/commands\/|\/(entry|index)\.ts$/
    const rooms = new Map<string, Set<string>>()
    for (const { path, room } of sources.filter(({ path: one }) => !isNamedByRule.test(one)))
      rooms.set(basename(path), (rooms.get(basename(path)) ?? new Set()).add(room))
    expect([...rooms].filter(([, found]) => found.size > 2).map(([name, found]) => [name, ...found])).toEqual([])
  })

  test('no catch block swallows what it caught', () => {
    const swallowed = [...sources, ...sourcesUnder('dashboard', /\.tsx?$/).map(load)].flatMap(({ path, text }) =>
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
    const expected = ['AGENTS.md', 'CHANGELOG.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md']
    expect(readdirSync('.').filter((name) => name.endsWith('.md') && !expected.includes(name))).toEqual([])
  })
})

describe('launchers', () => {
  test('every launcher of bin/ is in package.json and starts something that exists', () => {
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> }
    const files = readdirSync('bin').filter((name) => name !== 'package.json' && name !== 'protocol')
    expect(Object.keys(bin).sort()).toEqual(files.sort())
    for (const name of files) expect(bin[name]).toBe(`bin/${name}`)
  })
})

describe('dashboard', () => {
  const pages = sourcesUnder('dashboard', /\.tsx?$/).map(load)

  test('the page knows the types of the hub’s contract, and nothing else of ours', () => {
    const stray = pages.flatMap(({ path, imports, text }) =>
      imports
        .filter((name) => name.startsWith('.') && !normalize(join(dirname(path), name)).startsWith('dashboard/'))
        .filter(
          (name) =>
            !name.endsWith('/src/hub/contract.ts') || !new RegExp(`import type [^;]*?from '${name}'`).test(text),
        )
        .map((name) => `${path}: ${name}`),
    )
    expect(stray).toEqual([])
  })

  test('text of agents is never taken for markup', () => {
    const risky = pages.filter(({ text }) => /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\beval\(/.test(text))
    expect(risky.map(({ path }) => path)).toEqual([])
  })

  test('its files say what they are for, and are short', () => {
    expect(pages.filter(({ text }) => !/^\/\/ .{10,}/.test(text)).map(({ path }) => path)).toEqual([])
    expect(pages.filter(({ text }) => text.split('\n').length > 400).map(({ path }) => path)).toEqual([])
  })

  test('each class of a CSS module is defined and used, and state is in React, the store or the query cache', () => {
    const modules = sourcesUnder('dashboard', /\.module\.css$/)
    const wrong = modules.flatMap((path) => {
      const own = readFileSync(path, 'utf8').replaceAll(/\/\*[^]*?\*\/|:global\([^)]*\)/g, '')
      const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
      const defined = new Set(Array.from(own.matchAll(/\.([a-z][\w-]*)/gi), ([, name = '']) => camel(name)))
      const users = pages.filter(({ text }) => text.includes(`/${basename(path)}'`))
      const used = new Set(
        users.flatMap(({ text }) => Array.from(text.matchAll(/\bcss\.(\w+)/g), ([, name = '']) => name)),
      )
      return [
        ...[...used].filter((name) => !defined.has(name)).map((name) => `${path}: ${name} is not defined`),
        ...[...defined].filter((name) => !used.has(name)).map((name) => `${path}: ${name} is not used`),
      ]
    })
    expect(wrong).toEqual([])
    // A listener or a subscription outside of a component or class is never removed.
    const listening = pages.filter(({ text }) => /^(?:\w[\w.]*\.)?(?:addEventListener|subscribe)\(/m.test(text))
    expect(listening.map(({ path }) => path)).toEqual([])
    // Refs are written in effects and handlers, not while a component renders.
    const assigning = pages.filter(({ text }) => /^ {2}\w+\.current = /m.test(text))
    expect(assigning.map(({ path }) => path)).toEqual([])
  })
})

describe('planted faults', () => {
  const faults = JSON.parse(readFileSync('scripts/faults.json', 'utf8')) as readonly {
    readonly name: string
    readonly file: string
    readonly from: string
    readonly to: string
    readonly tests: readonly string[]
  }[]

  test('each can still be planted, and the tests that should find it are there', () => {
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
    const gone = faults.filter(
      ({ file, from, to }) => readFileSync(file, 'utf8').split(from).length !== 2 || from === to,
    )
    expect(gone.map(({ name, file }) => `${name}: its text is not, or not only once, in ${file}`)).toEqual([])
    expect(faults.flatMap(({ tests }) => tests.filter((path) => !existsSync(path)))).toEqual([])
  })
})
