// Overlap against brute force: two matchers that others wrote, over every path of a tree in which every name, a file's too, has a folder's worth of names below it.
import fc from 'fast-check'
import { Minimatch } from 'minimatch'
import picomatch from 'picomatch'
import { test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { overlap } from './overlap.ts'
import { NO_DISK, parseScope, type Scope, scopeOfPath } from './scope.ts'

const NAMES = ['a', 'b', 'ab', 'ba', '.a', 'a.b', 'b.c', 'a.0', '*', '[ab]', 'é', 'aab']
const TREE = ['', '', '']
  .reduce<string[]>((paths) => [...NAMES, ...paths.flatMap((path) => NAMES.map((name) => `${path}/${name}`))], [])
  .toSorted((a, b) => a.split('/').length - b.split('/').length)
const PLACES = new Map(TREE.map((path, i) => [path, i]))
const PARENTS = TREE.map((path) => PLACES.get(path.slice(0, Math.max(0, path.lastIndexOf('/')))))

const atom = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', '.', '0', 'é') },
  { weight: 3, arbitrary: fc.constantFrom('*', '?') },
  { weight: 2, arbitrary: fc.constantFrom('[ab]', '[!a]', '[^b.]', '[a-c]', '[!a-b]') },
  { weight: 1, arbitrary: fc.constantFrom('{a,b}', '{a*,.b}', '{b,a/b}', '\\*', '\\[', '\\]') },
)
const segment = fc.oneof(
  { weight: 5, arbitrary: fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join('')) },
  { weight: 2, arbitrary: fc.constant('**') },
  { weight: 2, arbitrary: fc.constantFrom(...NAMES.slice(0, 8)) },
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
  /** Literal file names: what is named below one collides with it although no matcher says so. */
  readonly files: readonly string[]
  /** The literal names in front of the first wildcard, for each alternative. */
  readonly bases: readonly string[]
  readonly matchers: readonly ((path: string) => boolean)[]
  /** Which paths of the tree each matcher accepts. */
  readonly accepted: readonly Uint8Array[]
  /** Names above what is named that have to be folders for it: those written out, and wildcards that look like a file's. */
  readonly above: readonly ((path: string) => boolean)[]
}

function subject(raw: string): Subject {
  const variants = new Minimatch(raw).braceExpand().flatMap(bracketReadings).map(meaning)
  const compilers = [
    // Its fast paths know a few patterns by heart and want a letter behind the dot of `*.*`, which its own grammar does not.
    (text: string) => picomatch(text, { dot: true, nobrace: true, noextglob: true, posix: true, fastpaths: false }),
    minimatcher,
  ]
  return {
    raw,
    scope: parseScope(raw, { root: '/p', cwd: '/p', caseSensitive: true, lookup: NO_DISK }),
    files: variants.filter(({ text, isFolder }) => !isFolder && !isWild(text)).map(({ text }) => unescaped(text)),
    bases: variants.map(({ text }) => unescaped(literalBase(text))),
    matchers: compilers.map((compile) => anyOf(variants.map((variant) => member(variant, compile)))),
    accepted: compilers.map((compile) => membersOfTree(variants, compile)),
    above: compilers.map((compile) => anyOf(variants.flatMap(({ text }) => foldersAbove(text)).map(compile))),
  }
}

function foldersAbove(text: string): string[] {
  const names = text.split('/')
  return names.slice(0, -1).flatMap((name, i) => {
    const isNamed = name !== '**' && (!isWild(name) || hasExtension(name))
    return isNamed ? [names.slice(0, i + 1).join('/')] : []
  })
}

interface Variant {
  readonly text: string
  readonly isFolder: boolean
}

type Compile = (text: string) => (path: string) => boolean

/** What names a folder holds what is below it: a matcher is asked about the path and about every folder above it. */
function member({ text, isFolder }: Variant, compile: Compile): (path: string) => boolean {
  if (text === '') return () => true
  const matches = compile(text)
  if (!isFolder) return matches
  return (path) => {
    const names = path.split('/')
    return names.some((_, i) => matches(names.slice(0, i + 1).join('/')))
  }
}

/** The same for the whole tree, where a folder comes before what is below it and need not be asked again. */
function membersOfTree(variants: readonly Variant[], compile: Compile): Uint8Array {
  const all = new Uint8Array(TREE.length)
  for (const { text, isFolder } of variants) {
    const matches = text === '' ? () => true : compile(text)
    const own = new Uint8Array(TREE.length)
    for (const [i, path] of TREE.entries())
      if ((isFolder && own[PARENTS[i] ?? -1] === 1) || matches(path)) all[i] = own[i] = 1
  }
  return all
}

/** Seed 002's trailing `*` is the folder in front of it; without an extension of letters a name is a folder's. */
function meaning(variant: string): Variant {
  const folder = variant.replace(/(^|\/)(\*\*\/)*\*{1,2}$/, '')
  return folder === variant
    ? { text: variant, isFolder: !hasExtension(variant.split('/').at(-1) ?? '') }
    : { text: folder, isFolder: true }
}

/** A class of these patterns always has a letter in it; an escaped sign is none. */
function hasExtension(name: string): boolean {
  const plain = name.replace(/\\./g, '_').replace(/\[[^\]]+\]/g, 'L')
  return /.\.[^.]*[A-Za-zé*?][^.]*$/.test(plain)
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1')

function literalBase(text: string): string {
  const names = text.split('/')
  const wild = names.findIndex(isWild)
  return names.slice(0, wild < 0 ? names.length : wild).join('/')
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

const ancestors = (path: string): string[] =>
  path.split('/').flatMap((_, i, names) => (i === 0 ? [] : [names.slice(0, i).join('/')]))

function check(a: Subject, b: Subject): void {
  const found = overlap(a.scope, b.scope)
  const pair = `${a.raw}  |  ${b.raw}`
  if (JSON.stringify(overlap(b.scope, a.scope)) !== JSON.stringify(found)) throw new Error(`${pair}: not symmetric`)
  if (found.kind === 'disjoint') {
    for (const [m, accepted] of a.accepted.entries()) {
      const missed = TREE.find((_, i) => accepted[i] === 1 && b.accepted[m]?.[i] === 1)
      if (missed !== undefined) throw new Error(`${pair}: called disjoint, but ${missed} is in both (matcher ${m})`)
      const folder = TREE.find(
        (path, i) =>
          (accepted[i] === 1 && b.above[m]?.(path) === true) ||
          (b.accepted[m]?.[i] === 1 && a.above[m]?.(path) === true),
      )
      if (folder !== undefined) throw new Error(`${pair}: called disjoint, but ${folder} is a folder (matcher ${m})`)
    }
    return
  }
  const { witness } = found
  // Seed 002 §5.2: parent and child overlap, so whoever names a path below a file collides with the file.
  const isBelowFile = (s: Subject, other: Subject): boolean =>
    s.files.some(
      (file) => witness.startsWith(`${file}/`) && other.bases.some((base) => `${base}/`.startsWith(`${file}/`)),
    )
  const isBelowMatch = (s: Subject, other: Subject, m: number): boolean =>
    ancestors(witness).some((path) => s.matchers[m]?.(path) === true && other.above[m]?.(path) === true)
  for (const [m, matches] of a.matchers.entries())
    if (
      !(matches(witness) || isBelowFile(a, b) || isBelowMatch(a, b, m)) ||
      !(b.matchers[m]?.(witness) === true || isBelowFile(b, a) || isBelowMatch(b, a, m))
    )
      throw new Error(`${pair}: ${witness} is not in both (matcher ${m})`)
  if (overlap(a.scope, scopeOfPath(witness, { caseSensitive: true })).kind === 'disjoint')
    throw new Error(`${pair}: a guard would not see ${witness}`)
}

const POOL = 48
const pairs = (POOL * (POOL + 1)) / 2

test('pairs of patterns: nothing missed, no overlap without a real witness, symmetric', () => {
  fc.assert(
    fc.property(fc.array(pattern, { minLength: POOL, maxLength: POOL }), (raws) => {
      const subjects = raws.map(subject)
      for (const [i, a] of subjects.entries()) for (const b of subjects.slice(i)) check(a, b)
    }),
    { numRuns: Math.ceil(scaled(1_000, 1_000_000) / pairs), endOnFailure: true },
  )
})
