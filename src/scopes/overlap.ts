// Do two scopes collide, and over which path? Exact: a product of both patterns, not a comparison of prefixes.
import { basesMeet } from './base.ts'
import { collide, compilePattern, type IsFolder, type Pattern } from './pattern.ts'
import type { Scope } from './scope.ts'

type Overlap =
  | { readonly kind: 'disjoint' }
  /** `witness` is a path inside both, with `#symbol` when the collision is about one. */
  | { readonly kind: 'exact' | 'partial'; readonly witness: string }

const DISJOINT: Overlap = { kind: 'disjoint' }

/**
 * Symmetric: the order of the arguments changes neither the kind nor the witness. With `isFolder`, a name that was a
 * file's when its scope was made and is a folder's now holds what is below it.
 */
export function overlap(a: Scope, b: Scope, isFolder?: IsFolder): Overlap {
  return b.canonical < a.canonical ? compare(b, a, isFolder) : compare(a, b, isFolder)
}

function compare(a: Scope, b: Scope, isFolder: IsFolder | undefined): Overlap {
  const kind = a.canonical === b.canonical ? 'exact' : 'partial'
  if (a.kind === 'virtual' || b.kind === 'virtual') return kind === 'exact' ? { kind, witness: a.canonical } : DISJOINT
  if (!basesMeet(a.base, b.base)) return DISJOINT
  const path = commonPath(a, b, isFolder)
  if (path === undefined) return DISJOINT
  if (a.symbol === null || b.symbol === null) return { kind, witness: path }
  // Symbols part two scopes only where both name one and the same file.
  const isOneFile = a.kind === 'file' && b.kind === 'file' && a.base === b.base
  if (!isOneFile) return { kind, witness: path }
  const symbol = deeperSymbol(a.symbol, b.symbol)
  return symbol === undefined ? DISJOINT : { kind, witness: `${path}#${symbol}` }
}

function commonPath(a: Scope, b: Scope, isFolder: IsFolder | undefined): string | undefined {
  const patternsB = compiled(b)
  for (const patternA of compiled(a))
    for (const patternB of patternsB) {
      const path = collide(patternA, patternB, isFolder)
      if (path !== undefined) return path
    }
  return undefined
}

/** The longer of two symbol paths when one contains the other: `Parser` and `Parser::read` or `Parser.read`; `*` is any name. */
function deeperSymbol(a: string, b: string): string | undefined {
  const [namesA, namesB] = [a.split(BETWEEN_NAMES), b.split(BETWEEN_NAMES)]
  const isSame = namesA.every((name, i) => {
    const other = namesB[i]
    return other === undefined || name === other || name === '*' || other === '*'
  })
  if (!isSame) return undefined
  if (namesA.length !== namesB.length) return namesA.length > namesB.length ? a : b
  return b.includes('*') ? a : b
}

const BETWEEN_NAMES = /::|\./

// Scopes are immutable and compared again and again; their compiled form lives as long as they do.
const compiledOf = new WeakMap<Scope, readonly Pattern[]>()

function compiled(scope: Scope): readonly Pattern[] {
  const known = compiledOf.get(scope)
  if (known !== undefined) return known
  const patterns = scope.patterns.map(compilePattern)
  compiledOf.set(scope, patterns)
  return patterns
}
