// Predicates over a call's arguments: top-level own keys only, so that `__proto__` and `constructor` are keys like any other.
import { likeness } from './likeness.ts'
import type { ArgsMatch } from './types.ts'

type Args = Readonly<Record<string, unknown>>
type Predicate = (args: Args) => boolean

/** `ambiguous`: a key is there that some reader takes for one the rule looks at, and others do not. */
export type ArgsTest = (args: Args) => boolean | 'ambiguous'

export function compileArgs(match: ArgsMatch): ArgsTest {
  const holds = predicateOf(match)
  const isMisled = misleadingKeys([
    ...match.has_keys,
    ...Object.keys(match.key_equals),
    ...Object.keys(match.key_in),
    ...Object.keys(match.numeric_range),
  ])
  return (args) => (isMisled(args) ? 'ambiguous' : holds(args))
}

function misleadingKeys(names: readonly string[]): Predicate {
  const named = new Map<string, Set<string>>()
  for (const name of names) {
    const alike = named.get(likeness(name))
    if (alike === undefined) named.set(likeness(name), new Set([name]))
    else alike.add(name)
  }
  return (args) => {
    for (const key of Object.keys(args)) {
      const alike = named.get(likeness(key))
      if (alike !== undefined && !alike.has(key)) return true
    }
    return false
  }
}

function predicateOf(match: ArgsMatch): Predicate {
  const tests: Predicate[] = [
    ...match.has_keys.map(
      (key): Predicate =>
        (args) =>
          Object.hasOwn(args, key),
    ),
    ...Object.entries(match.key_equals).map(
      ([key, wanted]): Predicate =>
        (args) =>
          Object.hasOwn(args, key) && args[key] === wanted,
    ),
    ...Object.entries(match.key_in).map(([key, list]): Predicate => {
      const wanted = new Set<unknown>(list)
      return (args) => Object.hasOwn(args, key) && wanted.has(args[key])
    }),
    ...Object.entries(match.numeric_range).map(([key, { min = -Infinity, max = Infinity }]): Predicate => (args) => {
      const value = Object.hasOwn(args, key) ? args[key] : undefined
      return typeof value === 'number' && value >= min && value <= max
    }),
  ]
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (args) => tests.every((test) => test(args))
}
