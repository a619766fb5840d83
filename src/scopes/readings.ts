// What the disk has to say about a pattern: which reading of `[…]` is meant, where symlinks lead, file or folder.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { SCOPE_ALTERNATIVES_MAX } from '../limits.ts'
import { literalPrefix } from './pattern.ts'
import type { Rooted } from './rooted.ts'
import type { Lookup, ScopeContext } from './scope.ts'
import { compileSegment, GLOBSTAR, isPossible, namedClasses, type Segment } from './segment.ts'
import { isSign, plainText, type Token, tooMany } from './tokens.ts'

/** One pattern, settled: folders and paths that may become one end in `**`. */
export interface Reading {
  readonly segments: readonly Segment[]
  readonly kind: 'file' | 'dir' | 'unknown' | 'glob'
}

/**
 * Route folders are called `[id]`, and `[id]` is also a class of two letters. Where the literal name exists it is
 * meant; otherwise both readings count.
 */
export function readings(raw: string, rooted: Rooted, context: ScopeContext): Reading[] {
  return bracketReadings(rooted.segments, context.lookup)
    .map((segments) => segments.map((tokens) => compileSegment(tokens, !context.caseSensitive)))
    .filter((segments) => segments.every(isPossible))
    .map((segments) => settle(raw, segments, rooted, context))
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

function settle(
  raw: string,
  compiled: Segment[],
  { isFolder }: Rooted,
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
  if (rest.length > 0) return { segments: [...base, ...rest], kind: 'glob' }
  const kind = isFolder ? 'dir' : found.kind === 'missing' ? guess(path) : found.kind
  return { segments: kind === 'file' ? base : [...base, GLOBSTAR], kind }
}

/** A path that does not exist yet is taken for a file when it has an extension; otherwise it may become either. */
function guess(path: string): 'file' | 'unknown' {
  return /[^/]\.[^./]+$/.test(path) ? 'file' : 'unknown'
}

export function literalSegments(path: string, caseSensitive: boolean): Segment[] {
  const text = path.normalize('NFC')
  return (caseSensitive ? text : text.toLowerCase())
    .split('/')
    .filter((name) => name !== '')
    .map((name) => ({ kind: 'literal', text: name }))
}
