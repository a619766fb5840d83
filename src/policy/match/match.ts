// The match of a rule (seed 004 §2.4): names, classes, arguments, hours; read with every pattern tried.
import { POLICY_PATTERN_CHARS_MAX, POLICY_REGEX_SIZE_MAX } from '../../limits.ts'
import { isObject } from '../../plain-object.ts'
import { readAnnotations } from './annotations.ts'
import { parseArgPath } from './arg-path.ts'
import { Fields, kindOf } from '../bundle/fields.ts'
import { compileGlob, normalizeGlob } from './glob.ts'
import { readHours } from './hours.ts'
import { readScope } from './locations.ts'
import { compileRegex } from './names.ts'
import type { Path, Problems } from '../bundle/problems.ts'
import { regexSize } from './regex-size.ts'
import { readShell } from './shell.ts'
import type { ArgsMatch, Match, NameMatch, PathMatch, Scalar, TextMatch, ValueMatch } from '../types.ts'

/** How much of the size that all regexes of a bundle may have is left. */
export interface RegexBudget {
  left: number
}

export function readMatch(fields: Fields, problems: Problems, regexes: RegexBudget): Match {
  const match = {
    ...(fields.has('method') ? { method: readMethods(fields, problems) } : {}),
    ...(fields.has('annotations') ? { annotations: readAnnotations(fields.object('annotations')) } : {}),
    ...(fields.has('server_name') ? { server_name: readNames(fields.object('server_name'), problems, regexes) } : {}),
    ...(fields.has('tool_name') ? { tool_name: readNames(fields.object('tool_name'), problems, regexes) } : {}),
    ...(fields.has('risk_class') ? { risk_class: fields.texts('risk_class') } : {}),
    ...(fields.has('args') ? { args: readArgs(fields.object('args'), problems, regexes) } : {}),
    ...(fields.has('shell') ? { shell: readShell(fields.object('shell'), problems) } : {}),
    ...(fields.has('time') ? { time: readTime(fields.object('time')) } : {}),
  }
  fields.end()
  return match
}

function readMethods(fields: Fields, problems: Problems): string[] {
  const methods = fields.texts('method').map((glob) => normalizeGlob(glob))
  methods.forEach((glob, i) => {
    const path = [...fields.path, 'method', i]
    const test = compileGlob(glob)
    if (typeof test !== 'function') problems.add(path, `is not a glob: ${test.fault}`)
    refuseLong(glob, path, problems)
  })
  return methods
}

function readTime(fields: Fields): NonNullable<Match['time']> {
  const time = { utc_hours: readHours(fields, 'utc_hours') }
  fields.end()
  return time
}

function readNames(fields: Fields, problems: Problems, regexes: RegexBudget): NameMatch {
  const names = readPatterns(fields, problems, regexes)
  fields.end()
  if (names.glob.length + names.regex.length === 0) fields.problem(undefined, 'names nothing: give it glob or regex')
  return names
}

/** Globs and regexes of one object: each is tried, and regexes come out of the budget of the bundle. */
function readPatterns(fields: Fields, problems: Problems, regexes: RegexBudget): NameMatch {
  const list = (name: string): string[] => {
    const value = fields.raw(name)
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return []
    return typeof value === 'string' ? [fields.text(name)] : fields.texts(name)
  }
  const names = { glob: list('glob').map((glob) => normalizeGlob(glob)), regex: list('regex') }
  names.glob.forEach((glob, i) => {
    const test = compileGlob(glob)
    if (typeof test !== 'function') problems.add([...fields.path, 'glob', i], `is not a glob: ${test.fault}`)
    refuseLong(glob, [...fields.path, 'glob', i], problems)
  })
  names.regex.forEach((regex, i) => {
    const path = [...fields.path, 'regex', i]
    const size = regexSize(regex)
    if (size > regexes.left)
      problems.add(
        path,
        `is too large: regexes of a bundle may come to ${POLICY_REGEX_SIZE_MAX} with repeats written out`,
      )
    else if (!refuseLong(regex, path, problems)) {
      regexes.left -= size
      const compiled = compileRegex(regex)
      if (typeof compiled === 'string') problems.add(path, compiled)
    }
  })
  return names
}

function refuseLong(pattern: string, path: Path, problems: Problems): boolean {
  const isLong = pattern.length > POLICY_PATTERN_CHARS_MAX
  if (isLong) problems.add(path, `is longer than ${POLICY_PATTERN_CHARS_MAX} characters`)
  return isLong
}

function readArgs(fields: Fields, problems: Problems, regexes: RegexBudget): ArgsMatch {
  const some = <T>(name: string, read: () => T, none: T): T => {
    const value = fields.raw(name)
    const isEmpty = Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
    return value === undefined || isEmpty ? none : read()
  }
  const args = {
    has_keys: some('has_keys', () => fields.texts('has_keys'), []),
    key_equals: some(
      'key_equals',
      () => fields.entries('key_equals', (item, path) => readScalar(item, path, problems)),
      {},
    ),
    key_in: some('key_in', () => fields.entries('key_in', (item, path) => readScalars(item, path, problems)), {}),
    numeric_range: some(
      'numeric_range',
      () => fields.entries('numeric_range', (item, path) => readRange(new Fields(item, path, problems))),
      {},
    ),
    ...readDeep(fields, problems, regexes),
  }
  fields.end()
  return args
}

type DeepMatch = Pick<ArgsMatch, 'only_keys' | 'at' | 'text' | 'path_within' | 'path_outside'>

/** What looks into arguments. Absent where it is not used, so that the hash of a bundle without it stays. */
function readDeep(fields: Fields, problems: Problems, regexes: RegexBudget): DeepMatch {
  const at = (item: unknown, path: Path): ValueMatch => {
    const segments = parseArgPath(String(path.at(-1)))
    if (typeof segments === 'string') problems.add(path, segments)
    return readValue(new Fields(item, path, problems), problems, regexes)
  }
  return {
    ...(fields.has('only_keys') ? { only_keys: fields.texts('only_keys') } : {}),
    ...(fields.has('at') ? { at: fields.entries('at', at) } : {}),
    ...(fields.has('text') ? { text: readText(fields.object('text'), problems, regexes) } : {}),
    ...(fields.has('path_within') ? { path_within: readPaths(fields, 'path_within', problems) } : {}),
    ...(fields.has('path_outside') ? { path_outside: readPaths(fields, 'path_outside', problems) } : {}),
  }
}

function readText(fields: Fields, problems: Problems, regexes: RegexBudget): TextMatch {
  const text = { ...readPatterns(fields, problems, regexes), ignore_case: fields.flag('ignore_case', false) }
  fields.end()
  if (text.glob.length + text.regex.length === 0) fields.problem(undefined, 'matches nothing: give it regex or glob')
  return text
}

function readValue(fields: Fields, problems: Problems, regexes: RegexBudget): ValueMatch {
  const path = (name: string): Path => [...fields.path, name]
  const value = {
    ...(fields.has('equals') ? { equals: readScalar(fields.raw('equals'), path('equals'), problems) } : {}),
    ...(fields.has('in') ? { in: readScalars(fields.raw('in'), path('in'), problems) } : {}),
    ...(fields.has('range') ? { range: readRange(fields.object('range')) } : {}),
    ...readPatterns(fields, problems, regexes),
    ignore_case: fields.flag('ignore_case', false),
  }
  fields.end()
  const { equals, in: listed, range, glob, regex } = value
  if (equals === undefined && listed === undefined && range === undefined && glob.length + regex.length === 0)
    fields.problem(undefined, 'asks nothing: give it equals, in, glob, regex or range')
  return value
}

/** A list of scopes, or `{scopes, keys}` where the author says in which arguments paths stand. */
function readPaths(fields: Fields, name: 'path_within' | 'path_outside', problems: Problems): PathMatch {
  const isList = Array.isArray(fields.raw(name))
  const inner = isList ? null : fields.object(name)
  const match: PathMatch = {
    scopes: inner === null ? fields.texts(name) : inner.texts('scopes'),
    keys: inner?.has('keys') === true ? inner.texts('keys') : null,
  }
  inner?.end()
  match.scopes.forEach((text, i) => {
    const scope = readScope(text)
    if (typeof scope === 'string') problems.add([...fields.path, name, ...(isList ? [] : ['scopes']), i], scope)
  })
  match.keys?.forEach((text, i) => {
    const segments = parseArgPath(text)
    if (typeof segments === 'string') problems.add([...fields.path, name, 'keys', i], segments)
  })
  return match
}

function readScalar(item: unknown, path: Path, problems: Problems): Scalar {
  if (typeof item === 'string' || typeof item === 'boolean') return item
  if (typeof item === 'number' && Number.isFinite(item) && (!Number.isInteger(item) || Number.isSafeInteger(item)))
    return item
  problems.add(
    path,
    typeof item === 'number'
      ? 'is a number too large to compare exactly'
      : `must be a text, a number, true or false, not ${kindOf(item)}`,
  )
  return ''
}

function readScalars(item: unknown, path: Path, problems: Problems): Scalar[] {
  if (!Array.isArray(item)) problems.add(path, `must be a list, not ${kindOf(item)}`)
  return Array.isArray(item) ? item.map((one: unknown, i) => readScalar(one, [...path, i], problems)) : []
}

function readRange(fields: Fields): { readonly min?: number; readonly max?: number } {
  const bound = (name: 'min' | 'max'): { readonly [key in typeof name]?: number } => {
    const value = fields.raw(name)
    if (value === undefined) return {}
    if (typeof value === 'number' && Number.isFinite(value)) return { [name]: value }
    fields.problem(name, `must be a number, not ${kindOf(value)}`)
    return {}
  }
  const range = { ...bound('min'), ...bound('max') }
  fields.end()
  if (Object.keys(range).length === 0) fields.problem(undefined, 'needs min or max')
  return range
}
