// File or folder by name alone, for what no disk can decide: a name with an extension is a file's.
import { type CharSet, intersect } from './chars.ts'
import type { ScopeSegment } from './segment.ts'

const DOT = 0x2e

/** Letters, and whatever lies beyond ASCII. Digits alone are no extension: `v2.0` is a folder. */
const LETTERS: CharSet = [0x41, 0x5a, 0x61, 0x7a, 0x80, 0x10ffff]
const EXTENSION = /.\.[^.]*[A-Za-z\u0080-\u{10ffff}][^.]*$/u

/**
 * Is this the name of a file? What follows the last dot has to have a letter in it, or a wildcard that may stand for
 * one; a name that merely begins with a dot (`.github`) has no extension.
 */
export function hasExtension(segment: ScopeSegment): boolean {
  if (segment.kind === 'globstar') return false
  if (segment.kind === 'literal') return EXTENSION.test(segment.text)
  const { atoms } = segment
  const dot = atoms.findLastIndex((atom) => !atom.star && isOnly(atom.set, DOT))
  return dot > 0 && atoms.slice(dot + 1).some((atom) => atom.star || intersect(atom.set, LETTERS).length > 0)
}

function isOnly(set: CharSet, point: number): boolean {
  return set.length === 2 && set[0] === point && set[1] === point
}
