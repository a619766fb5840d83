// A whole path pattern without braces: its segments, and a path that two of them both match.
import { hasExtension } from './extension.ts'
import { commonName, compileSegment, GLOBSTAR, type ScopeSegment, segmentText } from './segment.ts'
import { splitSegments, tokeniseCanonical } from './tokens.ts'

export interface Pattern {
  readonly segments: readonly ScopeSegment[]
  readonly base: readonly string[]
  /** No wildcard at all: the pattern names one path. */
  readonly isLiteral: boolean
}

export function createPattern(segments: readonly ScopeSegment[]): Pattern {
  const base = literalPrefix(segments)
  return { segments, base, isLiteral: base.length === segments.length }
}

/** The names in front of the first wildcard. */
export function literalPrefix(segments: readonly ScopeSegment[]): string[] {
  const names: string[] = []
  for (const segment of segments) {
    if (segment.kind !== 'literal') break
    names.push(segment.text)
  }
  return names
}

export function patternText(segments: readonly ScopeSegment[]): string {
  return segments.map(segmentText).join('/')
}

/** Reads canonical text back; case was folded when it was made. */
export function compilePattern(text: string): Pattern {
  return createPattern(splitSegments(tokeniseCanonical(text)).map((tokens) => compileSegment(tokens, false)))
}

const EVERYTHING = createPattern([GLOBSTAR])

/** Some path that the pattern matches. */
function samplePath(pattern: Pattern): string | undefined {
  return meet(pattern, EVERYTHING)
}

/** A path that both patterns match, or nothing. */
function meet(a: Pattern, b: Pattern): string | undefined {
  const columns = b.segments.length + 1
  const failed = new Uint8Array((a.segments.length + 1) * columns)
  const names: string[] = []

  /** Puts `name` on the path if what remains can be walked. */
  const step = (name: string | undefined, i: number, j: number): boolean => {
    if (name === undefined) return false
    names.push(name)
    if (walk(i, j)) return true
    names.pop()
    return false
  }
  const walk = (i: number, j: number): boolean => {
    const segmentA = a.segments[i]
    const segmentB = b.segments[j]
    if (segmentA === undefined && segmentB === undefined) return true
    const at = i * columns + j
    if (failed[at] === 1) return false
    failed[at] = 1
    const isWideA = segmentA?.kind === 'globstar'
    const isWideB = segmentB?.kind === 'globstar'
    if (isWideA && isWideB) {
      // Both run on to the end: a path below the folder shows it better than the folder itself.
      if (i + 1 === a.segments.length && j + 1 === b.segments.length) return step('x', i + 1, j + 1)
      return walk(i + 1, j) || walk(i, j + 1)
    }
    if (isWideA) return walk(i + 1, j) || (segmentB !== undefined && step(commonName(segmentA, segmentB), i, j + 1))
    if (isWideB) return walk(i, j + 1) || (segmentA !== undefined && step(commonName(segmentA, segmentB), i + 1, j))
    return segmentA !== undefined && segmentB !== undefined && step(commonName(segmentA, segmentB), i + 1, j + 1)
  }
  return walk(0, 0) ? names.join('/') : undefined
}

/** Is there a folder at this path now? */
export type IsFolder = (path: string) => boolean

/**
 * A path over which holders of these two patterns would collide. Besides a path that both match, that is any path
 * of one that is named below a file that the other names: parent and child (seed 002 §5.2). What a pattern of files
 * may match below a file's name counts only once there is a folder: `README.md` and `**\/*.ts` would else collide.
 */
export function collide(a: Pattern, b: Pattern, isFolder: IsFolder | undefined): string | undefined {
  if (!isPrefix(a.base, b.base) && !isPrefix(b.base, a.base)) return undefined
  if (a.isLiteral && isPrefix(a.base, b.base)) return samplePath(b)
  if (b.isLiteral && isPrefix(b.base, a.base)) return samplePath(a)
  const path = meet(a, b) ?? meetAbove(a, b) ?? meetAbove(b, a)
  if (path !== undefined || isFolder === undefined) return path
  return meetBelow(a, b, isFolder) ?? meetBelow(b, a, isFolder)
}

/**
 * A path of `child` where `parent` matches a folder above it: `etc/*.d` and `etc/conf.d/x.conf`. What is named below a
 * name makes that name a folder's, whatever it looks like. A wildcard above that looks like no file's name
 * (`src/*\/x.js`) stands for folders that `src/*.ts` does not mean.
 */
function meetAbove(parent: Pattern, child: Pattern): string | undefined {
  const last = parent.segments.at(-1)
  if (last === undefined || last.kind === 'globstar') return undefined
  for (let length = child.segments.length - 1; length > 0; length -= 1) {
    const above = child.segments[length - 1]
    if (above === undefined || (above.kind !== 'literal' && !hasExtension(above))) continue
    if (commonName(last, above) === undefined) continue
    const folder = meet(parent, createPattern(child.segments.slice(0, length)))
    if (folder === undefined) continue
    const below = samplePath(createPattern(child.segments.slice(length)))
    if (below !== undefined) return `${folder}/${below}`
  }
  return undefined
}

/** Whether the path that `literal` names is one of `pattern`, or stands below the one path that it names. */
export function isBelow(literal: Pattern, pattern: Pattern): boolean {
  if (pattern.isLiteral) return isPrefix(pattern.base, literal.base)
  return (meet(pattern, literal) ?? meetAbove(pattern, literal)) !== undefined
}

function meetBelow(file: Pattern, other: Pattern, isFolder: IsFolder): string | undefined {
  if (!file.isLiteral) return undefined
  const path = meet(createPattern([...file.segments, GLOBSTAR]), other)
  return path !== undefined && isFolder(file.base.join('/')) ? path : undefined
}

function isPrefix(short: readonly string[], long: readonly string[]): boolean {
  if (short.length > long.length) return false
  for (let i = short.length - 1; i >= 0; i -= 1) if (short[i] !== long[i]) return false
  return true
}
