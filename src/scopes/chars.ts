// Sets of characters as sorted code-point ranges: what `?`, `[a-z]` and `[!x]` stand for.

/** `[low, high, low, high, …]`, inclusive, sorted, never touching. */
export type CharSet = readonly number[]

const SLASH = 0x2f
const DOT = 0x2e

/** Every character a file name may hold: not NUL, not `/`, not half of a surrogate pair. */
export const ANY_CHAR: CharSet = [1, SLASH - 1, SLASH + 1, 0xd7ff, 0xe000, 0x10ffff]

/** Sorts and joins ranges, and drops what no file name may hold. */
export function charSet(ranges: readonly (readonly [number, number])[]): CharSet {
  const merged: number[] = []
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last !== undefined && low <= last + 1) merged[merged.length - 1] = Math.max(last, high)
    else merged.push(low, high)
  }
  return intersect(merged, ANY_CHAR)
}

export function complement(set: CharSet): CharSet {
  const gaps: number[] = []
  let next = 0
  for (let i = 0; i < set.length; i += 2) {
    const low = set[i] ?? 0
    if (low > next) gaps.push(next, low - 1)
    next = (set[i + 1] ?? 0) + 1
  }
  if (next <= 0x10ffff) gaps.push(next, 0x10ffff)
  return intersect(gaps, ANY_CHAR)
}

export function intersect(a: CharSet, b: CharSet): CharSet {
  if (a === b || b === ANY_CHAR) return a
  if (a === ANY_CHAR) return b
  const both: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const low = Math.max(a[i] ?? 0, b[j] ?? 0)
    const highA = a[i + 1] ?? 0
    const highB = b[j + 1] ?? 0
    if (low <= Math.min(highA, highB)) both.push(low, Math.min(highA, highB))
    if (highA < highB) i += 2
    else j += 2
  }
  return both
}

export function has(set: CharSet, point: number): boolean {
  for (let i = 0; i < set.length; i += 2)
    if (point >= (set[i] ?? 0)) {
      if (point <= (set[i + 1] ?? 0)) return true
    } else return false
  return false
}

// A witness is shown to people: letters and digits before signs, signs before anything that does not print.
const READABLE: readonly CharSet[] = [
  [0x61, 0x7a],
  [0x41, 0x5a],
  [0x30, 0x39],
  [0x5f, 0x5f],
  [0x21, 0x7e],
]

/** A readable member of the set other than the dot, or nothing. */
export function pick(set: CharSet): number | undefined {
  if (set === ANY_CHAR) return READABLE[0]?.[0]
  if (set.length === 2 && set[0] === set[1]) return set[0] === DOT ? undefined : set[0]
  for (const readable of READABLE) {
    const found = firstBesideDot(intersect(set, readable))
    if (found !== undefined) return found
  }
  return firstBesideDot(set)
}

function firstBesideDot(set: CharSet): number | undefined {
  const low = set[0]
  if (low !== DOT) return low
  return set[1] === DOT ? set[2] : DOT + 1
}

/**
 * The set in a project whose file system ignores case: paths there are compared in lower case, so a letter stands
 * for its lower case. Only ranges small enough to be about letters are walked; a huge range holds both cases anyway.
 */
export function foldSet(set: CharSet): CharSet {
  const ranges: [number, number][] = []
  for (let i = 0; i < set.length; i += 2) {
    const low = set[i] ?? 0
    const high = set[i + 1] ?? 0
    ranges.push([low, high])
    for (let point = low; point <= Math.min(high, low + 0x600); point += 1) {
      const lower = String.fromCodePoint(point).toLowerCase().codePointAt(0) ?? point
      if (lower !== point) ranges.push([lower, lower])
    }
  }
  return charSet(ranges)
}
