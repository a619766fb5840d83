// What the disk has to say about a pattern: which reading of `[…]` is meant, where symlinks lead, file or folder.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { SCOPE_ALTERNATIVES_MAX } from '../limits.ts'
import { hasExtension } from './extension.ts'
import { literalPrefix } from './pattern.ts'
import type { Rooted } from './rooted.ts'
import type { Lookup, ScopeContext } from './scope.ts'
import { compileSegment, GLOBSTAR, isPossible, namedClasses, type ScopeSegment } from './segment.ts'
import { isSign, plainText, type Token, tooMany } from './tokens.ts'

/** One pattern, settled: what names a folder ends in `**`. */
export interface Reading {
  readonly segments: readonly ScopeSegment[]
  readonly kind: 'file' | 'dir' | 'unknown' | 'glob'
}

/**
 * Route folders are called `[id]`, and `[id]` is also a class of two letters. Where the literal name exists it is
 * meant; otherwise both readings count.
 */
export function readings(raw: string, rooted: Rooted, context: ScopeContext, hasSymbol: boolean): Reading[] {
  return bracketReadings(rooted.segments, context.lookup)
    .map((segments) => segments.map((tokens) => compileSegment(tokens, !context.caseSensitive)))
    .filter((segments) => segments.every(isPossible))
    .map((segments) => settle(raw, segments, { isFolder: rooted.isFolder, hasSymbol }, context))
}

interface Partial {
  readonly segments: readonly (readonly Token[])[]
  /** The literal path so far; absent once a wildcard came. */
  readonly path: string | undefined
}

function bracketReadings(segments: readonly (readonly Token[])[], lookup: Lookup): (readonly (readonly Token[])[])[] {
  let partials: Partial[] = [{ segments: [], path: '' }]
  for (const segment of segments) {
    partials = partials.flatMap((partial) => extend(partial, segment, lookup))
    if (partials.length > SCOPE_ALTERNATIVES_MAX) throw tooMany(segments.flat())
  }
  return partials.map((partial) => partial.segments)
}

function extend(partial: Partial, segment: readonly Token[], lookup: Lookup): Partial[] {
  const name = plainText(segment)
  const path = partial.path === undefined ? undefined : partial.path === '' ? name : `${partial.path}/${name}`
  const add = (tokens: readonly Token[], path: string | undefined): Partial => ({
    segments: [...partial.segments, tokens],
    path,
  })
  const named = namedClasses(segment)
  const isWild = (named ?? segment).some((token) => isSign(token, '*?'))
  const literalPath = isWild ? undefined : path
  if (named === undefined) return [add(segment, literalPath)]
  const isOnDisk = literalPath !== undefined && lookup.look(literalPath).kind !== 'missing'
  return isOnDisk ? [add(named, literalPath)] : [add(named, literalPath), add(segment, undefined)]
}

interface Written {
  readonly isFolder: boolean
  /** A symbol lives in a file, also in one that does not exist yet and has no extension. */
  readonly hasSymbol: boolean
}

function settle(
  raw: string,
  compiled: ScopeSegment[],
  written: Written,
  { caseSensitive, lookup }: ScopeContext,
): Reading {
  // Seed 002 §5.2: a last segment `*` is the whole subtree.
  const last = compiled.at(-1)
  if (last?.kind === 'pattern' && last.text === '*') compiled[compiled.length - 1] = GLOBSTAR
  const prefix = literalPrefix(compiled)
  const path = prefix.join('/')
  const found = path === '' ? { kind: 'dir' as const, path } : lookup.look(path)
  if (found.kind === 'outside')
    throw new HeimdallError(
      'PATH_OUTSIDE_ROOT',
      `scope ${printable(raw)} leads out of the project through a symlink, to ${printable(found.path)}`,
      { hint: 'name paths inside the project' },
    )
  const base = literalSegments(found.path, caseSensitive)
  const rest = compiled
    .slice(prefix.length)
    .filter((segment, i, all) => segment !== GLOBSTAR || all[i - 1] !== GLOBSTAR)
  if (rest.length === 1 && rest[0] === GLOBSTAR) return { segments: [...base, GLOBSTAR], kind: 'dir' }
  if (rest.length > 0) {
    const holdsBelow = rest.at(-1) !== GLOBSTAR && namesFolder(rest.at(-1), written)
    return { segments: [...base, ...rest, ...(holdsBelow ? [GLOBSTAR] : [])], kind: 'glob' }
  }
  const guess = namesFolder(base.at(-1), written) ? 'unknown' : 'file'
  const kind = written.isFolder ? 'dir' : found.kind === 'missing' ? guess : found.kind
  return { segments: kind === 'file' ? base : [...base, GLOBSTAR], kind }
}

/** Where the disk does not say: without an extension a name may become a folder, and then holds what is below it. */
function namesFolder(last: ScopeSegment | undefined, { isFolder, hasSymbol }: Written): boolean {
  return isFolder || (!hasSymbol && (last === undefined || !hasExtension(last)))
}

export function literalSegments(path: string, caseSensitive: boolean): ScopeSegment[] {
  const text = path.normalize('NFC')
  return (caseSensitive ? text : text.toLowerCase())
    .split('/')
    .filter((name) => name !== '')
    .map((name) => ({ kind: 'literal', text: name }))
}
