// Help pages from the specs of commands: examples first, then what the command takes.
import { type Command, type CommandSpec, type FlagSpec, isSwitch } from '../command.ts'
import { ABOUT, GROUPS } from '../nouns.ts'
import { GLOBAL_FLAGS } from '../parse.ts'

export function flagLabel(name: string, flag: FlagSpec): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  return `${short}--${name}${isSwitch(flag) ? '' : ` ${flag.value ?? flag.choices?.join('|') ?? flag.type?.toUpperCase()}`}`
}

export function synopsis(spec: CommandSpec, calledAs: string): string {
  const args = (spec.args ?? []).map((arg) => {
    const label = arg.name.toUpperCase() + (arg.variadic === true ? '…' : '')
    return arg.optional === true ? `[${label}]` : label
  })
  const flags = Object.keys(spec.flags ?? {}).length > 0 ? ['[flags]'] : []
  const rest = spec.rest === undefined ? [] : [...(spec.restFromFirst === true ? [] : ['--']), spec.rest]
  return [calledAs, ...args, ...flags, ...rest].join(' ')
}

/** The page of a command, of a group of commands, or of a word that is both. */
export function helpFor(commands: readonly Command[], name: string, isAll = false): string {
  const own = commands.find(({ spec }) => (spec.names as readonly string[]).includes(name))
  const isGroup = commands.some(({ spec }) => spec.names.some((other) => other.startsWith(`${name} `)))
  if (own === undefined) return overviewHelp(commands, name, isAll)
  const page = commandHelp(own.spec, name)
  return isGroup ? `${page}\n\nCommands:\n${columns([...overviewRows(commands, name, isAll)]).join('\n')}` : page
}

function commandHelp(spec: CommandSpec, calledAs: string): string {
  const lines = [spec.summary, '', 'Examples:']
  for (const [run, does] of Object.entries(spec.examples)) lines.push(`  ${run}`, `      ${does}`)
  lines.push('', 'Usage:', `  ${synopsis(spec, calledAs)}`)
  if (spec.about !== undefined) lines.push('', spec.about)
  if (spec.args !== undefined && spec.args.length > 0)
    lines.push('', 'Arguments:', ...columns(spec.args.map((arg) => [arg.name.toUpperCase(), arg.help])))
  if (spec.flags !== undefined) lines.push('', 'Flags:', ...columns(flagRows(spec.flags)))
  const json = { ...GLOBAL_FLAGS.json, help: spec.json ?? GLOBAL_FLAGS.json.help }
  lines.push('', 'Flags of every command:', ...columns(flagRows({ ...GLOBAL_FLAGS, json })))
  const others = spec.names.filter((name) => name !== calledAs)
  if (others.length > 0) lines.push('', `Also called: ${others.join(', ')}`)
  return lines.join('\n')
}

const flagRows = (flags: Readonly<Record<string, FlagSpec>>): [string, string][] =>
  Object.entries(flags).map(([name, flag]) => [flagLabel(name, flag), flagHelp(flag)])

/** Adds the default unless the text has it. */
export function flagHelp(flag: FlagSpec): string {
  if (flag.default === undefined || flag.default === false || /\bdefault\b/.test(flag.help)) return flag.help
  return `${flag.help} (default ${flag.type === 'duration' ? durationText(Number(flag.default)) : flag.default})`
}

/** As it is typed: `15m`, `1h30m`. */
function durationText(totalMs: number): string {
  const parts: string[] = []
  let leftMs = totalMs
  for (const [unit, ms] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ] as const) {
    const count = Math.floor(leftMs / ms)
    if (count > 0) parts.push(`${count}${unit}`)
    leftMs -= count * ms
  }
  return parts.join('') || '0s'
}

/** The commands under `prefix` (`heimdall`, `heimdall claim`, `hm`); a group is one row. */
function overviewHelp(commands: readonly Command[], prefix: string, isAll = false): string {
  const rows = overviewRows(commands, prefix, isAll)
  const isTop = !prefix.includes(' ')
  const lines = [isTop ? (ABOUT[prefix] ?? prefix) : `${ABOUT[prefix] ?? prefix}.`]
  if (prefix === 'heimdall') {
    const width = widthOf([...rows.keys()])
    for (const [group, words] of Object.entries(GROUPS)) lines.push('', group, ...columns(rowsOf(rows, words), width))
    const rest = [...rows.keys()].filter((word) => !Object.values(GROUPS).flat().includes(word))
    if (isAll) lines.push('', 'More', ...columns(rowsOf(rows, rest), width))
    lines.push('', 'heimdall COMMAND --help shows examples and flags.')
    lines.push(isAll ? 'heimdall help exit-codes | environment | errors' : 'heimdall help --all lists every command.')
  } else lines.push('', 'Commands:', ...columns([...rows]), '', `${prefix} COMMAND --help shows more.`)
  return lines.join('\n')
}

const rowsOf = (rows: ReadonlyMap<string, string>, words: readonly string[]): [string, string][] =>
  words.flatMap((word): [string, string][] => {
    const summary = rows.get(word)
    return summary === undefined ? [] : [[word, summary]]
  })

/** The next word after `prefix`, and what its commands do. */
function overviewRows(commands: readonly Command[], prefix: string, isAll: boolean): Map<string, string> {
  const depth = prefix.split(' ').length
  const rows = new Map<string, string>()
  for (const { spec } of commands) {
    if (spec.hidden === true && !isAll) continue
    for (const name of spec.names.filter((other) => other.startsWith(`${prefix} `))) {
      const words = name.split(' ')
      const word = words[depth] ?? ''
      const about = ABOUT[`${prefix} ${word}`]
      rows.set(word, about ?? (words.length === depth + 1 ? spec.summary : (rows.get(word) ?? spec.summary)))
    }
  }
  return rows
}

const widthOf = (labels: readonly string[]): number => Math.min(36, Math.max(0, ...labels.map(({ length }) => length)))

export function columns(
  rows: readonly (readonly [string, string])[],
  width = widthOf(rows.map(([left]) => left)),
): string[] {
  return rows.map(([left, right]) =>
    left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
  )
}
