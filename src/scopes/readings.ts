// What the disk has to say about a pattern: which reading of `[…]` is meant, where symlinks lead, file or folder.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { SCOPE_ALTERNATIVES_MAX } from '../limits.ts'
import { literalTokens, type Rooted } from './rooted.ts'
import type { Lookup, ScopeContext } from './scope.ts'
import { compileSegment, GLOBSTAR, hasClass, type Segment } from './segment.ts'
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
  return bracketReadings(rooted.segments, context.lookup).map((segments) => settle(raw, segments, rooted, context))
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
  if (segment.some((token) => isSign(token, '*?'))) return [add(segment, undefined)]
  if (!hasClass(segment)) return [add(segment, path)]
  const asLiteral = add(literalTokens(name), path)
  const isOnDisk = path !== undefined && lookup.look(path).kind !== 'missing'
  return isOnDisk ? [asLiteral] : [asLiteral, add(segment, undefined)]
}

function settle(
  raw: string,
  tokens: readonly (readonly Token[])[],
  { isFolder }: Rooted,
  { caseSensitive, lookup }: ScopeContext,
): Reading {
  const compiled = tokens.map((segment) => compileSegment(segment, !caseSensitive))
  // Seed 002 §5.2: a last segment `*` is the whole subtree.
  const last = compiled.at(-1)
  if (last?.kind === 'pattern' && last.text === '*') compiled[compiled.length - 1] = GLOBSTAR
  const wild = compiled.findIndex((segment) => segment.kind !== 'literal')
  const literalCount = wild < 0 ? compiled.length : wild
  const path = tokens.slice(0, literalCount).map(plainText).join('/')
  const found = path === '' ? { kind: 'dir' as const, path } : lookup.look(path)
  if (found.kind === 'outside')
    throw new HeimdallError(
      'PATH_OUTSIDE_ROOT',
      `scope ${printable(raw)} leads out of the project through a symlink, to ${printable(found.path)}`,
      { hint: 'name paths inside the project' },
    )
  const base = literalSegments(found.path, caseSensitive)
  const rest = compiled.slice(literalCount).filter((segment, i, all) => segment !== GLOBSTAR || all[i - 1] !== GLOBSTAR)
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
