// `match.shell`: what a call runs on a shell command line, program by program. An addition of pack 0.3.0.
import { compileRunPattern, isOnNetwork, matchesRun, type RunPattern } from '../../shell/runs.ts'
import type { WriteTarget } from '../../shell/targets.ts'
import { shellWrites, type ShellRun } from '../../shell/writes.ts'
import type { Fields } from '../bundle/fields.ts'
import type { Problems } from '../bundle/problems.ts'
import type { Locations, ShellMatch } from '../types.ts'
import type { ArgFound } from './arg-path.ts'
import { compileWithin, readScope } from './locations.ts'

type Args = Readonly<Record<string, unknown>>

const FLAGS = ['network', 'unknown', 'opaque', 'unparsed'] as const

export function readShell(fields: Fields, problems: Problems): ShellMatch {
  const list = (name: 'runs' | 'writes' | 'writes_outside', check: (text: string) => string | object): string[] => {
    const texts = fields.texts(name)
    texts.forEach((text, i) => {
      const fault = check(text)
      if (typeof fault === 'string') problems.add([...fields.path, name, i], fault)
    })
    return texts
  }
  const match: ShellMatch = {
    ...(fields.has('runs') ? { runs: list('runs', compileRunPattern) } : {}),
    ...(fields.has('writes') ? { writes: list('writes', readScope) } : {}),
    ...(fields.has('writes_outside') ? { writes_outside: list('writes_outside', readScope) } : {}),
    ...Object.fromEntries(FLAGS.flatMap((name) => (fields.has(name) ? [[name, fields.flag(name, true)]] : []))),
    ...(fields.has('keys') ? { keys: fields.texts('keys') } : {}),
  }
  fields.end()
  if (Object.keys(match).every((name) => name === 'keys'))
    fields.problem(
      undefined,
      'matches nothing: give it runs, writes, writes_outside, network, unknown, opaque or unparsed',
    )
  return match
}

/** Arguments that hold a command line: those of the hosts' own shells, and of most MCP servers with one. */
const KEYS = ['command', 'cmd', 'script', 'commandLine', 'command_line']

export interface ShellTest {
  /** `unknown`: the command line could not be parsed completely, or depends on words that only the shell knows. */
  readonly holds: (args: Args, locations: Locations) => ArgFound
  readonly pathsOf: ((args: Args) => readonly string[]) | null
}

export function compileShell(match: ShellMatch): ShellTest {
  const { keys = KEYS, writes, writes_outside: outside, unparsed } = match
  const testRun = compileRun(match)
  const isOnlyUnparsed =
    unparsed !== undefined && Object.keys(match).every((key) => key === 'unparsed' || key === 'keys')
  return {
    holds(args, locations) {
      const lines = linesIn(args, keys)
      if (lines === undefined) return false
      if (lines === 'unreadable') return 'unknown'
      const { runs, isUnread } = analyzed(lines)
      if (unparsed !== undefined && isUnread !== unparsed) return false
      if (isOnlyUnparsed) return true
      const found = runs.map((run) => testRun(run, locations))
      if (found.includes(true)) return true
      return found.includes('unknown') || (isUnread && unparsed === undefined) ? 'unknown' : false
    },
    pathsOf:
      writes === undefined && outside === undefined
        ? null
        : (args) => {
            const lines = linesIn(args, keys)
            if (lines === undefined || lines === 'unreadable') return []
            return analyzed(lines).runs.flatMap(({ targets }) => targets.flatMap(placesOf))
          },
  }
}

/** The command lines of a call; a list of words is one that needs no parsing beyond its last. */
function linesIn(args: Args, keys: readonly string[]): readonly string[] | 'unreadable' | undefined {
  const values = keys.flatMap((key) => (Object.hasOwn(args, key) ? [args[key]] : []))
  if (values.length === 0) return undefined
  const lines = values.map((value) =>
    typeof value === 'string'
      ? value
      : Array.isArray(value) && value.every((word) => typeof word === 'string')
        ? value.map(quoted).join(' ')
        : undefined,
  )
  return lines.every((line) => line !== undefined) ? lines : 'unreadable'
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

interface Analyzed {
  readonly runs: readonly ShellRun[]
  readonly isUnread: boolean
}

/** The last call's: every rule of a policy looks at the same one. */
let last: { readonly text: string; readonly analyzed: Analyzed } | undefined

function analyzed(lines: readonly string[]): Analyzed {
  const text = lines.join('\n')
  if (last?.text === text) return last.analyzed
  const all = lines.map((line) => shellWrites(line))
  const result = { runs: all.flatMap(({ runs }) => runs), isUnread: all.some(({ isUnread }) => isUnread) }
  last = { text, analyzed: result }
  return result
}

/** What the policy sees of a command line. */
export interface ShellReading {
  readonly programs: readonly {
    readonly command: string
    readonly writes: readonly string[]
    readonly network: boolean
    readonly known: boolean
    readonly opaque: boolean
  }[]
  readonly parsed: boolean
}

/** Undefined for a call without a command line. */
export function readingOf(args: Args, keys: readonly string[] = KEYS): ShellReading | undefined {
  const lines = linesIn(args, keys)
  if (lines === undefined || lines === 'unreadable') return undefined
  const { runs, isUnread } = analyzed(lines)
  const programs = runs.map((run) => ({
    command: run.words.map(({ text, script }) => text ?? script ?? '…').join(' '),
    writes: run.targets.map((target) => (target.isUnlocated === true ? '?' : placeOf(target))),
    network: isOnNetwork(run),
    known: run.isKnown,
    opaque: run.isOpaque,
  }))
  return { programs, parsed: !isUnread }
}

/** All that is present must hold of one program. */
function compileRun(match: ShellMatch): (run: ShellRun, locations: Locations) => boolean | 'unknown' {
  const tests: ((run: ShellRun, locations: Locations) => boolean | 'unknown')[] = []
  const { runs, writes, writes_outside: outside, network, unknown, opaque } = match
  if (runs !== undefined) {
    const patterns = runs.map(compileRunPattern).filter((one): one is RunPattern => typeof one !== 'string')
    tests.push((run) => {
      const found = patterns.map((pattern) => matchesRun(pattern, run))
      return found.includes(true) || (found.includes('maybe') && 'unknown')
    })
  }
  if (writes !== undefined) {
    const isWithin = compileWithin(writes)
    tests.push(({ targets }, locations) =>
      targets.some((target) => target.isUnlocated !== true && reaches(target, locations, isWithin))
        ? true
        : targets.some(({ isUnlocated }) => isUnlocated === true) && 'unknown',
    )
  }
  if (outside !== undefined) {
    const isWithin = compileWithin(outside)
    tests.push(({ targets }, locations) =>
      targets.some((target) => target.isUnlocated === true || !staysInside(target, locations, isWithin)),
    )
  }
  if (network !== undefined) tests.push((run) => isOnNetwork(run) === network)
  if (unknown !== undefined) tests.push(({ isKnown }) => !isKnown === unknown)
  if (opaque !== undefined) tests.push(({ isOpaque }) => isOpaque === opaque)
  return (run, locations) => {
    const found = tests.map((test) => test(run, locations))
    return !found.includes(false) && (found.includes('unknown') ? 'unknown' : found.length > 0)
  }
}

type Within = (text: string, locations: Locations) => boolean

/** Where a target is, as texts to be located: of a pattern the folder before its first wildcard. */
function placesOf(target: WriteTarget): string[] {
  if (target.isUnlocated === true) return []
  return [placeOf(target), ...(target.into ?? []).flatMap(placesOf)]
}

function placeOf({ path, cwd, isPattern }: WriteTarget): string {
  const fixed = isPattern ? path.replace(/[^/]*[*?[{][^]*$/, '') || '.' : path
  return cwd === '' || /^[/~]/.test(fixed) ? fixed : `${cwd}/${fixed}`
}

/** A pattern that goes up after a wildcard may lead anywhere. */
const staysInside = (target: WriteTarget, locations: Locations, isWithin: Within): boolean =>
  !(target.isPattern && /[*?[{].*\.\./.test(target.path)) &&
  placesOf(target).every((place) => isWithin(place, locations))

const reaches = (target: WriteTarget, locations: Locations, isWithin: Within): boolean =>
  placesOf(target).some((place) => isWithin(place, locations))
