// Overlap by example: the seed's cases, the hand cases that other tools get wrong, symbols.
import { describe, expect, test } from 'vitest'
import { overlap } from './overlap.ts'
import { NO_DISK, parseScope, type Scope } from './scope.ts'

const scope = (raw: string): Scope => parseScope(raw, { root: '/p', cwd: '/p', caseSensitive: true, lookup: NO_DISK })

function kindOf(a: string, b: string): string {
  const forth = overlap(scope(a), scope(b))
  expect(overlap(scope(b), scope(a))).toEqual(forth)
  return forth.kind
}

describe('seed 002 §5.3', () => {
  test.each([
    ['src/*', 'src/lib/parser.ts', 'partial'],
    ['src/lib', 'src/lib/parser.ts', 'partial'],
    ['src/lib/parser.ts', 'src/lib/parser.ts', 'exact'],
    ['src/lib', 'src/components', 'disjoint'],
  ])('%s and %s are %s', (a, b, kind) => expect(kindOf(a, b)).toBe(kind))
})

describe('globs against globs', () => {
  test.each([
    ['src/a/**', 'src/a/b.ts', 'partial'],
    ['src/ab', 'src/a/**', 'disjoint'],
    ['a/**/b', 'a/b', 'partial'],
    ['**', 'anything/at/all', 'partial'],
    ['**', '**/*', 'exact'],
    ['src/v1.2', 'src/v1.2/**', 'exact'],
    ['src/v1.2', 'src/v1.2/x.ts', 'partial'],
    ['src/**/*.ts', 'src/a/*.ts', 'partial'],
    ['src/**/*.ts', 'src/a/*.js', 'disjoint'],
    ['src/*/x.ts', 'src/a/x.ts', 'partial'],
    ['src/*.ts', 'src/*.js', 'disjoint'],
    ['src/a*/x.ts', 'src/*b/x.ts', 'partial'],
    ['src/{a,b}/**', 'src/b/c.ts', 'partial'],
    ['src/[ab].ts', 'src/b.ts', 'partial'],
    ['src/[!ab].ts', 'src/b.ts', 'disjoint'],
    ['src/[!ab].ts', 'src/[a-b].ts', 'disjoint'],
    ['./src/a.ts', 'src/a.ts', 'exact'],
    ['src/?.ts', 'src/??.ts', 'disjoint'],
    ['src/*', 'src/.env', 'partial'],
    ['src/*.ts', 'src/a/b.ts', 'disjoint'],
    ['**/a/**', 'b/**/c', 'partial'],
    ['a.ts', 'a.ts/b', 'partial'],
    ['*a*b*c', 'c*b*a', 'disjoint'],
    ['{src,lib}', 'lib/x/y', 'partial'],
    ['?.', '.?', 'disjoint'],
    ['src/é*.ts', 'src/e\u0301t.ts', 'partial'],
    ['src/\\*.ts', 'src/a.ts', 'disjoint'],
    ['port://3000', 'port://3000', 'exact'],
    ['port://3000', '**', 'disjoint'],
  ])('%s and %s are %s', (a, b, kind) => expect(kindOf(a, b)).toBe(kind))

  test('the witness lies in both', () => {
    expect(overlap(scope('src/**/*.ts'), scope('src/a/b*'))).toEqual({ kind: 'partial', witness: 'src/a/b.ts' })
    expect(overlap(scope('src/a*/x.ts'), scope('src/*b/x.ts'))).toEqual({ kind: 'partial', witness: 'src/ab/x.ts' })
  })
})

describe('what names a folder holds what is below it', () => {
  test.each([
    ['src/v2.0', 'src/**/x.ts', 'partial'],
    ['src/v2.0', 'src/v2.0/**', 'exact'],
    ['docs/new', '**/*.md', 'partial'],
    ['.github', '**/*.yml', 'partial'],
    ['packages/*/src', 'packages/web/src/app.ts', 'partial'],
    ['packages/*/src', 'packages/*/src/**', 'exact'],
    ['packages/*/src', '**/*.css', 'partial'],
    ['packages/*/v?', 'packages/web/v2/x', 'partial'],
    ['packages/*.d/', 'packages/web.d/x', 'partial'],
    ['v[0-9].[0-9]', 'v2.0/x.ts', 'partial'],
    ['app/[id]', 'app/d/page.tsx', 'partial'],
    ['{src,lib}/*/gen', 'lib/a/gen/x', 'partial'],
    ['etc/*.d', 'etc/conf.d/x.conf', 'partial'],
    ['**/*.d', 'etc/conf.d/*.conf', 'partial'],
    ['etc/*.d', 'etc/c*.d/x', 'partial'],
    ['src/*.ts', 'src/a.ts/x.js', 'partial'],
  ])('%s and %s are %s', (a, b, kind) => expect(kindOf(a, b)).toBe(kind))

  test.each([
    ['README.md', '**/*.ts'],
    ['src/api.ts', 'src/**/*.test.ts'],
    ['src/**/*.ts', 'src/a/*.js'],
    ['new.css', '**/*.ts'],
    ['notes.tar.gz', '**/x'],
    ['clip.mp4', '**/*.ts'],
    ['a.é', '**/*.ts'],
    ['src/*.ts', 'src/*/x.js'],
    ['**/*.ts', '**/*.js'],
    ['src/*.{ts,tsx}', 'src/**/*.css'],
    ['src/*.*', 'src/a/b'],
    ['src/*.[ch]', 'src/**/*.md'],
    ['src/*.?', '**/*.md'],
    ['**/*.spec.ts', '**/*.stories.ts'],
    ['.env.local', '**/*.ts'],
    ['src/index.d.ts', 'src/**/*.js'],
    ['Makefile#all', '**/*.ts'],
    ['**/Makefile#all', '**/*.ts'],
    ['packages/*/src', 'packages/*/test'],
    ['packages/*/src', 'packages/web/src2'],
    ['src/v2.0', 'src/v2.1/**'],
    ['docs/new', 'docs/newer/*.md'],
    ['docs/new', 'docs/new.md'],
  ])('%s and %s stay disjoint', (a, b) => expect(kindOf(a, b)).toBe('disjoint'))

  test('a name that was a file’s and is a folder’s now, if the disk says so', () => {
    const both = [scope('src/api.ts'), scope('src/**/*.test.ts')] as const
    expect(overlap(...both, () => false).kind).toBe('disjoint')
    const folders = (path: string): boolean => path === 'src/api.ts'
    expect(overlap(...both, folders)).toEqual({ kind: 'partial', witness: 'src/api.ts/.test.ts' })
    expect(overlap(scope('src/web.ts'), both[1], folders).kind).toBe('disjoint')
  })
})

describe('symbols', () => {
  test.each([
    ['a.ts#A', 'a.ts#A', 'exact'],
    ['a.ts#A', 'a.ts#A::b', 'partial'],
    ['a.ts#A', 'a.ts#A.b', 'partial'],
    ['a.ts#A::b', 'a.ts#A.b.c', 'partial'],
    ['a.ts#*', 'a.ts#A.b', 'partial'],
    ['a.ts#A.*', 'a.ts#A.b', 'partial'],
    ['a.ts#A.*', 'a.ts#B.b', 'disjoint'],
    ['a.ts#A.b', 'a.ts#A.c', 'disjoint'],
    ['a.ts#A', 'a.ts#B', 'disjoint'],
    ['a.ts#A', 'a.ts#Ab', 'disjoint'],
    ['a.ts#A', 'a.ts', 'partial'],
    ['a.ts#A', 'b.ts#A', 'disjoint'],
    ['*.ts#A', 'a.ts#B', 'partial'],
    ['Makefile#all', 'Makefile#clean', 'disjoint'],
  ])('%s and %s are %s', (a, b, kind) => expect(kindOf(a, b)).toBe(kind))

  test('the witness names the deeper symbol', () => {
    expect(overlap(scope('a.ts#A'), scope('a.ts#A::b'))).toMatchObject({ witness: 'a.ts#A::b' })
  })
})
