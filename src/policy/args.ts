// Predicates over a call's arguments: top-level own keys only, so that `__proto__` and `constructor` are keys like any other.
import type { ArgsMatch } from './types.ts'

export type ArgsTest = (args: Readonly<Record<string, unknown>>) => boolean

export function compileArgs(match: ArgsMatch): ArgsTest {
  const tests: ArgsTest[] = [
    ...match.has_keys.map(
      (key): ArgsTest =>
        (args) =>
          Object.hasOwn(args, key),
    ),
    ...Object.entries(match.key_equals).map(
      ([key, wanted]): ArgsTest =>
        (args) =>
          Object.hasOwn(args, key) && args[key] === wanted,
    ),
    ...Object.entries(match.key_in).map(([key, list]): ArgsTest => {
      const wanted = new Set<unknown>(list)
      return (args) => Object.hasOwn(args, key) && wanted.has(args[key])
    }),
    ...Object.entries(match.numeric_range).map(([key, { min = -Infinity, max = Infinity }]): ArgsTest => (args) => {
      const value = Object.hasOwn(args, key) ? args[key] : undefined
      return typeof value === 'number' && value >= min && value <= max
    }),
  ]
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (args) => tests.every((test) => test(args))
}
