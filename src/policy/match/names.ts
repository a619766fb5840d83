// Whether a rule names a server or tool: globs and linear-time regexes, any of them.
import { RE2JS, RE2JSSyntaxException } from 're2js'
import { POLICY_NAME_CHARS_MAX } from '../../limits.ts'
import { type NameTest, compileGlob } from './glob.ts'
import type { NameMatch } from '../types.ts'

/** `unknown`: the name is too long for a regex that would have to be tried on it. */
export type NameAnswer = boolean | 'unknown'

export function compileNames({ glob, regex }: NameMatch): (name: string) => NameAnswer {
  const exact = new Set(glob.filter((pattern) => !/[*?[\]\\]/.test(pattern)))
  const globs = glob
    .filter((pattern) => !exact.has(pattern))
    .map((pattern) => compileGlob(pattern))
    .filter((test): test is NameTest => typeof test === 'function')
  const regexes = regex.map((pattern) => compileRegex(pattern)).filter((found) => typeof found !== 'string')
  return (name) => {
    if (exact.has(name) || globs.some((test) => test(name))) return true
    if (regexes.length === 0) return false
    if (name.length > POLICY_NAME_CHARS_MAX) return 'unknown'
    return regexes.some((pattern) => pattern.test(name))
  }
}

/** RE2 syntax, unanchored; or why it cannot be compiled. Tried once on a name, so that the first call does not pay for it. */
export function compileRegex(pattern: string, isFolded = false): RE2JS | string {
  try {
    const compiled = RE2JS.compile(pattern, isFolded ? RE2JS.CASE_INSENSITIVE : 0)
    compiled.test('warm_up')
    return compiled
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error
    return `${error.message.replace('error parsing regexp: ', '')} (the engine is linear-time: no look-around, no back-references)`
  }
}
