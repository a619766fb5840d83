// How large a regex becomes once its counted repeats are written out: `(ab){100}` is 200 characters of work, in compiling and in matching.

/** A class of Unicode is a table of hundreds of ranges. */
const UNICODE_CLASS_SIZE = 20

/**
 * An upper bound by a scan over the pattern; it need not know which patterns are valid. Nested repeats multiply, which
 * is how a pattern of twenty characters can keep the compiler busy for seconds.
 */
export function regexSize(pattern: string): number {
  const groups: { size: number; last: number }[] = [{ size: 0, last: 0 }]
  const add = (size: number): void => {
    const group = groups.at(-1)
    if (group === undefined) return
    group.size += size
    group.last = size
  }
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern.charAt(i)
    if (char === '\\') {
      i += 1
      add(/[pP]/.test(pattern.charAt(i)) ? UNICODE_CLASS_SIZE : 1)
    } else if (char === '[') {
      const end = classEnd(pattern, i)
      add(1 + (pattern.slice(i, end).includes('\\p') ? UNICODE_CLASS_SIZE : 0))
      i = end
    } else if (char === '(') groups.push({ size: 1, last: 0 })
    else if (char === ')' && groups.length > 1) add((groups.pop()?.size ?? 0) + 1)
    else if (char === '{') {
      const counts = /^\{(\d*)(?:,(\d*))?\}/.exec(pattern.slice(i, i + 24))
      const group = groups.at(-1)
      if (counts !== null && group !== undefined) {
        const times = Math.max(Number(counts[1] ?? 0), Number(counts[2] ?? 0), 1)
        group.size += group.last * (times - 1)
        group.last *= times
        i += counts[0].length - 1
      } else add(1)
    } else add(1)
  }
  return groups.reduce((sum, { size }) => sum + size, 0)
}

/** Where the class that begins at `start` ends; a `]` right after `[` or `[^` belongs to it. */
function classEnd(pattern: string, start: number): number {
  let i = start + (pattern.charAt(start + 1) === '^' ? 2 : 1)
  for (let isFirst = true; i < pattern.length; i += 1, isFirst = false) {
    if (pattern.charAt(i) === '\\') i += 1
    else if (pattern.startsWith('[:', i)) i = Math.max(i, pattern.indexOf(':]', i) + 1)
    else if (pattern.charAt(i) === ']' && !isFirst) return i
  }
  return pattern.length - 1
}
