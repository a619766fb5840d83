// Whether a scope holds one path: the path itself is named, or stands below what is named.
import { compilePattern, createPattern, isBelow, type Pattern } from './pattern.ts'
import { literalSegments } from './readings.ts'
import type { Scope } from './scope.ts'

const compiledOf = new WeakMap<Scope, readonly Pattern[]>()

/** `path` is literal, relative to the root that the scope was made for, without `.` and `..`; empty for the root itself. */
export function holds(scope: Scope, path: string): boolean {
  let patterns = compiledOf.get(scope)
  if (patterns === undefined) {
    patterns = scope.patterns.map(compilePattern)
    compiledOf.set(scope, patterns)
  }
  const literal = createPattern(literalSegments(path, true))
  return patterns.some((pattern) => isBelow(literal, pattern))
}
