// Tests of one value inside arguments: equals, in, glob, regex, range; all that are given must hold.
import { compileGlob } from './glob.ts'
import { fold } from '../bundle/likeness.ts'
import { compileRegex } from './names.ts'
import { requiredLiteral } from './regex-literal.ts'
import type { TextMatch, ValueMatch } from '../types.ts'

export function compileValue(match: ValueMatch): (value: unknown) => boolean {
  const { equals, in: listed, range, ignore_case: isFolded } = match
  const same = isFolded ? (value: unknown): unknown => (typeof value === 'string' ? fold(value) : value) : identity
  const tests: ((value: unknown) => boolean)[] = []
  if (equals !== undefined) tests.push((value) => same(value) === same(equals))
  if (listed !== undefined) {
    const wanted = new Set(listed.map(same))
    tests.push((value) => wanted.has(same(value)))
  }
  if (range !== undefined) {
    const { min = -Infinity, max = Infinity } = range
    tests.push((value) => typeof value === 'number' && value >= min && value <= max)
  }
  if (match.glob.length + match.regex.length > 0) {
    const isLike = compileText(match)
    tests.push((value) => typeof value === 'string' && isLike(value))
  }
  return (value) => tests.every((test) => test(value))
}

function identity(value: unknown): unknown {
  return value
}

/** Any of the globs or regexes. */
export function compileText({ glob, regex, ignore_case: isFolded }: TextMatch): (text: string) => boolean {
  const globs = glob
    .map((pattern) => compileGlob(isFolded ? fold(pattern) : pattern))
    .filter((test) => typeof test === 'function')
  const regexes = regex.flatMap((pattern) => {
    const compiled = compileRegex(pattern, isFolded)
    return typeof compiled === 'string' ? [] : [{ compiled, literal: isFolded ? requiredLiteral(pattern) : '' }]
  })
  return (text) => {
    const folded = isFolded ? fold(text) : text
    // The engine looks for sure letters first by itself, but not where case does not count; there a search takes ten times as long.
    return (
      globs.some((test) => test(folded)) ||
      regexes.some(({ compiled, literal }) => (literal === '' || folded.includes(literal)) && compiled.test(text))
    )
  }
}
