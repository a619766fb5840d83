// Globs over names of servers and tools: `*` is any text, also across `/`, `?` one character, `[a-z]` and `[!a-z]` a class, `\` quotes.

export type NameTest = (name: string) => boolean

type Part = { readonly kind: 'star' } | { readonly kind: 'one'; readonly holds: (char: string) => boolean }

/** A test for one glob, or why it is none. Plain names, prefixes and suffixes need no search. */
export function compileGlob(glob: string): NameTest | { readonly fault: string } {
  if (!/[[\]?\\]/.test(glob)) return literalTest(glob)
  const parts = partsOf(glob)
  return 'fault' in parts ? parts : (name) => matches(parts, Array.from(name))
}

/** The same glob in its shortest form: `**` says no more than `*` where nothing stops a star. */
export function normalizeGlob(glob: string): string {
  return /[[\\]/.test(glob) ? glob : glob.replace(/\*{2,}/g, '*')
}

function literalTest(glob: string): NameTest {
  const pieces = glob.split('*')
  const [first = '', ...rest] = pieces
  const last = rest.pop()
  if (last === undefined) return (name) => name === glob
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    const end = name.length - last.length
    for (const piece of rest) {
      const found = name.indexOf(piece, at)
      if (found === -1 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}

function partsOf(glob: string): Part[] | { readonly fault: string } {
  const parts: Part[] = []
  const chars = Array.from(glob)
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? ''
    if (char === '*') {
      if (parts.at(-1)?.kind !== 'star') parts.push({ kind: 'star' })
    } else if (char === '?') parts.push({ kind: 'one', holds: () => true })
    else if (char === '[') {
      const set = classAt(chars, i + 1)
      if (set === undefined) return { fault: 'a [ without its ]' }
      parts.push({ kind: 'one', holds: set.holds })
      i = set.end
    } else {
      if (char === '\\') i += 1
      const literal = chars[i]
      if (literal === undefined) return { fault: 'a \\ with nothing after it' }
      parts.push({ kind: 'one', holds: (other) => other === literal })
    }
  }
  return parts
}

/** A class from after its `[`; a `]` that comes first belongs to it. */
function classAt(
  chars: readonly string[],
  start: number,
): { readonly holds: (char: string) => boolean; readonly end: number } | undefined {
  const isNegated = chars[start] === '!' || chars[start] === '^'
  const ranges: [string, string][] = []
  let i = isNegated ? start + 1 : start
  for (let isFirst = true; i < chars.length; isFirst = false) {
    let low = chars[i] ?? ''
    if (low === ']' && !isFirst) {
      const holds = (char: string): boolean =>
        ranges.some(([from, to]) => pointOf(char) >= pointOf(from) && pointOf(char) <= pointOf(to))
      return { holds: isNegated ? (char) => !holds(char) : holds, end: i }
    }
    if (low === '\\') low = chars[++i] ?? ''
    if (chars[i + 1] === '-' && chars[i + 2] !== ']' && chars[i + 2] !== undefined) {
      ranges.push([low, chars[i + 2] ?? ''])
      i += 3
    } else {
      ranges.push([low, low])
      i += 1
    }
  }
  return undefined
}

function pointOf(char: string): number {
  return char.codePointAt(0) ?? 0
}

/** On a mismatch only the last star gives way, so the work is at most name times glob. */
function matches(parts: readonly Part[], name: readonly string[]): boolean {
  let p = 0
  let star = -1
  let starAt = 0
  for (let n = 0; n < name.length;) {
    const part = parts[p]
    if (part?.kind === 'star') {
      star = p++
      starAt = n
    } else if (part?.kind === 'one' && part.holds(name[n] ?? '')) {
      p += 1
      n += 1
    } else if (star >= 0) {
      p = star + 1
      n = ++starAt
    } else return false
  }
  while (parts[p]?.kind === 'star') p += 1
  return p === parts.length
}
