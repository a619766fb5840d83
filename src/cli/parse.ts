// Parses the words of a command line by the spec of its command: typed flags and arguments, or one USAGE error that names the allowed values.
import { parseArgs } from 'node:util'
import type { HeimdallError } from '../errors.ts'
import { escapeControls, printable } from '../ids.ts'
import { quoted } from '../quoted.ts'
import { nearest } from '../suggest.ts'
import { type CommandSpec, type FlagSpec, type Input, isSwitch } from './command.ts'
import { FLAG_MEANINGS } from './renames.ts'
import { usageError } from './usage-error.ts'

/** What a flag takes at most, where it has no bound of its own. */
const INTEGER_MAX = 999_999_999_999_999

/** Flags that every command has. */
export const GLOBAL_FLAGS = {
  json: { help: 'print one JSON object {ok, command, data, error} on stdout' },
  help: { short: 'h', help: 'show help for this command' },
  color: { help: 'colour on or off (--no-color); NO_COLOR and CLICOLOR_FORCE are honoured' },
  config: { value: 'FILE', help: 'read this configuration file and no other' },
} as const satisfies Record<string, FlagSpec>

/** Flags of some commands that are also accepted before the command: `hm --host box attach api`. */
const EARLY_FLAGS = { host: { value: 'HOST', help: '' } } as const satisfies Record<string, FlagSpec>

/** How many words at `at` are a global flag with its value; 0 if there is none. */
export function globalFlagWords(words: readonly string[], at: number): number {
  const word = words[at] ?? ''
  for (const [name, flag] of Object.entries<FlagSpec>({ ...GLOBAL_FLAGS, ...EARLY_FLAGS })) {
    if (word === `--${name}` || (flag.short !== undefined && word === `-${flag.short}`))
      return isSwitch(flag) ? 1 : Math.min(2, words.length - at)
    if (word.startsWith(`--${name}=`) || (isSwitch(flag) && word === `--no-${name}`)) return 1
  }
  return 0
}

export interface Parsed extends Input {
  readonly globals: {
    readonly json: boolean
    readonly help: boolean
    readonly color: boolean | undefined
    readonly config: string | undefined
  }
}

export function parseCommandLine(spec: CommandSpec, calledAs: string, words: readonly string[]): Parsed {
  const flags: Readonly<Record<string, FlagSpec>> = { ...GLOBAL_FLAGS, ...spec.flags }
  const { tokens } = parseArgs({
    args: [...words],
    options: optionsOf(flags),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Record<string, unknown> = {}
  const positionals: string[] = []
  let rest: string[] = []
  let literalAt = -1
  for (const token of tokens) {
    // `-12` comes as two tokens of the same word.
    if (token.index === literalAt) continue
    if (token.kind === 'option-terminator') {
      rest = words.slice(token.index + 1)
      break
    }
    if (token.kind === 'positional' && spec.restFromFirst === true) {
      rest = words.slice(token.index)
      break
    }
    if (token.kind === 'option' && spec.rest !== undefined && !isFlag(flags, token.rawName, token.name))
      refuseCommandWithoutDashes(spec, calledAs, positionals, words)
    if (token.kind === 'positional') positionals.push(token.value)
    else if (spec.literal === true && !isFlag(flags, token.rawName, token.name)) {
      literalAt = token.index
      positionals.push(words[token.index] ?? '')
    } else if (!isFlag(flags, token.rawName, token.name)) throw unknownFlag(spec, flags, calledAs, token, words)
    else setFlag(values, flags, calledAs, token.rawName, token.name, token.value)
  }
  if (rest.length > 0 && spec.rest === undefined) {
    positionals.push(...rest)
    rest = []
  }
  const globals = {
    json: values['json'] === true,
    help: values['help'] === true,
    color: values['color'] as boolean | undefined,
    config: values['config'] as string | undefined,
  }
  if (globals.help) return { flags: {}, args: {}, rest: [], globals }
  for (const [name, flag] of Object.entries(spec.flags ?? {})) {
    if (values[name] === undefined && flag.required === true) throw usage(calledAs, `--${name} is required`)
    values[name] ??= flag.multiple === true ? [] : flag.default
  }
  return { flags: values, args: bindArgs(spec, calledAs, positionals, rest), rest, globals }
}

/** For `hm run ls -la`: the missing `--` is the mistake, not the flag. */
function refuseCommandWithoutDashes(
  { args = [] }: CommandSpec,
  calledAs: string,
  positionals: readonly string[],
  words: readonly string[],
): void {
  const first = args.some(({ variadic }) => variadic === true) ? undefined : positionals[args.length]
  if (first !== undefined)
    throw unexpected(
      calledAs,
      first,
      `put the command after --: ${commandAfter(calledAs, words.slice(words.indexOf(first)))}`,
    )
}

type ParseOptions = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

function optionsOf(flags: Readonly<Record<string, FlagSpec>>): ParseOptions {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      {
        type: isSwitch(flag) ? 'boolean' : 'string',
        ...(flag.short === undefined ? {} : { short: flag.short }),
      } as const,
    ]),
  )
}

function isNegated(flags: Readonly<Record<string, FlagSpec>>, rawName: string, name: string): boolean {
  const flag = Object.hasOwn(flags, name.slice(3)) ? flags[name.slice(3)] : undefined
  return rawName.startsWith('--no-') && flag !== undefined && isSwitch(flag)
}

function isFlag(flags: Readonly<Record<string, FlagSpec>>, rawName: string, name: string): boolean {
  return Object.hasOwn(flags, name) || isNegated(flags, rawName, name)
}

/** By what flags of this name mean in other tools, then by its letters. */
function unknownFlag(
  { args = [] }: CommandSpec,
  flags: Readonly<Record<string, FlagSpec>>,
  calledAs: string,
  { name, rawName }: { readonly name: string; readonly rawName: string },
  words: readonly string[],
): HeimdallError {
  const meanings = Object.hasOwn(FLAG_MEANINGS, name) ? (FLAG_MEANINGS[name] ?? []) : []
  const isArg = (one: string): boolean => args.some((arg) => arg.name.toUpperCase() === one)
  const meant = meanings.find((one) => Object.hasOwn(flags, one) || isArg(one))
  if (meant !== undefined && isArg(meant)) {
    const others = words.map((word) => word.replace(`${rawName}=`, '')).filter((word) => word !== rawName)
    const line = escapeControls([calledAs, ...others.map(quoted)].join(' '))
    return usage(calledAs, `unknown flag ${printable(rawName)}`, `${meant} needs no flag: ${line}`)
  }
  const close = meant ?? nearest(rawName.replace(/^--?/, ''), Object.keys(flags))
  const hint = close === undefined ? undefined : `did you mean --${close}?`
  return usage(calledAs, `unknown flag ${printable(rawName)}`, hint)
}

function setFlag(
  values: Record<string, unknown>,
  flags: Readonly<Record<string, FlagSpec>>,
  calledAs: string,
  rawName: string,
  name: string,
  text: string | undefined,
): void {
  const negated = isNegated(flags, rawName, name)
  const key = negated ? name.slice(3) : name
  const flag = flags[key] as FlagSpec
  const value = negated ? false : readValue(flag, calledAs, rawName, text)
  if (flag.multiple === true) values[key] = [...((values[key] as unknown[] | undefined) ?? []), value]
  else values[key] = value
}

function readValue(
  flag: FlagSpec,
  calledAs: string,
  rawName: string,
  text: string | undefined,
): string | number | boolean {
  if (isSwitch(flag)) {
    if (text === undefined || text === 'true') return true
    if (text === 'false') return false
    throw usage(calledAs, `${rawName} takes true or false, got ${printable(text)}`)
  }
  if (text === undefined) throw usage(calledAs, `${rawName} needs a value`)
  if (flag.choices !== undefined && !flag.choices.includes(text))
    throw usage(calledAs, `${rawName} takes ${flag.choices.join(', ')}; got ${printable(text)}`)
  if (flag.type === 'integer') {
    if (/^\d+$/.test(text) && Number(text) <= (flag.most ?? INTEGER_MAX)) return Number(text)
    const most = flag.most ?? (/^\d+$/.test(text) ? INTEGER_MAX : undefined)
    const bound = most === undefined ? '' : ` of at most ${most}`
    throw usage(calledAs, `${rawName} takes a whole number${bound}, got ${printable(text)}`)
  }
  return flag.type === 'duration' ? parseDuration(calledAs, rawName, text, flag.mayBeZero === true ? 0 : 1) : text
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseDuration(calledAs: string, rawName: string, text: string, leastMs: number): number {
  const parts = [...text.matchAll(/(\d{1,9})(ms|[smhd])/g)]
  const totalMs = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0)
  if (parts.map(([whole]) => whole).join('') === text && text !== '' && totalMs >= leastMs) return totalMs
  throw usage(calledAs, `${rawName} takes a duration such as 90s, 1h30m or 7d, got ${printable(text)}`)
}

function bindArgs(
  spec: CommandSpec,
  calledAs: string,
  positionals: readonly string[],
  rest: readonly string[],
): Record<string, unknown> {
  const args: Record<string, unknown> = {}
  let next = 0
  for (const arg of spec.args ?? []) {
    if (arg.variadic === true) {
      if (next >= positionals.length && arg.optional !== true)
        throw usage(calledAs, `${arg.name.toUpperCase()} is missing`)
      args[arg.name] = positionals.slice(next)
      next = positionals.length
    } else {
      if (next >= positionals.length && arg.optional !== true)
        throw usage(calledAs, `${arg.name.toUpperCase()} is missing`)
      args[arg.name] = positionals[next]
      next += 1
    }
  }
  const extra = positionals[next]
  if (extra !== undefined)
    throw unexpected(calledAs, extra, hintForExtra(spec, calledAs, positionals.slice(next), rest))
  return args
}

/** With a command after `--`, an extra word before it was probably meant as a name. */
function hintForExtra(
  spec: CommandSpec,
  calledAs: string,
  extra: readonly string[],
  rest: readonly string[],
): string | undefined {
  if (spec.rest === undefined) return undefined
  if (rest.length === 0) return `put the command after --: ${commandAfter(calledAs, extra)}`
  const [name = ''] = extra
  return extra.length === 1 && spec.flags?.['id'] !== undefined
    ? `a name is given with --id: ${commandAfter(`${calledAs} --id ${quoted(name)}`, rest)}`
    : undefined
}

const commandAfter = (before: string, command: readonly string[]): string =>
  escapeControls(`${before} -- ${command.map(quoted).join(' ')}`)

function unexpected(calledAs: string, argument: string, hint: string | undefined): HeimdallError {
  return usage(
    calledAs,
    // A URL may have a password in it.
    `unexpected argument ${printable(argument.replace(/\/\/[^@\s]*@/, '//…@'))}`,
    hint,
  )
}

function usage(calledAs: string, message: string, hint?: string): HeimdallError {
  return usageError(message, hint ?? `${calledAs} --help shows what it takes`)
}
