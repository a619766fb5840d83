// The command line by which a host starts a server behind the shim: how an import writes it, and how it is known again.
import { basename, dirname, join } from 'node:path'
import { isObject } from '../plain-object.ts'

/** What starts our shim: Node.js and the launcher, both by absolute path, because hosts have a PATH of their own. */
export interface OwnCommand {
  readonly node: string
  readonly launcher: string
}

/** A line that starts our shim, taken apart. */
export interface ShimLine {
  /** Name of the launcher: `heimdall` or `sub`. */
  readonly launcher: string
  /** The launcher is the first argument of Node.js, not the command itself. */
  readonly isByNode: boolean
  /** Place of `--` in the arguments; the server's own command is the word behind it. */
  readonly dashes: number
  /** What it calls the server. */
  readonly name: string | undefined
  /** An import wrote it; `--pass-env` is in no line that people write. */
  readonly isImported: boolean
}

/** The words that start the shim, by launcher. */
const SHIM_WORDS: Readonly<Record<string, readonly string[]>> = { heimdall: ['mcp', 'shim'], sub: ['shim'] }
const PASS_ENV = '--pass-env='
const SERVER_NAME = '--server-name='

/** All variables but ours: where a server reads a file of variables, their names are not known here. */
const ALL = '*'

/** Nothing when the server is not behind our shim; no place of `--` when there is no command behind it any more. */
export function shimLineOf(value: Readonly<Record<string, unknown>>): ShimLine | 'no command' | undefined {
  const { command } = value
  const args = wordsOf(value['args'])
  if (typeof command !== 'string' || args === undefined) return undefined
  const isByNode = !Object.hasOwn(SHIM_WORDS, basename(command))
  const launcher = basename(isByNode ? (args[0] ?? '') : command)
  const words = Object.hasOwn(SHIM_WORDS, launcher) ? SHIM_WORDS[launcher] : undefined
  if (words?.every((word, i) => args[i + (isByNode ? 1 : 0)] === word) !== true) return undefined
  const dashes = args.indexOf('--')
  if (dashes < 0 || args[dashes + 1] === undefined) return 'no command'
  const flags = args.slice(0, dashes)
  const name = flags.find((word) => word.startsWith(SERVER_NAME))?.slice(SERVER_NAME.length)
  return { launcher, isByNode, dashes, name, isImported: flags.some((word) => word.startsWith(PASS_ENV)) }
}

/** The shim of the system that the seed comes from, which takes its flags directly. */
export function isForeignShim({ command, args }: Readonly<Record<string, unknown>>): boolean {
  const words = wordsOf(args) ?? []
  return (
    typeof command === 'string' &&
    basename(command) === 'shim' &&
    words.includes('--') &&
    words.some((word) => word.startsWith(SERVER_NAME) || word === SERVER_NAME.slice(0, -1))
  )
}

/** The agent's way to us, which asks nobody else. */
export const isOwnLedger = ({ args }: Readonly<Record<string, unknown>>): boolean =>
  wordsOf(args)?.[0]?.endsWith('/heimdall-ledger-mcp') === true

export function headWords({ launcher }: OwnCommand, name: string, passed: readonly string[]): string[] {
  return [launcher, ...(SHIM_WORDS['heimdall'] ?? []), SERVER_NAME + name, passEnvWord(passed), '--']
}

/** Our launcher under the name that the line uses. */
export const launcherOf = ({ launcher }: ShimLine, own: OwnCommand): string => join(dirname(own.launcher), launcher)

/** The words before `--` of a line that stands already, as they should be: flags that a person added stay. */
export function renewedWords(
  words: readonly string[],
  line: ShimLine,
  own: OwnCommand,
  name: string,
  passed: readonly string[],
): string[] {
  return words.map((word, index) => {
    if (index === 0 && line.isByNode) return launcherOf(line, own)
    if (word.startsWith(SERVER_NAME)) return SERVER_NAME + name
    return word.startsWith(PASS_ENV) ? passEnvWord([...namesIn(word), ...passed]) : word
  })
}

/** Names of the variables that a server is meant to get, as far as a list with commas can hold them. */
export function passedNames(value: Readonly<Record<string, unknown>>, envList: string | undefined): string[] {
  return typeof value['envFile'] === 'string' ? [ALL] : namesSet(value, envList).filter(isPassable)
}

/** The others: no reason to hand on everything instead. */
export function unpassedNames(value: Readonly<Record<string, unknown>>, envList: string | undefined): string[] {
  return typeof value['envFile'] === 'string' ? [] : namesSet(value, envList).filter((name) => !isPassable(name))
}

const isPassable = (name: string): boolean => name !== ALL && name !== '' && !name.includes(',')

function namesSet(value: Readonly<Record<string, unknown>>, envList: string | undefined): string[] {
  const own = isObject(value['env']) ? Object.keys(value['env']) : []
  const listed = envList === undefined || !Array.isArray(value[envList]) ? [] : value[envList].flatMap(nameIn)
  return [...own, ...listed]
}

function nameIn(entry: unknown): string[] {
  if (typeof entry === 'string') return [entry]
  return isObject(entry) && typeof entry['name'] === 'string' ? [entry['name']] : []
}

function passEnvWord(names: readonly string[]): string {
  return PASS_ENV + (names.includes(ALL) ? ALL : [...new Set(names)].join(','))
}

const namesIn = (word: string): string[] =>
  word
    .slice(PASS_ENV.length)
    .split(',')
    .filter((name) => name !== '')

export function wordsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return []
  return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined
}
