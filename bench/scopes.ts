// Overlap of two scopes against the plain match of one pattern and one path, which answers a smaller question.
import { Minimatch } from 'minimatch'
import picomatch from 'picomatch'
import { overlap } from '../src/scopes/overlap.ts'
import { NO_DISK, parseScope, type Scope, scopeOfPath } from '../src/scopes/scope.ts'
import { runBench } from './support/bench.ts'

const GLOBS = [
  'src/**/*.ts',
  'src/api/*.ts',
  'src/{api,web}/**',
  'packages/*/src/index.ts',
  'docs/*.md',
  'app/**/[a-c]*.tsx',
  'src/**/test-?.ts',
  'lib/*',
  '**/*.test.ts',
  'src/a*/x*.ts',
]
const PATHS = [
  'src/api/users.ts',
  'src/web/app.tsx',
  'packages/cli/src/index.ts',
  'docs/intro.md',
  'app/shop/cart.tsx',
  'src/deep/er/test-1.ts',
  'lib/x/y/z.js',
  'src/api/users.test.ts',
  'src/abc/xyz.ts',
  'README.md',
]
const REPEATS = 200

const context = { root: '/p', cwd: '/p', caseSensitive: true, lookup: NO_DISK }
const globs = GLOBS.map((raw) => parseScope(raw, context))
const paths = PATHS.map((path) => scopeOfPath(path, { caseSensitive: true }))

/** Microseconds per pair over every pair of both lists. */
function perPair<A, B>(as: readonly A[], bs: readonly B[], ask: (a: A, b: B) => boolean): number {
  const start = performance.now()
  let hits = 0
  for (let i = 0; i < REPEATS; i += 1) for (const a of as) for (const b of bs) if (ask(a, b)) hits += 1
  const elapsedMs = performance.now() - start
  if (hits === 0) throw new Error('no pair matched: nothing was measured')
  return (elapsedMs * 1000) / (REPEATS * as.length * bs.length)
}

const collides = (a: Scope, b: Scope): boolean => overlap(a, b).kind !== 'disjoint'
const picomatchers = GLOBS.map((glob) => picomatch(glob, { dot: true }))
const minimatchers = GLOBS.map((glob) => new Minimatch(glob, { dot: true }))
const picomatchSide = {
  name: 'picomatch, pattern against path',
  measure: () => perPair(picomatchers, PATHS, (matches, path) => matches(path)),
}
const minimatchSide = {
  name: 'minimatch, pattern against path',
  measure: () => perPair(minimatchers, PATHS, (pattern, path) => pattern.match(path)),
}

await runBench({
  name: 'scopes',
  about: 'overlap of two scopes, compiled, against the plain match of other libraries',
  prepare: () => ({
    comparisons: [
      {
        what: 'one pair: glob against glob, with a witness',
        unit: 'µs',
        rounds: 15,
        ours: { name: 'overlap(glob, glob)', measure: () => perPair(globs, globs, collides) },
        peers: [picomatchSide, minimatchSide],
      },
      {
        what: 'one pair: glob against one path, as a guard asks',
        unit: 'µs',
        rounds: 15,
        ours: { name: 'overlap(glob, path)', measure: () => perPair(globs, paths, collides) },
        peers: [picomatchSide, minimatchSide],
      },
    ],
  }),
})
