// Predicates over a call's arguments: own keys only, so that `__proto__` and `constructor` are keys like any other.
import { type ArgFound, newLooks, parseArgPath, type Segment, someAt } from './arg-path.ts'
import { likeness } from '../bundle/likeness.ts'
import { compileWithin } from './locations.ts'
import { pathTextsOf } from './path-texts.ts'
import { textsOf } from './texts.ts'
import { compileShell } from './shell.ts'
import type { ArgsMatch, Locations, Match, PathMatch } from '../types.ts'
import { compileText, compileValue } from './value-test.ts'

type Args = Readonly<Record<string, unknown>>
type Predicate = (args: Args) => boolean
type Look = (args: Args, locations: Locations) => ArgFound

/** `ambiguous`: a key is there that some reader takes for one the rule looks at, and others do not. `unknown`: there is more than anybody looks at. */
export interface ArgsTest {
  readonly holds: Look
  /** Texts whose locations it needs; null where it looks at no paths. */
  readonly pathsOf: ((args: Args) => readonly string[]) | null
}

const NO_ARGS: ArgsMatch = { has_keys: [], key_equals: {}, key_in: {}, numeric_range: {} }

/** The test of all that a rule says of arguments; null where it says nothing. */
export function compileArgs({ args, shell }: Pick<Match, 'args' | 'shell'>): ArgsTest | null {
  if (args === undefined && shell === undefined) return null
  const match = args ?? NO_ARGS
  const shellTest = shell === undefined ? null : compileShell(shell)
  const isPlain = predicateOf(match)
  const names = [
    ...match.has_keys,
    ...(match.only_keys ?? []),
    ...Object.keys(match.key_equals),
    ...Object.keys(match.key_in),
    ...Object.keys(match.numeric_range),
  ]
  const isMisled = names.length === 0 ? () => false : misleadingKeys(names)
  const looks = [...looksOf(match), ...(shellTest === null ? [] : [shellTest.holds])]
  const paths = [match.path_within, match.path_outside].filter((path) => path !== undefined).map(segmentsOf)
  return {
    // What costs little comes first; a call that does not meet it is not looked into.
    holds(args, locations) {
      if (isMisled(args)) return 'ambiguous'
      if (!isPlain(args)) return false
      let found: ArgFound = true
      for (const look of looks) {
        const one = look(args, locations)
        if (one === false) return false
        if (one !== true && found !== 'ambiguous') found = one
      }
      return found
    },
    pathsOf:
      paths.length === 0 && shellTest?.pathsOf == null
        ? null
        : (call) => [...paths.flatMap((keys) => textsAt(call, keys)), ...(shellTest?.pathsOf?.(call) ?? [])],
  }
}

function looksOf({ at, text, path_within: within, path_outside: outside }: ArgsMatch): readonly Look[] {
  const looks: Look[] = Object.entries(at ?? {}).map(([path, value]) => {
    const segments = parsedPath(path)
    const test = compileValue(value)
    return (args) => someAt(args, segments, 0, newLooks(), test)
  })
  if (text !== undefined) {
    const test = compileText(text)
    looks.push((args) => {
      const texts = textsOf(args)
      return texts === null ? 'unknown' : texts.some(test)
    })
  }
  if (within !== undefined) looks.push(pathLook(within, (texts, isInside) => texts.length > 0 && texts.every(isInside)))
  if (outside !== undefined) looks.push(pathLook(outside, (texts, isInside) => !texts.every(isInside)))
  return looks
}

function pathLook(
  match: PathMatch,
  holds: (texts: readonly string[], isInside: (text: string) => boolean) => boolean,
): Look {
  const isWithin = compileWithin(match.scopes)
  const keys = segmentsOf(match)
  return (args, locations) => {
    const texts = pathTextsOf(args, keys)
    return typeof texts === 'string' ? texts : holds(texts, (text) => isWithin(text, locations))
  }
}

/** Where the texts cannot be told, no locations help. */
function textsAt(args: Args, keys: readonly (readonly Segment[])[] | null): readonly string[] {
  const texts = pathTextsOf(args, keys)
  return typeof texts === 'string' ? [] : texts
}

function segmentsOf({ keys }: PathMatch): readonly (readonly Segment[])[] | null {
  return keys === null ? null : keys.map(parsedPath)
}

/** The compiler has refused what is no path. */
function parsedPath(text: string): readonly Segment[] {
  const segments = parseArgPath(text)
  return typeof segments === 'string' ? [] : segments
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
  if (match.only_keys !== undefined) {
    const allowed = new Set(match.only_keys)
    tests.push((args) => Object.keys(args).every((key) => allowed.has(key)))
  }
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (args) => tests.every((test) => test(args))
}
