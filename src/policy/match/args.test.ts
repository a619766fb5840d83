// Predicates that look into arguments: at a path, over all texts, and where paths lead.
import { expect, test } from 'vitest'
import { ARGS_VALUES_MAX } from '../../limits.ts'
import { type ArgsTest, compileArgs } from './args.ts'
import { writtenLocations } from './locations.ts'
import type { ArgsMatch, PathMatch, ValueMatch } from '../types.ts'

const NONE: ArgsMatch = { has_keys: [], key_equals: {}, key_in: {}, numeric_range: {} }
const PLAIN = { glob: [], regex: [], ignore_case: false }

function holds(match: Partial<ArgsMatch>, args: Record<string, unknown>): unknown {
  const { holds: look, pathsOf } = compileArgs({ args: { ...NONE, ...match } }) as ArgsTest
  return look(args, writtenLocations(pathsOf?.(args) ?? []))
}

test.each<[string, Partial<ValueMatch>, Record<string, unknown>, unknown]>([
  ['env.NAME', { equals: 'x' }, { env: { NAME: 'x' } }, true],
  ['env.NAME', { equals: 'x' }, { env: { NAME: 'y' } }, false],
  ['env.NAME', { equals: 'x' }, { env: 'x', 'env.NAME': 'x' }, false],
  ['files[*].path', { glob: ['/etc/*'] }, { files: [{ path: 'a' }, { path: '/etc/passwd' }] }, true],
  ['files[*].path', { glob: ['/etc/*'] }, { files: [{ path: 'a' }] }, false],
  ['files[1].path', { equals: 'b' }, { files: [{ path: 'a' }, { path: 'b' }] }, true],
  ['files[1].path', { equals: 'a' }, { files: [{ path: 'a' }, { path: 'b' }] }, false],
  ['env.*', { regex: ['^s'] }, { env: { A: 'a', B: 'secret' } }, true],
  ['headers["x.y"]', { equals: 1 }, { headers: { 'x.y': 1 } }, true],
  ['a[*][*]', { equals: 3 }, { a: [[1], [2, 3]] }, true],
  ['n.count', { range: { min: 5 } }, { n: { count: 5 } }, true],
  ['n.count', { range: { min: 5 } }, { n: { count: '5' } }, false],
  ['n.count', { in: [1, 2] }, { n: { count: 2 } }, true],
  ['flag', { equals: 'FORCE', ignore_case: true }, { flag: 'force' }, true],
  ['flag', { in: ['FORCE'], ignore_case: true }, { flag: 'Force' }, true],
  ['flag', { glob: ['FOR*'], ignore_case: true }, { flag: 'force' }, true],
  ['flag', { regex: ['^FORCE$'], ignore_case: true }, { flag: 'force' }, true],
  ['flag', { regex: ['^FORCE$'] }, { flag: 'force' }, false],
  ['flag', { glob: ['f*'], regex: [], in: ['g'] }, { flag: 'force' }, false],
  // A reader that folds case finds the name there, one that does not finds nothing.
  ['env.NAME', { equals: 'x' }, { env: { name: 'x' } }, 'ambiguous'],
  ['env.NAME', { equals: 'x' }, { ENV: { NAME: 'x' } }, 'ambiguous'],
  ['__proto__.x', { equals: 1 }, JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>, true],
  ['constructor.name', { equals: 'Object' }, {}, false],
])('at %s %j of %j is %s', (path, value, args, expected) => {
  expect(holds({ at: { [path]: { ...PLAIN, ...value } } }, args)).toBe(expected)
})

test.each<[Record<string, unknown>, boolean]>([
  [{ command: 'git push --force' }, true],
  [{ args: ['--force'] }, true],
  [{ a: { b: [{ c: 'git push origin --force' }] } }, true],
  [{ cmd: ['git', 'push', '--force'] }, true],
  [{ command: 'git push' }, false],
  // A key is a text as well.
  [{ '--force': true }, true],
  [{ flags: { '--force': '' } }, true],
])('text of %j: %s', (args, expected) => {
  expect(holds({ text: { ...PLAIN, regex: ['--force'] } }, args)).toBe(expected)
})

test('a list of words is also the line that it makes up', () => {
  const text = { ...PLAIN, regex: ['git push.* -f\\b'] }
  expect(holds({ text }, { argv: ['git', 'push', 'origin', '-f'] })).toBe(true)
})

test.each<[unknown, boolean]>([
  [['git', 'push', 1, '--force'], true],
  [['git', 'push', true, '--force'], true],
  [['git', 'push', null, '--force'], true],
  [['git', 'push', {}, '--force'], true],
  [[['git', 'push'], '--force'], true],
  [['git', ['push', [['origin']]], ['--force']], true],
  [[['ls'], ['git', 'push', '--force']], true],
  [['git', 'push', { other: '--force' }], false],
  [{ a: ['git', 'push'], b: ['--force'] }, false],
])('the line of %j: %s', (argv, expected) => {
  expect(holds({ text: { ...PLAIN, regex: ['^git push .*--force|push --force'] } }, { argv })).toBe(expected)
  expect(holds({ text: { ...PLAIN, regex: ['push .*--force'] } }, { argv })).toBe(expected)
})

const within = (scopes: string[], keys: string[] | null = null): { path_within: PathMatch } => ({
  path_within: { scopes, keys },
})

test.each<[Partial<ArgsMatch>, Record<string, unknown>, boolean]>([
  [within(['src']), { path: 'src/a.ts' }, true],
  [within(['src/**']), { path: './src/../src/a.ts' }, true],
  [within(['src']), { path: 'src/../secret' }, false],
  [within(['src']), { path: '../src/a.ts' }, false],
  [within(['src']), { path: '/etc/passwd' }, false],
  [within(['src']), { path: 'srcs/a.ts' }, false],
  [within(['src']), { path: '.' }, false],
  [within(['src']), { files: [{ path: 'src/a' }, { path: 'b' }] }, false],
  [within(['src']), { source: 'src/a', destination: 'src/b' }, true],
  [within(['src']), { source: 'src/a', destination: 'b' }, false],
  [within(['src']), { paths: ['src/a', 'src/b/c'] }, true],
  // Told by its look, whatever its key.
  [within(['src']), { path: 'src/a', note: '/etc/passwd' }, false],
  [within(['src']), { path: 'src/a', content: '/* a comment */\n' }, true],
  [within(['src']), { uri: 'https://example.test/a', path: 'src/a' }, true],
  [within(['src']), { uri: 'file:///etc/passwd' }, false],
  // No path, nothing that could be inside.
  [within(['src']), { query: 'x' }, false],
  [within(['src', '/tmp/**']), { path: '/tmp/x/y' }, true],
  [within(['src/*.ts']), { path: 'src/a.ts' }, true],
  [within(['src/*.ts']), { path: 'src/a.js' }, false],
  [within(['src'], ['to[*]']), { to: ['src/a', 'b'], path: '/etc' }, false],
  [within(['src'], ['to[*]']), { to: ['src/a'], path: '/etc' }, true],
  [{ path_outside: { scopes: ['src'], keys: null } }, { path: 'src/a' }, false],
  [{ path_outside: { scopes: ['src'], keys: null } }, { path: 'src/a', cwd: '..' }, true],
  [{ path_outside: { scopes: ['src'], keys: null } }, { query: 'x' }, false],
])('paths %j of %j: %s', (match, args, expected) => {
  expect(holds(match, args)).toBe(expected)
})

const OUTSIDE_SRC = { path_outside: { scopes: ['src'], keys: null } }

test.each(
  (
    'path filepath FILEPATH subpath outfile infile logfile basedir rootdir fileName file_name FILE_NAME pathname path2 ' +
    'path_2 file1 dirname dir_name pathspec filePath target_dir paths files directories folderName repro_file reproFile imgsrc'
  ).split(' '),
)('the key %s names a path', (key) => {
  expect(holds(OUTSIDE_SRC, { [key]: 'other/x' })).toBe(true)
  expect(holds(OUTSIDE_SRC, { [key]: 'src/x' })).toBe(false)
})

test.each('profile profile_name AWSProfile resource resources targetName rootless pathology direct name'.split(' '))(
  'the key %s names none',
  (key) => {
    expect(holds(OUTSIDE_SRC, { [key]: 'other/x' })).toBe(false)
  },
)

test.each<[Record<string, unknown>, boolean]>([
  [{ note: 'FILE:///etc/x' }, true],
  [{ uri: 'File:///project/src/x' }, false],
  [{ uri: 'HTTPS://example.test/x' }, false],
  [{ paths: { a: 'other/x' } }, true],
  [{ paths: { a: 'src/x' } }, false],
  [{ path: { value: 'other/x' } }, true],
  [{ paths: { a: ['src/x', 'other/x'] } }, true],
  [{ paths: [{ a: 'other/x' }] }, true],
  [{ paths: [['other/x']] }, true],
  [{ files: { '/etc/x': 'content' } }, true],
  [{ map: { '/etc/x': 'content' } }, true],
  [{ files: { 'other/x': 'content' } }, true],
  [{ files: { 'src/x': 'content' } }, false],
  // A plain resolve of these leaves the folder; a scheme alone makes no address.
  [{ path: 'ab://../../../etc/x' }, true],
  [{ note: 'ab://../../../etc/x' }, true],
  [{ path: 'ab://host/x' }, true],
  [{ path: 'https://../../etc/x' }, true],
  [{ path: 'https://host/../../../etc/x' }, true],
  [{ path: 'https:///etc/x' }, true],
  [{ url: 'https://example.test/x?y=/etc', path: 'src/x' }, false],
  [{ source: 'postgres://me@db.test:5432/x', path: 'src/x' }, false],
  [{ source: 'https://[::1]:80/x', path: 'src/x' }, false],
  // Key and value.
  [{ paths: { 'src/a': 'other/x' } }, true],
  [{ paths: { 'src/a': 'x' } }, true],
  [{ paths: { 'src/a': 'src/x' } }, false],
  [{ paths: { 'src/a': ['src/x', 'other/x'] } }, true],
  [{ files: { 'src/a': 'other/x' } }, true],
  [{ files: { 'src/a': 'const a = b / c\n' } }, false],
  // What says by itself where its path stands has other texts as well.
  [{ files: [{ path: 'src/x', content: 'other' }] }, false],
  [{ files: [{ path: 'other/x', content: 'other' }] }, true],
])('some path of %j is outside: %s', (args, expected) => {
  expect(holds(OUTSIDE_SRC, args)).toBe(expected)
})

test('where the author names the key, everything below it is a path', () => {
  const match = { path_outside: { scopes: ['src'], keys: ['to'] } }
  expect(holds(match, { to: { value: ['other/x'] } })).toBe(true)
  expect(holds(match, { to: { value: ['src/x'] } })).toBe(false)
})

test('more than anybody looks at is said to be so, and quickly', () => {
  const wide = { list: Array.from({ length: ARGS_VALUES_MAX + 1 }, () => 'x'), path: 'src/a' }
  const deep = JSON.parse(`{"a":${'['.repeat(900)}"--force"${']'.repeat(900)}}`) as Record<string, unknown>
  for (const args of [wide, deep]) {
    expect(holds({ text: { ...PLAIN, regex: ['--force'] } }, args)).toBe('unknown')
    expect(holds(within(['src']), args)).toBe('unknown')
  }
  expect(holds({ at: { 'list[*]': { ...PLAIN, equals: 'y' } } }, wide)).toBe('unknown')
})
