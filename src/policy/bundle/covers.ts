// Whether one rule's match takes in every call that another's does. May say no where the answer is yes, never the reverse.
import { canonicalJson } from '../../canonical/canonical.ts'
import { ANNOTATIONS } from '../match/annotations.ts'
import { isInHours } from '../match/hours.ts'
import { compileNames } from '../match/names.ts'
import type { Annotations, ArgsMatch, HourRange, Match, NameMatch, Scalar } from '../types.ts'

export function covers(wide: Match, narrow: Match): boolean {
  return (
    coversMethods(wide.method, narrow.method) &&
    coversAnnotations(wide.annotations, narrow.annotations) &&
    coversNames(wide.server_name, narrow.server_name) &&
    coversNames(wide.tool_name, narrow.tool_name) &&
    coversClasses(wide.risk_class, narrow.risk_class) &&
    coversArgs(wide.args, narrow.args) &&
    isSame(wide.shell, narrow.shell) &&
    coversHours(wide.time?.utc_hours, narrow.time?.utc_hours)
  )
}

const CALLS = ['tools/call']

function coversMethods(wide = CALLS as readonly string[], narrow = CALLS as readonly string[]): boolean {
  const names = { glob: wide, regex: [] }
  return wide === narrow || wide.includes('*') || narrow.every((glob) => coversGlob(names, glob))
}

function coversAnnotations(wide: Annotations | undefined, narrow: Annotations | undefined): boolean {
  return wide === undefined || ANNOTATIONS.every((name) => wide[name] === undefined || wide[name] === narrow?.[name])
}

function coversNames(wide: NameMatch | undefined, narrow: NameMatch | undefined): boolean {
  if (wide === undefined || wide.glob.includes('*')) return true
  if (narrow === undefined) return false
  return (
    narrow.glob.every((glob) => coversGlob(wide, glob)) && narrow.regex.every((regex) => wide.regex.includes(regex))
  )
}

/** A plain name is tried; a glob is covered by itself, or by a prefix `ab*` that it begins with. */
function coversGlob(wide: NameMatch, glob: string): boolean {
  if (wide.glob.includes(glob)) return true
  if (!/[*?[\]\\]/.test(glob)) return testOf(wide)(glob) === true
  const literal = /^[^*?[\]\\]*/.exec(glob)?.[0] ?? ''
  return wide.glob.some((pattern) => /^[^*?[\]\\]*\*$/.test(pattern) && literal.startsWith(pattern.slice(0, -1)))
}

const tests = new WeakMap<NameMatch, ReturnType<typeof compileNames>>()

/** Compiled once: a rule is compared with many. */
function testOf(names: NameMatch): ReturnType<typeof compileNames> {
  let test = tests.get(names)
  if (test === undefined) {
    test = compileNames(names)
    tests.set(names, test)
  }
  return test
}

function coversClasses(wide: readonly string[] | undefined, narrow: readonly string[] | undefined): boolean {
  return wide === undefined || (narrow !== undefined && narrow.every((name) => wide.includes(name)))
}

function coversHours(wide: readonly HourRange[] | undefined, narrow: readonly HourRange[] | undefined): boolean {
  if (wide === undefined) return true
  const hours = Array.from({ length: 24 }, (_, hour) => hour * 3_600_000)
  return hours.every((atMs) => isInHours(wide, atMs) || (narrow !== undefined && !isInHours(narrow, atMs)))
}

/** Every predicate of `wide` follows from one of `narrow`. Loops by hand: lint compares millions of pairs. */
function coversArgs(wide: ArgsMatch | undefined, narrow: ArgsMatch | undefined): boolean {
  if (wide === undefined) return true
  if (narrow === undefined) return false
  for (const key of wide.has_keys) if (!isPresent(narrow, key)) return false
  for (const key in wide.key_equals)
    if (valuesOf(narrow, key)?.every((one) => one === wide.key_equals[key]) !== true) return false
  for (const key in wide.key_in)
    if (valuesOf(narrow, key)?.every((one) => wide.key_in[key]?.includes(one)) !== true) return false
  if (wide.only_keys !== undefined && narrow.only_keys?.every((key) => wide.only_keys?.includes(key)) !== true)
    return false
  if (!coversDeep(wide, narrow)) return false
  for (const key in wide.numeric_range) if (!isInside(narrow, key, wide.numeric_range[key] ?? {})) return false
  return true
}

const isSame = (wide: unknown, narrow: unknown): boolean =>
  wide === undefined || (narrow !== undefined && canonicalJson(wide) === canonicalJson(narrow))

/** What looks into arguments follows only from the same look. */
function coversDeep(wide: ArgsMatch, narrow: ArgsMatch): boolean {
  for (const path in wide.at) if (!isSame(wide.at[path], narrow.at?.[path])) return false
  return (
    isSame(wide.text, narrow.text) &&
    isSame(wide.path_within, narrow.path_within) &&
    isSame(wide.path_outside, narrow.path_outside)
  )
}

function isPresent(args: ArgsMatch, key: string): boolean {
  return args.has_keys.includes(key) || valuesOf(args, key) !== undefined || Object.hasOwn(args.numeric_range, key)
}

/** The values that a key can have where the match says so by name. */
function valuesOf(args: ArgsMatch, key: string): readonly Scalar[] | undefined {
  if (Object.hasOwn(args.key_equals, key)) return [args.key_equals[key] as Scalar]
  return Object.hasOwn(args.key_in, key) ? args.key_in[key] : undefined
}

interface Range {
  readonly min?: number
  readonly max?: number
}

function isInside(narrow: ArgsMatch, key: string, { min = -Infinity, max = Infinity }: Range): boolean {
  const values = valuesOf(narrow, key)
  if (values !== undefined) return values.every((value) => typeof value === 'number' && value >= min && value <= max)
  const range = Object.hasOwn(narrow.numeric_range, key) ? narrow.numeric_range[key] : undefined
  return range !== undefined && (range.min ?? -Infinity) >= min && (range.max ?? Infinity) <= max
}

/** Why no arguments at all can satisfy the predicates, or null. */
export function contradictionIn(args: ArgsMatch): string | null {
  for (const [key, { min = -Infinity, max = Infinity }] of Object.entries(args.numeric_range)) {
    if (min > max) return `numeric_range of ${key}: min is above max`
    const values = valuesOf(args, key)
    if (values !== undefined && !values.some((value) => typeof value === 'number' && value >= min && value <= max))
      return `${key} cannot have a listed value and be in its numeric_range`
  }
  for (const [key, list] of Object.entries(args.key_in)) {
    if (list.length === 0) return `key_in of ${key} is empty`
    if (Object.hasOwn(args.key_equals, key) && !list.includes(args.key_equals[key] as Scalar))
      return `${key} cannot equal one value and be in a list without it`
  }
  return null
}
