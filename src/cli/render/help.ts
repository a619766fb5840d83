// Help pages from the table of commands: examples first, then what the command takes.
import type { Command, CommandSpec, FlagSpec } from '../command.ts'
import { GLOBAL_FLAGS } from '../parse.ts'

export function flagLabel(name: string, flag: FlagSpec): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  return `${short}--${name}${flag.type === 'boolean' ? '' : ` ${flag.value ?? flag.choices?.join('|') ?? flag.type.toUpperCase()}`}`
}

export function synopsis(spec: CommandSpec, calledAs: string): string {
  const args = (spec.args ?? []).map((arg) => {
    const label = arg.name.toUpperCase() + (arg.variadic === true ? '…' : '')
    return arg.optional === true ? `[${label}]` : label
  })
  const flags = Object.keys(spec.flags ?? {}).length > 0 ? ['[flags]'] : []
  return [calledAs, ...args, ...flags, ...(spec.rest === undefined ? [] : ['--', spec.rest])].join(' ')
}

export function commandHelp(spec: CommandSpec, calledAs: string): string {
  const lines = [spec.summary, '', 'Examples:']
  for (const example of spec.examples) lines.push(`  ${example.run}`, `      ${example.does}`)
  lines.push('', 'Usage:', `  ${synopsis(spec, calledAs)}`)
  if (spec.about !== undefined) lines.push('', spec.about)
  if (spec.args !== undefined && spec.args.length > 0)
    lines.push('', 'Arguments:', ...columns(spec.args.map((arg) => [arg.name.toUpperCase(), arg.help])))
  if (spec.flags !== undefined) lines.push('', 'Flags:', ...columns(flagRows(spec.flags)))
  lines.push('', 'All commands:', ...columns(flagRows(globalFlagsOf(spec))))
  const others = spec.names.filter((name) => name !== calledAs)
  if (others.length > 0) lines.push('', `Also called: ${others.join(', ')}`)
  return lines.join('\n')
}

function globalFlagsOf({ json = GLOBAL_FLAGS.json.help }: CommandSpec): Readonly<Record<string, FlagSpec>> {
  return { ...GLOBAL_FLAGS, json: { ...GLOBAL_FLAGS.json, help: json } }
}

function flagRows(flags: Readonly<Record<string, FlagSpec>>): [string, string][] {
  return Object.entries(flags).map(([name, flag]) => [
    flagLabel(name, flag),
    flag.default === undefined || flag.default === false ? flag.help : `${flag.help} (default ${flag.default})`,
  ])
}

/** Overview of what is below `prefix` (`heimdall`, `heimdall claim`, `hm`): commands, and groups of commands in one line each. */
export function overviewHelp(
  commands: readonly Command[],
  prefix: string,
  about: Readonly<Record<string, string>>,
): string {
  const depth = prefix.split(' ').length
  const rows = new Map<string, string>()
  for (const { spec } of commands) {
    if (spec.hidden === true) continue
    for (const name of spec.names.filter((other) => other.startsWith(`${prefix} `) || other === prefix)) {
      const words = name.split(' ')
      const group = words.slice(0, depth + 1).join(' ')
      // A line for a group names its verbs, so that the overview stays on one screen and still shows what there is.
      if (words.length <= depth + 1) rows.set(name, spec.summary)
      else rows.set(group, `${rows.get(group) ?? `${about[group] ?? group}:`} ${words[depth + 1]}`)
    }
  }
  const heading = depth === 1 ? (about[prefix] ?? prefix) : `${prefix}: ${about[prefix] ?? ''}`
  return [heading, '', 'Commands:', ...columns([...rows]), '', `${prefix} COMMAND --help shows more.`].join('\n')
}

export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(36, Math.max(0, ...rows.map(([left]) => left.length)))
  return rows.map(([left, right]) =>
    left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
  )
}
