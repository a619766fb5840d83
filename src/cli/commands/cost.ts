// heimdall cost: measured tokens and dollars of agents or runs, from the usage that the records of runs hold.
import { basename } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { runsDirOf } from '../../paths.ts'
import { type CostReport, costReport, type CostRow } from '../../runs/cost-report.ts'
import { knownRun } from '../../runs/known-run.ts'
import { runFolders } from '../../runs/run-folder.ts'
import { didYouMean } from '../../suggest.ts'
import { type Command, command } from '../command.ts'
import { momentIn } from '../moment-in.ts'
import { column, columnRight } from '../render/columns.ts'
import { foldText } from '../render/fold.ts'
import { renderTable, type Style } from '../render/style.ts'
import { runScope } from '../this-repository.ts'
import { usageError } from '../usage-error.ts'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall cost'],
    summary: 'Show what agents have cost, in tokens and dollars',
    about:
      'One row per agent of this repository; with an agent or a run, one row per run. The numbers are what the hosts ' +
      'recorded of their models (docs/costs.md), at list prices; subscriptions and discounts are not known. Runs ' +
      'without such records are listed as not measured, never estimated. IN is input that was not read from the cache.',
    args: [{ name: 'agent', help: 'only this agent, run by run', optional: true }],
    flags: {
      today: { help: 'since midnight, local time' },
      since: { value: 'TIME', help: 'since then: 7d for a week ago, or 2026-11-16T08:00Z' },
      run: { value: 'ID', help: 'only this run' },
      agent: { value: 'NAME', help: 'the same as AGENT' },
      'all-projects': { help: 'of all repositories, with a column that names them' },
    },
    examples: {
      'heimdall cost': 'shows all agents of this repository and a total',
      'heimdall cost --today': 'what was used since midnight',
      'heimdall cost amber-otter --since 7d': 'the runs of one agent in the last week',
      'heimdall cost --all-projects --json': 'all repositories, for a program',
    },
    output:
      'rows: array of {agent_id, run_id (null in a row per agent), project (with --all-projects), runs, messages, tokens_in (not from the cache), tokens_cached, tokens_out, usd, unpriced (models without a price)}, total (the same sums), unmeasured: array of {run_id, agent_id}, unread (lines of transcripts that were not understood), prices (dates of the price tables), since',
    run: async (context, { args, flags }) => {
      const runsDir = runsDirOf(context.env)
      const agent = oneOf(args.agent, flags.agent)
      const isAll = flags['all-projects'] === true
      const scope = await runScope(context, isAll || flags.run !== undefined)
      const sinceMs = sinceOf(flags, context.clock.wallMs())
      const report = costReport({
        runs: flags.run === undefined ? runFolders(runsDir).runs : [knownRun(runsDir, flags.run)],
        has: scope.has,
        agent,
        sinceMs,
        by: agent === undefined && flags.run === undefined ? 'agent' : 'run',
        pathOf: isAll ? scope.pathOf : undefined,
      })
      const { agents, ...rest } = report
      if (agent !== undefined && sinceMs === undefined && !agents.includes(agent))
        throw new HeimdallError('AGENT_NOT_FOUND', `no run of an agent ${printable(agent)}`, {
          hint: didYouMean(agent, agents, 'heimdall cost shows the agents that have runs here'),
        })
      const notes = notesOf(report)
      const table = report.rows.length === 0 ? 'No measured usage.' : tableOf(report, isAll, context.style)
      // In a pipe stdout has rows alone.
      if (!context.style.isTty && !context.json) for (const line of notes) context.note(line)
      return {
        data: { ...rest, since: sinceMs === undefined ? null : new Date(sinceMs).toISOString() },
        text: context.style.isTty
          ? [table, foldText(notes.join('\n'), context.style.columns)].join('\n').trim()
          : table,
      }
    },
  }),
]

function oneOf(named: string | undefined, flag: string | undefined): string | undefined {
  if (named !== undefined && flag !== undefined && named !== flag)
    throw usageError(`two agents are named: ${printable(named)} and ${printable(flag)}`)
  return named ?? flag
}

function sinceOf(
  { today, since }: { readonly today: boolean | undefined; readonly since: string | undefined },
  nowMs: number,
): number | undefined {
  if (today === true && since !== undefined) throw usageError('--today does not go with --since')
  if (today === true) return new Date(nowMs).setHours(0, 0, 0, 0)
  if (since === undefined) return undefined
  const ms = momentIn(since, nowMs)
  if (ms !== undefined) return ms
  throw usageError(
    `--since takes how long ago (90s, 2h, 7d) or a time (2026-11-16, 2026-11-16T08:00Z), got ${printable(since)}`,
  )
}

const NAMED_MAX = 5

function notesOf({ rows, total, unmeasured, unread, prices }: CostReport): string[] {
  const names = [...new Set(unmeasured.map(({ agent_id: id }) => id))]
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : ''
  return [
    ...(rows.length === 0 ? [] : [`list prices of ${prices.join(', ')}`]),
    ...(total.unpriced.length === 0 ? [] : [`no price, tokens only: ${total.unpriced.join(', ')}`]),
    ...(unmeasured.length === 0
      ? []
      : [
          `not measured: ${unmeasured.length} ${unmeasured.length === 1 ? 'run' : 'runs'} of ${names.slice(0, NAMED_MAX).map(printableName).join(', ')}${more}`,
        ]),
    ...(unread === 0 ? [] : [`not counted: ${unread} lines of transcripts that were not understood`]),
  ]
}

type Sums = CostReport['total']

/** Exact numbers in a pipe; on a terminal rounded ones in columns that fit, without CACHED where it is narrow. */
function tableOf({ rows, total }: CostReport, isAll: boolean, style: Style): string {
  const isByRun = rows.some(({ run_id: run }) => run !== null)
  const title = isByRun ? 'RUN' : 'AGENT'
  const nameOf = ({ agent_id: id, run_id: run }: CostRow): string => run ?? id
  if (!style.isTty) {
    const cells = ({ tokens_in: fresh, tokens_cached: cached, tokens_out: out, usd }: Sums): string[] =>
      [fresh, cached, out].map(String).concat(usd.toFixed(4))
    const project = (path: string | null | undefined): string[] => (isAll ? [path ?? '-'] : [])
    return renderTable(
      style,
      [title, 'IN', 'CACHED', 'OUT', 'USD', ...(isAll ? ['PROJECT'] : [])],
      [
        ...rows.map((row) => [nameOf(row), ...cells(row), ...project(row.project)]),
        ['total', ...cells(total), ...project('')],
      ],
    )
  }
  const isNarrow = style.columns < 60
  const project = isAll ? (isNarrow ? 10 : 20) : 0
  const numbers = (sums: Sums): string[] => [
    short(sums.tokens_in),
    ...(isNarrow ? [] : [short(sums.tokens_cached)]),
    short(sums.tokens_out),
    dollars(sums),
  ]
  const widths = isNarrow ? [6, 6, 9] : [8, 8, 8, 10]
  const taken = widths.reduce((sum, width) => sum + width + 1, 0) + (project === 0 ? 0 : project + 1)
  const name = Math.max(6, Math.min(style.columns - taken, Math.max(12, ...rows.map((row) => nameOf(row).length))))
  const line = (first: string, cells: readonly string[], where: string): string =>
    [
      column(first, name),
      ...cells.map((cell, i) => columnRight(cell, widths[i] ?? 8)),
      ...(project === 0 ? [] : [column(where, project)]),
    ]
      .join(' ')
      .trimEnd()
  const head = ['IN', ...(isNarrow ? [] : ['CACHED']), 'OUT', 'COST']
  return [
    style.color.dim(line(title, head, 'PROJECT')),
    ...rows.map((row) => line(printableName(nameOf(row)), numbers(row), basename(row.project ?? '-'))),
    style.color.bold(line('total', numbers(total), '')),
  ].join('\n')
}

/** Ids are plain; anything else is quoted and escaped. */
const printableName = (name: string): string => (/^[\w.:/-]+$/.test(name) ? name : printable(name))

/** A sum without any price is not zero dollars. */
const dollars = ({ usd, unpriced }: Sums): string =>
  usd === 0 && unpriced.length > 0 ? 'no price' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`

function short(count: number): string {
  if (count < 10_000) return String(count)
  return count < 1e6 ? `${Math.round(count / 1e3)}k` : `${(count / 1e6).toFixed(count < 1e7 ? 2 : 1)}M`
}
