// Text of the pages in docs/ that are made from tables.
import { readdirSync, readFileSync } from 'node:fs'
import type { FlagSpec } from '../../src/cli/command.ts'
import { ABOUT, allCommands } from '../../src/cli/nouns.ts'

const COMMANDS = await allCommands()
import { MANNERS } from '../../src/cli/manners.ts'
import { exitCodeRows, launcherExitRows } from '../../src/cli/render/exit-codes.ts'
import { flagHelp, flagLabel, synopsis } from '../../src/cli/render/help.ts'
import { GLOBAL_FLAGS } from '../../src/cli/parse.ts'
import { CONFIG_KEYS } from '../../src/config.ts'
import { ERRORS } from '../../src/errors.ts'

/** Whether a setting counts in a project's file. */
const COUNTS = { 'any file': 'counts', 'trusted file': 'once trusted', 'own file': 'never' } as const

export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([code, entry]) => {
    const seed = 'seedExit' in entry ? entry.seedExit : entry.exit
    return `| \`${code}\` | ${entry.kind} | ${entry.exit} | ${seed} | ${entry.http} | ${entry.means} |`
  })
  return [
    '# Errors',
    '',
    'Made from `src/errors.ts` by `npm run docs`; a test keeps the two equal.',
    '',
    'With `--json` the code is in `error.code`; otherwise stderr has one line `error: …` and, where there is something to do about it, one line `hint: …`.',
    'The kind says who can act: the caller (*user*), whoever wrote the configuration (*config*), the other end of a connection (*peer*), time (*retry*), or us (*bug*).',
    'The second exit code is the one of commands called by a name that a contract gives them (`hm`, `heimdall-claim`, `bb`, …).',
    `A launcher may have codes of its own: ${ownExits()}.`,
    '',
    '| code | kind | exit | exit, contract names | HTTP | means |',
    '|---|---|--:|--:|--:|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Launchers that share their codes in one clause. */
function ownExits(): string {
  const launchersOf = new Map<string, string[]>()
  for (const [launcher, { exits }] of Object.entries(MANNERS)) {
    const codes = Object.entries(exits ?? {}).map(([code, exit]) => `\`${code}\` ${exit}`)
    if (codes.length > 0) launchersOf.set(codes.join(', '), [...(launchersOf.get(codes.join(', ')) ?? []), launcher])
  }
  return [...launchersOf]
    .map(([codes, launchers]) => `${launchers.map((l) => `\`${l}\``).join(', ')} have ${codes}`)
    .join('; ')
}

export function cliPage(): string {
  const lines = [
    '# Commands',
    '',
    'Made from the specs in `src/cli/commands/` by `npm run docs`; a test keeps the two equal.',
    '',
    ABOUT['heimdall'] ?? '',
    '',
    '## Exit codes',
    '',
    '| code | means |',
    '|--:|---|',
    ...exitCodeRows().map(([code, meaning]) => `| ${code} | ${meaning} |`),
    '',
    'Launchers with exit codes of their own, for errors without one in `heimdall help exit-codes`:',
    '',
    '| code | launchers |',
    '|---|---|',
    ...launcherExitRows().map(([rule, launchers]) => `| ${rule} | ${launchers} |`),
    '',
    '## Flags of every command',
    '',
    ...flagList(GLOBAL_FLAGS),
    '',
    '## Settings',
    '',
    'Flag, then environment, then `./heimdall.toml`, then `$XDG_CONFIG_HOME/heimdall/heimdall.toml`, then the default. Unknown keys are refused, and so are variables of ours in `env` and `session_env_var`. A project’s file counts for the settings marked so at once, for most others once a person has trusted its content, and for those about the person never ([person.md](person.md), `heimdall trust`).',
    '',
    '| key | default | in a project’s file | means |',
    '|---|---|---|---|',
    ...Object.entries(CONFIG_KEYS).map(
      ([key, entry]) =>
        `| \`${key}\` | \`${JSON.stringify(entry.default)}\` | ${COUNTS[entry.from]} | ${entry.help}${'env' in entry ? ` (environment: \`${entry.env}\`)` : ''} |`,
    ),
    '',
  ]
  for (const { spec } of COMMANDS) {
    if (spec.hidden === true) continue
    lines.push(
      `## ${spec.names[0]}`,
      '',
      `${spec.summary}.`,
      '',
      '```',
      ...Object.entries(spec.examples).flatMap(([run, does]) => [run, `    # ${does}`]),
      '```',
      '',
    )
    lines.push(`Usage: \`${synopsis(spec, spec.names[0])}\``, '')
    if (spec.names.length > 1)
      lines.push(
        `Also: ${spec.names
          .slice(1)
          .map((name) => `\`${name}\``)
          .join(', ')}`,
        '',
      )
    if (spec.about !== undefined) lines.push(spec.about, '')
    for (const arg of spec.args ?? []) lines.push(`- \`${arg.name.toUpperCase()}\`: ${arg.help}`)
    lines.push(...flagList(spec.flags ?? {}))
    lines.push('', `\`--json\` data: ${spec.output}.`, '')
  }
  return lines.join('\n')
}

function flagList(flags: Readonly<Record<string, FlagSpec>>): string[] {
  return Object.entries(flags).map(([name, flag]) => `- \`${flagLabel(name, flag)}\`: ${flagHelp(flag)}`)
}

/** What notes are about, by the first number of each part. */
const DECISION_PARTS: readonly (readonly [from: number, about: string])[] = [
  [1, 'The house'],
  [10, 'Storage'],
  [20, 'Canonical JSON and policy'],
  [30, 'The path of a call and its record'],
  [40, 'Inside a session'],
  [50, 'Sessions from outside, and who keeps a run'],
  [60, 'Briefs'],
  [70, 'Scopes, MCP, the guard'],
  [80, 'Coordination'],
  [90, 'Hosts, pins, the run index, worktrees, HTTP'],
  [110, 'Hooks of hosts'],
  [120, 'Costs'],
  [130, 'The hub'],
  [140, 'The dashboard'],
  [150, 'Dispatch'],
  [160, 'Several machines'],
  [170, 'The demo'],
]

export function decisionsPage(folder: string): string {
  const notes = readdirSync(folder)
    .filter((name) => name !== 'README.md')
    .sort()
    .map((name) => {
      const title = /^# \d{4} (.+)$/m.exec(readFileSync(`${folder}/${name}`, 'utf8'))?.[1] ?? ''
      return { number: Number(name.slice(0, 4)), line: `- [${name.slice(0, 4)}](${name}) ${title}` }
    })
  const parts = DECISION_PARTS.flatMap(([from, about], i) => {
    const until = DECISION_PARTS[i + 1]?.[0] ?? Number.POSITIVE_INFINITY
    return [
      '',
      `## ${about}`,
      '',
      ...notes.filter(({ number }) => number >= from && number < until).map(({ line }) => line),
    ]
  })
  return [
    '# Decisions',
    '',
    'One note for each choice that somebody could make otherwise: what was decided, why, and what else was considered. Made from the notes by `npm run docs`; numbers are of parts and not of time, and none is used twice.',
    ...parts,
    '',
  ].join('\n')
}
