// Canonical scopes: what people type, what it means, and what is refused.
import { describe, expect, test } from 'vitest'
import { HeimdallError } from '../errors.ts'
import { baseQuery, basesMeet } from './base.ts'
import { overlap } from './overlap.ts'
import {
  type PathOnDisk,
  isBroad,
  type Lookup,
  NO_DISK,
  parseScope,
  parseScopes,
  type Scope,
  type ScopeContext,
  scopeOfPath,
} from './scope.ts'

/** A disk of paths to kinds; `link:` leads elsewhere, resolved at any depth. */
function disk(entries: Readonly<Record<string, string>>): Lookup {
  const look = (path: string): PathOnDisk => {
    const segments = path.split('/')
    for (let n = 1; n <= segments.length; n += 1) {
      const entry = entries[segments.slice(0, n).join('/')]
      if (entry === undefined || !entry.startsWith('link:')) continue
      const target = entry.slice('link:'.length)
      if (target.startsWith('/')) return { kind: 'outside', path: target }
      return look([target, ...segments.slice(n)].join('/'))
    }
    const entry = entries[path]
    return { kind: entry === 'file' || entry === 'dir' ? entry : 'missing', path }
  }
  return { look }
}

const context = (over: Partial<ScopeContext> = {}): ScopeContext => ({
  root: '/home/ana/shop',
  cwd: '/home/ana/shop',
  caseSensitive: true,
  lookup: NO_DISK,
  ...over,
})
const scope = (raw: string, over: Partial<ScopeContext> = {}): Scope => parseScope(raw, context(over))
const canonical = (raw: string, over: Partial<ScopeContext> = {}): string => scope(raw, over).canonical

function refusal(raw: string, over: Partial<ScopeContext> = {}): HeimdallError {
  try {
    scope(raw, over)
  } catch (error) {
    if (error instanceof HeimdallError) return error
  }
  throw new Error(`${raw} was not refused`)
}

describe('one meaning, one canonical text', () => {
  test.each([
    ['./src/a.ts', 'src/a.ts'],
    ['src//a.ts', 'src/a.ts'],
    ['src/./b/../a.ts', 'src/a.ts'],
    ['src\\a.ts', 'src/a.ts'],
    ['/home/ana/shop/src/a.ts', 'src/a.ts'],
    ['../shop/src/a.ts', 'src/a.ts'],
    ['  src/a.ts ', 'src/a.ts'],
    ['src/lib/', 'src/lib'],
    ['src/lib/*', 'src/lib'],
    ['src/lib/**', 'src/lib'],
    ['src/lib/**/*', 'src/lib'],
    ['src/**/**/x.ts', 'src/**/x.ts'],
    ['src/{b,a}.ts', '{src/a.ts,src/b.ts}'],
    ['src/{a,a}.ts', 'src/a.ts'],
    ['v{1..3}.ts', '{v1.ts,v2.ts,v3.ts}'],
    ['{08..10}.ts', '{08.ts,09.ts,10.ts}'],
    ['src/*?.ts', 'src/?*.ts'],
    ['src/**a.ts', 'src/*a.ts'],
    ['src/x{a}.ts', 'src/x\\{a\\}.ts'],
    ['src/\\*.ts', 'src/\\*.ts'],
    ['src/a\\#b.ts', 'src/a\\#b.ts'],
    ['[.]', '\\[.\\]'],
    ['src/[b-a]x.ts', 'src/\\[b-a\\]x.ts'],
    ['.', '**'],
    ['/home/ana/shop', '**'],
    ['*', '**'],
    ['cafe\u0301.ts', 'caf\u00e9.ts'],
    ['src/parser.ts#Parser::read', 'src/parser.ts#Parser::read'],
    ['port://3000', 'port://3000'],
  ])('%s is %s', (raw, expected) => expect(canonical(raw)).toBe(expected))

  test('relative scopes start at the working folder', () => {
    expect(canonical('a.ts', { cwd: '/home/ana/shop/src' })).toBe('src/a.ts')
    expect(canonical('../a.ts', { cwd: '/home/ana/shop/src' })).toBe('a.ts')
  })

  test('an absolute path in another worktree of the repository means the same file', () => {
    expect(canonical('/home/ana/shop-wt/src/a.ts', { otherRoots: ['/home/ana/shop-wt'] })).toBe('src/a.ts')
  })

  test('a root on a drive, in either spelling', () => {
    const onDrive = { root: 'C:\\work\\shop', cwd: 'C:\\work\\shop\\src', caseSensitive: false }
    expect(canonical('c:/work/shop/src/A.ts', onDrive)).toBe('src/a.ts')
    expect(canonical('lib\\A.ts', onDrive)).toBe('src/lib/a.ts')
  })

  test('without regard to case where the file system has none, classes included', () => {
    expect(canonical('Src/A.ts', { caseSensitive: false })).toBe('src/a.ts')
    const folded = scope('src/[A-C]?.ts', { caseSensitive: false })
    expect(overlap(folded, scopeOfPath('src/bX.ts', { caseSensitive: false })).kind).toBe('partial')
    expect(overlap(scope('src/A.ts'), scope('src/a.ts')).kind).toBe('disjoint')
    const negated = scope('src/[!A].ts', { caseSensitive: false })
    expect(overlap(negated, scopeOfPath('src/a.ts', { caseSensitive: false })).kind).toBe('disjoint')
  })
})

describe('what the disk decides', () => {
  const lookup = disk({
    src: 'dir',
    'src/v1.2': 'dir',
    Makefile: 'file',
    'app/[id]': 'dir',
    'app/[id]/page.tsx': 'file',
    current: 'link:src/v1.2',
    out: 'link:/etc',
    'src/C#': 'dir',
    'src/C#/x.cs': 'file',
    'src/+(x).ts': 'file',
  })

  test('file or folder; missing with an extension is a file, without it may be either', () => {
    const kinds = ['src', 'src/v1.2', 'Makefile', 'new.ts', 'LICENSE', 'new.ts/'].map(
      (raw) => scope(raw, { lookup }).kind,
    )
    expect(kinds).toEqual(['dir', 'dir', 'file', 'file', 'unknown', 'dir'])
  })

  test('a file made after the claim is still the same scope', () => {
    expect(overlap(scope('LICENSE'), scope('LICENSE', { lookup: disk({ LICENSE: 'file' }) })).kind).toBe('exact')
  })

  test('a route folder that exists is meant literally, also before a wildcard', () => {
    expect(canonical('app/[id]/page.tsx', { lookup })).toBe('app/\\[id\\]/page.tsx')
    expect(canonical('app/[id]/*.tsx', { lookup })).toBe('app/\\[id\\]/*.tsx')
    expect(overlap(scope('app/[id]/page.tsx', { lookup }), scope('app/d/page.tsx')).kind).toBe('disjoint')
  })

  test('a bracket that is no file is read both ways', () => {
    const both = scope('app/[ab]/page.tsx')
    for (const path of ['app/a/page.tsx', 'app/b/page.tsx', 'app/[ab]/page.tsx'])
      expect(overlap(both, scopeOfPath(path, { caseSensitive: true })).kind).toBe('partial')
    expect(overlap(both, scopeOfPath('app/c/page.tsx', { caseSensitive: true })).kind).toBe('disjoint')
  })

  test('brackets beside a wildcard are read both ways too; a star in brackets is a star', () => {
    const pages = scope('pages/[id].*')
    for (const path of ['pages/[id].tsx', 'pages/d.tsx'])
      expect(overlap(pages, scopeOfPath(path, { caseSensitive: true })).kind).toBe('partial')
    expect(scope('a[*]b').canonical).toBe('{a\\*b/**,a\\[\\*\\]b/**}')
  })

  test('a link inside the project is its target; one that leads out is refused', () => {
    expect(canonical('current/a.ts', { lookup })).toBe('src/v1.2/a.ts')
    expect(canonical('current/**/*.ts', { lookup })).toBe('src/v1.2/**/*.ts')
    expect(refusal('out/passwd', { lookup })).toMatchObject({
      code: 'PATH_OUTSIDE_ROOT',
      message: expect.stringContaining('/etc'),
    })
  })

  test('names that hold signs of the language are taken as names where they exist', () => {
    expect(scope('src/C#/x.cs', { lookup })).toMatchObject({ symbol: null, base: 'src/C#/x.cs' })
    expect(scope('src/+(x).ts', { lookup }).base).toBe('src/+(x).ts')
  })
})

describe('refused, with what was seen and what is allowed', () => {
  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['!src/a.ts', 'starts with !'],
    ['src/a\u0000b', 'control character'],
    ['src/a\nb', 'control character'],
    ['src/\ud800.ts', 'surrogate'],
    ['x'.repeat(600), '600 characters, limit 512'],
    ['src/@(a|b).ts', 'extended glob'],
    ['src/[[:alpha:]].ts', 'POSIX'],
    ['{1..65}.ts', 'more than 64'],
    ['{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}', 'more than 64'],
    ['[ab]/'.repeat(7), 'more than 64'],
    ['src/**/[.]/x.ts#', 'symbol'],
    ['#main', 'no file'],
    ['a.ts#A::', 'symbol'],
    ['a.ts#b/c', 'symbol'],
    ['file:///etc/passwd', 'file address'],
    ['src/*/../x', 'after a wildcard'],
  ])('%j', (raw, part) => {
    const error = refusal(raw)
    expect(error.code).toBe('SCOPE_INVALID')
    expect(error.message).toContain(part)
    expect(error.hint).toBeTypeOf('string')
  })

  test.each(['../other', '/etc/passwd', 'src/../../x', '{src,../..}/x', 'C:/x'])('%s leads out', (raw) =>
    expect(refusal(raw).code).toBe('PATH_OUTSIDE_ROOT'),
  )

  test('257 scopes', () => {
    const many = Array.from({ length: 257 }, (_, i) => `f${i}.ts`)
    expect(() => parseScopes(many, context())).toThrow('257 scopes given, 1 to 256 allowed')
    expect(parseScopes(many.slice(1), context())).toHaveLength(256)
  })
})

test('scopes survive storage', () => {
  for (const raw of ['src/{a,b}/[!x]*.ts', 'app/[id]/page.tsx', 'a.ts#B', 'src/[-^]z', '{\\{,\\,}', 'src/[[\\]]']) {
    const made = scope(raw)
    const stored = JSON.parse(JSON.stringify(made)) as Scope
    expect(overlap(stored, made).kind, raw).toBe('exact')
  }
})

test('the base is what is literal in front of the first wildcard, and is compared both ways', () => {
  expect(scope('src/a/*.ts').base).toBe('src/a')
  expect(scope('src/{a,b}/x.ts').base).toBe('src')
  expect(scope('**/x.ts').base).toBe('')
  expect(scope('src/a.ts').base).toBe('src/a.ts')
  const query = baseQuery('src/a')
  expect(query).toEqual({ atOrAbove: ['', 'src', 'src/a'], from: 'src/a/', to: 'src/a0' })
  for (const other of ['', 'src', 'src/a', 'src/a/b', 'src/ab', 'srca', 'src/a-b', 'lib'])
    expect(query.atOrAbove.includes(other) || (other >= query.from && other < query.to), other).toBe(
      basesMeet('src/a', other),
    )
})

test('a claim on everything is called broad', () => {
  expect(['.', '**/*.ts', 'src', '*.ts'].map((raw) => isBroad(scope(raw)))).toEqual([true, true, false, false])
})
