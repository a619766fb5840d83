// One path segment as a pattern: compiling it, its canonical text, and a name that two of them both match.
import { ANY_CHAR, type CharSet, charSet, complement, foldSet, has, intersect, pick } from './chars.ts'
import { escapeText, isSign, type Token } from './tokens.ts'

/** One step of a segment: any run of characters, or one character out of a set. */
type Atom = { readonly star: true } | { readonly star: false; readonly set: CharSet }

export type ScopeSegment =
  | { readonly kind: 'globstar' }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'pattern'; readonly text: string; readonly atoms: readonly Atom[] }

export const GLOBSTAR: ScopeSegment = { kind: 'globstar' }
const STAR: Atom = { star: true }
const ANY_NAME: ScopeSegment = { kind: 'pattern', text: '*', atoms: [STAR] }

/** The canonical text of a segment: two segments that were written differently but mean the same look the same. */
export function segmentText(segment: ScopeSegment): string {
  return segment.kind === 'globstar' ? '**' : segment.kind === 'literal' ? escapeText(segment.text) : segment.text
}

/** Reads one segment. Two stars or more alone are `**`; a class of one character is that character. */
export function compileSegment(tokens: readonly Token[], folded: boolean): ScopeSegment {
  if (tokens.length > 1 && tokens.every((token) => isSign(token, '*'))) return GLOBSTAR
  const atoms: Atom[] = []
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i]
    if (token === undefined) break
    if (isSign(token, '*')) {
      if (atoms.at(-1) !== STAR) atoms.push(STAR)
    } else if (isSign(token, '?')) atoms.push({ star: false, set: ANY_CHAR })
    else {
      const found = isSign(token, '[') ? readClass(tokens, i, folded) : undefined
      if (found === undefined) for (const char of folded ? token.char.toLowerCase() : token.char) atoms.push(one(char))
      else {
        atoms.push({ star: false, set: found.set })
        i = found.end
      }
    }
  }
  return fromAtoms(atoms)
}

function one(char: string): Atom {
  const point = char.codePointAt(0) ?? 0
  return { star: false, set: [point, point] }
}

function fromAtoms(atoms: readonly Atom[]): ScopeSegment {
  const chars = atoms.map((atom) => (atom.star ? undefined : soleChar(atom.set)))
  if (chars.every((char) => char !== undefined)) return { kind: 'literal', text: chars.join('') }
  // A run of stars and question marks means the same in any order; the stars come last in its canonical form.
  const sorted = sortRuns(atoms)
  return { kind: 'pattern', text: sorted.map(atomText).join(''), atoms: sorted }
}

function sortRuns(atoms: readonly Atom[]): Atom[] {
  const sorted: Atom[] = []
  let hasStar = false
  const flush = (): void => {
    if (hasStar) sorted.push(STAR)
    hasStar = false
  }
  for (const atom of atoms) {
    if (atom.star) hasStar = true
    else {
      if (atom.set !== ANY_CHAR) flush()
      sorted.push(atom)
    }
  }
  flush()
  return sorted
}

function soleChar(set: CharSet): string | undefined {
  return set.length === 2 && set[0] === set[1] ? String.fromCodePoint(set[0] ?? 0) : undefined
}

function atomText(atom: Atom): string {
  if (atom.star) return '*'
  if (atom.set === ANY_CHAR) return '?'
  const sole = soleChar(atom.set)
  if (sole !== undefined) return escapeText(sole)
  // A set that reaches the last code point was written as a negation; it reads better as one.
  const isNegated = atom.set.at(-1) === 0x10ffff
  const shown = isNegated ? complement(atom.set) : atom.set
  let text = ''
  for (let i = 0; i < shown.length; i += 2) {
    const low = shown[i] ?? 0
    const high = shown[i + 1] ?? 0
    text += low === high ? classChar(low) : `${classChar(low)}-${classChar(high)}`
  }
  return `[${isNegated ? '!' : ''}${text}]`
}

function classChar(point: number): string {
  const char = String.fromCodePoint(point)
  return '!^-[]{},\\#*?'.includes(char) ? `\\${char}` : char
}

interface ClassFound {
  readonly set: CharSet
  /** Index of the closing bracket. */
  readonly end: number
}

/** Reads `[abc]`, `[a-z]`, `[!x]`, `[^x]` at `start`; nothing when the bracket is never closed. */
function readClass(tokens: readonly Token[], start: number, folded: boolean): ClassFound | undefined {
  let i = start + 1
  const isNegated = isSign(tokens[i], '!^')
  if (isNegated) i += 1
  const ranges: [number, number][] = []
  for (let isFirst = true; ; isFirst = false) {
    const token = tokens[i]
    if (token === undefined) return undefined
    if (isSign(token, ']') && !isFirst) break
    const low = token.char.codePointAt(0) ?? 0
    const to = tokens[i + 2]
    if (isSign(tokens[i + 1], '-') && to !== undefined && !isSign(to, ']')) {
      ranges.push([low, to.char.codePointAt(0) ?? 0])
      i += 3
    } else {
      ranges.push([low, low])
      i += 1
    }
  }
  // A range that runs backwards holds nothing, as in a shell.
  const listed = charSet(ranges.filter(([low, high]) => low <= high))
  const set = folded ? foldSet(listed) : listed
  return { set: isNegated ? complement(set) : set, end: i }
}

/** The segment with its classes taken as names, or nothing when it has no closed class. */
export function namedClasses(tokens: readonly Token[]): Token[] | undefined {
  const named = [...tokens]
  let closed = -1
  for (const [i, { char }] of tokens.entries()) {
    if (i > closed && isSign(tokens[i], '[')) closed = readClass(tokens, i, false)?.end ?? closed
    if (i <= closed) named[i] = { char, literal: true }
  }
  return closed < 0 ? undefined : named
}

/** False for what no file can be called: `.`, `..`, and classes of nothing. */
export function isPossible(segment: ScopeSegment): boolean {
  if (segment.kind === 'literal') return segment.text !== '.' && segment.text !== '..'
  return segment.kind === 'globstar' || commonName(segment, ANY_NAME) !== undefined
}

/** A name that both segments match, or nothing. Neither may be `**`. */
export function commonName(a: ScopeSegment, b: ScopeSegment): string | undefined {
  if (a.kind === 'globstar' || b.kind === 'globstar')
    return a.kind === b.kind ? 'x' : anyName(a.kind === 'globstar' ? b : a)
  if (a.kind === 'literal') {
    const matches = b.kind === 'literal' ? a.text === b.text : matchesName(b.atoms, a.text)
    return matches ? a.text : undefined
  }
  if (b.kind === 'literal') return matchesName(a.atoms, b.text) ? b.text : undefined
  return commonNameOf(a.atoms, b.atoms)
}

// `**` meets the same segments again and again.
const samples = new WeakMap<ScopeSegment, string>()

function anyName(segment: ScopeSegment): string | undefined {
  if (segment.kind === 'literal') return segment.text
  if (segment.kind === 'globstar') return 'x'
  const known = samples.get(segment)
  if (known !== undefined) return known
  const sample = commonName(segment, ANY_NAME)
  if (sample !== undefined) samples.set(segment, sample)
  return sample
}

/** Greedy with one point of return, the last star: linear in practice, quadratic at worst. */
function matchesName(atoms: readonly Atom[], name: string): boolean {
  let i = 0
  let at = 0
  let starAtom = -1
  let starAt = 0
  while (at < name.length) {
    const atom = atoms[i]
    const point = name.codePointAt(at) ?? 0
    if (atom?.star === true) {
      starAtom = i
      starAt = at
      i += 1
    } else if (atom !== undefined && has(atom.set, point)) {
      i += 1
      at += width(point)
    } else if (starAtom >= 0) {
      starAt += width(name.codePointAt(starAt) ?? 0)
      at = starAt
      i = starAtom + 1
    } else return false
  }
  while (atoms[i]?.star === true) i += 1
  return i === atoms.length
}

const width = (point: number): number => (point > 0xffff ? 2 : 1)

// What the name is so far: nothing, `.`, `..`, or a name that a file can have.
const NAMED = 3
const DOT = 0x2e

/**
 * Breadth-first walk over the product of both patterns. A state is a place in each and how near the name still is
 * to being empty, `.` or `..`, which no file is called.
 */
function commonNameOf(a: readonly Atom[], b: readonly Atom[]): string | undefined {
  const columns = b.length + 1
  const goal = (a.length * columns + b.length) * 4 + NAMED
  // Where each state was reached from, counted from 1, and by which character; 0 is "not reached".
  const cameFrom = new Int32Array(goal + 1)
  const byChar = new Int32Array(goal + 1)
  const queue: number[] = [0]
  const reach = (i: number, j: number, named: number, from: number, char: number): void => {
    const state = (i * columns + j) * 4 + named
    if (state === 0 || cameFrom[state] !== 0) return
    cameFrom[state] = from + 1
    byChar[state] = char
    queue.push(state)
  }
  for (let head = 0; head < queue.length && cameFrom[goal] === 0; head += 1) {
    const state = queue[head] ?? 0
    const named = state & 3
    const i = Math.floor((state >> 2) / columns)
    const j = (state >> 2) % columns
    const atomA = a[i]
    const atomB = b[j]
    if (atomA?.star === true) reach(i + 1, j, named, state, 0)
    if (atomB?.star === true) reach(i, j + 1, named, state, 0)
    if (atomA === undefined || atomB === undefined) continue
    const set = intersect(atomA.star ? ANY_CHAR : atomA.set, atomB.star ? ANY_CHAR : atomB.set)
    const nextI = atomA.star ? i : i + 1
    const nextJ = atomB.star ? j : j + 1
    const char = pick(set)
    if (char !== undefined) reach(nextI, nextJ, NAMED, state, char)
    if (has(set, DOT)) reach(nextI, nextJ, Math.min(named + 1, NAMED), state, DOT)
  }
  return cameFrom[goal] === 0 ? undefined : spell(cameFrom, byChar, goal)
}

function spell(cameFrom: Int32Array, byChar: Int32Array, goal: number): string {
  const points: number[] = []
  for (let state = goal; state > 0; state = (cameFrom[state] ?? 1) - 1) {
    const char = byChar[state] ?? 0
    if (char > 0) points.push(char)
  }
  return String.fromCodePoint(...points.toReversed())
}
