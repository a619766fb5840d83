// Overlap against brute force: two matchers that others wrote, over every path of a generated tree.
import fc from 'fast-check'
import { Minimatch } from 'minimatch'
import picomatch from 'picomatch'
import { test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { overlap } from './overlap.ts'
import { NO_DISK, parseScope, type Scope, scopeOfPath } from './scope.ts'

const NAMES = ['a', 'b', 'ab', 'ba', '.a', 'a.b', 'b.c', '*', '[ab]', 'é', 'aab']
const TREE = ['', '', ''].reduce<string[]>(
  (paths) => [...NAMES, ...paths.flatMap((path) => NAMES.map((name) => `${path}/${name}`))],
  [],
)

const atom = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', '.', 'é') },
  { weight: 3, arbitrary: fc.constantFrom('*', '?') },
  { weight: 2, arbitrary: fc.constantFrom('[ab]', '[!a]', '[^b.]', '[a-c]', '[!a-b]') },
  { weight: 1, arbitrary: fc.constantFrom('{a,b}', '{a*,.b}', '{b,a/b}', '\\*', '\\[', '\\]') },
)
const segment = fc.oneof(
  { weight: 5, arbitrary: fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join('')) },
  { weight: 2, arbitrary: fc.constant('**') },
  { weight: 2, arbitrary: fc.constantFrom(...NAMES.slice(0, 7)) },
)
const pattern = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .filter((segments) =>
    segments.every((text) => !/^\.{1,2}$/.test(text) && !/\*{2}./.test(text) && !/.\*{2}/.test(text)),
  )
  // `{b,a/b}` next to a dot may spell `.` or `..`, which a path cannot hold and matchers treat in their own ways.
  .filter((segments) => !segments.some((text) => text.includes('/') && text.includes('.')))
  .map((segments) => segments.join('/'))

interface Subject {
  readonly raw: string
  readonly scope: Scope
  /** Literal file names: what lies below one collides with it although no matcher says so. */
  readonly files: readonly string[]
  readonly matchers: readonly ((path: string) => boolean)[]
  /** Which paths of the tree each matcher accepts. */
  readonly accepted: readonly Uint8Array[]
}

function subject(raw: string): Subject {
  const variants = new Minimatch(raw).braceExpand().flatMap(bracketReadings).flatMap(settledForms)
  const matchers = [
    // Its fast paths know a few patterns by heart and want a letter behind the dot of `*.*`, which its own grammar does not.
    anyOf(
      variants.map((variant) =>
        picomatch(variant, { dot: true, nobrace: true, noextglob: true, posix: true, fastpaths: false }),
      ),
    ),
    anyOf(variants.map(minimatcher)),
  ]
  return {
    raw,
    scope: parseScope(raw, { root: '/p', cwd: '/p', caseSensitive: true, lookup: NO_DISK }),
    files: variants.filter((variant) => !isWild(variant)).map((variant) => variant.replace(/\\(.)/g, '$1')),
    matchers,
    accepted: matchers.map((matches) => Uint8Array.from(TREE, (path) => (matches(path) ? 1 : 0))),
  }
}

function minimatcher(variant: string): (path: string) => boolean {
  const compiled = new Minimatch(variant, { dot: true, nobrace: true, noext: true, nonegate: true, nocomment: true })
  return (path) => compiled.match(path)
}

const anyOf =
  (matchers: readonly ((path: string) => boolean)[]) =>
  (path: string): boolean =>
    matchers.some((matches) => matches(path))

const isWild = (variant: string): boolean => /(?<!\\)[*?[]/.test(variant)

/** Each bracketed segment is a class or a name (coordination scopes read it both ways where no file decides). */
function bracketReadings(variant: string): string[] {
  return variant.split('/').reduce<string[]>(
    (heads, text) => {
      const named = text.replace(/(?<!\\)\[([^\]]+)\]/g, (_, inside: string) => `\\[${inside.replace('!', '\\!')}\\]`)
      const readings = named === text ? [text] : [text, named]
      return heads.flatMap((head) => readings.map((reading) => (head === '' ? reading : `${head}/${reading}`)))
    },
    [''],
  )
}

/** Seed 002's trailing `*`, folders as subtrees, and the folder itself as part of its subtree. */
function settledForms(variant: string): string[] {
  const folder = variant.replace(/(^|\/)(\*\*\/)*\*{1,2}$/, '')
  if (folder !== variant) return folder === '' ? ['**'] : [folder, `${folder}/**`]
  if (isWild(variant) || /[^/]\.[^./]+$/.test(variant)) return [variant]
  return [variant, `${variant}/**`]
}

function check(a: Subject, b: Subject): void {
  const found = overlap(a.scope, b.scope)
  const pair = `${a.raw}  |  ${b.raw}`
  if (JSON.stringify(overlap(b.scope, a.scope)) !== JSON.stringify(found)) throw new Error(`${pair}: not symmetric`)
  if (found.kind === 'disjoint') {
    for (const [m, accepted] of a.accepted.entries()) {
      const missed = TREE.find((_, i) => accepted[i] === 1 && b.accepted[m]?.[i] === 1)
      if (missed !== undefined) throw new Error(`${pair}: called disjoint, but ${missed} is in both (matcher ${m})`)
    }
    return
  }
  const { witness } = found
  const isBelowFile = (s: Subject): boolean => s.files.some((file) => witness.startsWith(`${file}/`))
  for (const [m, matches] of a.matchers.entries())
    if (!(matches(witness) || isBelowFile(a)) || !(b.matchers[m]?.(witness) === true || isBelowFile(b)))
      throw new Error(`${pair}: ${witness} is not in both (matcher ${m})`)
  if (overlap(a.scope, scopeOfPath(witness, { caseSensitive: true })).kind === 'disjoint')
    throw new Error(`${pair}: a guard would not see ${witness}`)
}

const POOL = 48
const pairs = (POOL * (POOL + 1)) / 2

test('20,000 pairs: nothing missed, no overlap without a real witness, symmetric', () => {
  fc.assert(
    fc.property(fc.array(pattern, { minLength: POOL, maxLength: POOL }), (raws) => {
      const subjects = raws.map(subject)
      for (const [i, a] of subjects.entries()) for (const b of subjects.slice(i)) check(a, b)
    }),
    { numRuns: Math.ceil(scaled(20_000, 1_000_000) / pairs), endOnFailure: true },
  )
})
