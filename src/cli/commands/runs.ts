// heimdall runs and sub run: list, show and prune the runs of this user, rebuild their index, and run a plain command as one run.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { CLIENTS, ENVIRONMENTS } from '../../events/types.ts'
import { escapeControls, printable } from '../../ids.ts'
import { RUNS_LISTED } from '../../limits.ts'
import { runsDirOf } from '../../paths.ts'
import { loadConfig } from '../../config.ts'
import { agentAbove, refuseAgent } from '../../person.ts'
import { behindOf, catchUp } from '../../runs/index/catch-up.ts'
import { indexPath, openIndexToRead } from '../../runs/index/run-index.ts'
import { knownRun } from '../../runs/known-run.ts'
import { pruneRuns } from '../../runs/prune.ts'
import { retentionOf } from '../../runs/retention.ts'
import { factsOf, type RunFacts } from '../../runs/run-facts.ts'
import { runFolders } from '../../runs/run-folder.ts'
import { recordPath } from '../../runs/run-log.ts'
import { firstEvent, originOf } from '../../runs/run-project.ts'
import { callerOf, withStoreToRead } from '../coordination-store.ts'
import { ProgressLine } from '../render/progress-line.ts'
import { runScope } from '../this-repository.ts'
import { type Command, command, type Context } from '../command.ts'
import { costText } from '../render/cost.ts'
import { size } from '../render/size.ts'
import { renderTable } from '../render/style.ts'
import { usageError } from '../usage-error.ts'

const RUN_FIELDS =
  'run_id, folder, state (open, ended, lost or unknown), status, segment, agent_id, client, haid, session_id, started_at, changed_at, calls {total, allowed, blocked, throttled, errors}, cost (null, or {messages, tokens {input, cached, cache_write, cache_write_1h, output, reasoning}, usd, unpriced (models without a price), unread (lines that were not understood), prices (date of the table)}), members, bytes'

const list = command({
  names: ['heimdall runs list'],
  summary: 'List the runs of this repository, last changed first',
  about:
    'Outside of a repository, all runs. Changes nothing. A run is lost when its processes are gone and its end was not ' +
    'recorded; the watcher or heimdall doctor --fix closes it. Entries of the runs folder that are not runs, or are reached ' +
    'through a link, are listed as foreign and never touched.',
  flags: {
    open: { help: 'only active runs' },
    limit: { type: 'integer', value: 'N', default: RUNS_LISTED, help: 'at most this many; 0 for all' },
    'all-projects': { help: 'of all repositories, with a column that names them' },
  },
  examples: {
    'heimdall runs list': 'lists the latest runs with their agents, calls and sizes',
    'heimdall runs list --open --json': 'active runs, for a program',
    'heimdall runs list --all-projects': 'runs of all repositories',
  },
  output: `runs: array of {${RUN_FIELDS}} (with --all-projects also project), total (runs of all repositories), foreign: array of {name, why}`,
  run: async (context, { flags }) => {
    const { env, style, json, note } = context
    const isAll = flags['all-projects'] === true
    const { runs: folders, foreign } = runFolders(runsDirOf(env))
    const scope = await runScope(context, isAll)
    const most = flags.limit === 0 ? Infinity : flags.limit
    const runs: (RunFacts & { readonly project?: string | null })[] = []
    for (const folder of folders) {
      if (runs.length >= most) break
      const origin = originOf(scope.has === undefined && !isAll ? undefined : firstEvent(folder.runDir))
      if (scope.has?.(origin) === false) continue
      const facts = factsOf(folder)
      if (flags.open !== true || facts.state === 'open')
        runs.push(isAll ? { ...facts, project: scope.pathOf(origin) } : facts)
    }
    const rows = runs.map(({ run_id, folder, state, status, agent_id, started_at, calls, bytes, project }) => [
      run_id ?? folder,
      state === 'ended' ? status : state,
      agent_id ?? '-',
      started_at ?? '-',
      String(calls.total),
      String(calls.blocked + calls.throttled),
      size(bytes),
      ...(isAll ? [project ?? '-'] : []),
    ])
    const header = ['RUN', 'STATE', 'AGENT', 'STARTED', 'CALLS', 'REFUSED', 'SIZE', ...(isAll ? ['PROJECT'] : [])]
    const none = scope.has === undefined ? 'No runs.' : 'No runs in this repository; --all-projects lists all.'
    // On stderr: programs read the rows.
    if (!json)
      for (const { name, why } of foreign) note(`foreign, left alone: ${escapeControls(name)} (${escapeControls(why)})`)
    return {
      data: { runs, total: folders.length, foreign },
      text: rows.length === 0 ? none : renderTable(style, header, rows),
    }
  },
})

const show = command({
  names: ['heimdall runs show'],
  summary: 'Show one run: agent, state, calls, cost, and the path of its record',
  args: [{ name: 'id', help: 'id of a run' }],
  examples: { 'heimdall runs show 01M7JJ2NEXMD45Y88KN35QZ4PY': 'shows the run' },
  output: `run: {${RUN_FIELDS}}, record (path)`,
  run: async (context, { args }) => {
    const folder = knownRun(runsDirOf(context.env), args.id)
    const facts = factsOf(folder)
    const record = recordPath(folder.runDir)
    return { data: { run: facts, record }, text: runText(facts, record) }
  },
})

function stateText({ state, status, members }: RunFacts): string {
  if (state === 'unknown') return state
  if (state === 'lost') return 'lost: its processes are gone; heimdall doctor --fix closes it'
  return state === 'open' ? `open, ${members} processes` : `ended, ${status}`
}

function runText(facts: RunFacts, record: string): string {
  const { calls } = facts
  const rows: readonly (readonly [string, string | null])[] = [
    ['run', facts.run_id ?? facts.folder],
    ['state', stateText(facts)],
    ['agent', facts.agent_id],
    ['haid', facts.haid],
    ['session', facts.session_id],
    ['client', facts.client],
    ['started', facts.started_at],
    ['changed', facts.changed_at],
    ['segment', String(facts.segment)],
    [
      'calls',
      `${calls.total}: ${calls.allowed} allowed, ${calls.blocked} blocked, ${calls.throttled} throttled, ${calls.errors} with errors`,
    ],
    ['cost', facts.cost === null ? 'not measured' : costText(facts.cost)],
    ['size', size(facts.bytes)],
    ['record', record],
  ]
  return rows
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.padEnd(8)} ${escapeControls(value ?? '')}`)
    .join('\n')
}

const prune = command({
  names: ['heimdall runs prune'],
  changes: true,
  summary: 'Remove the records of runs that are too old or take too much disk space',
  about:
    'Without flags the settings runs_keep_days and runs_keep_mib apply; shims prune by them once an hour. Active runs ' +
    'and foreign entries are never removed. Age is that of the last event. Counters and approvals go with their run: a ' +
    'reused id starts from zero. Refused inside a session or a host.',
  flags: {
    'older-than': {
      type: 'duration',
      value: 'TIME',
      mayBeZero: true,
      help: 'without an event for this long, for instance 30d',
    },
    'keep-mib': { type: 'integer', value: 'N', help: 'the oldest, until the rest takes at most N MiB' },
    'dry-run': { help: 'list them, and change nothing' },
  },
  examples: {
    'heimdall runs prune --dry-run': 'lists what the settings would remove',
    'heimdall runs prune --older-than 7d': 'removes runs without an event in the last week',
    'heimdall runs prune --keep-mib 1024': 'removes the oldest until one GiB is left',
  },
  output: 'removed: array of {folder, changed_at, bytes} (oldest first), bytes (sum), problems, dry_run',
  run: async ({ cwd, env, configFile, clock }, { flags }) => {
    const { 'older-than': ageMs, 'keep-mib': mib, 'dry-run': isDry = false } = flags
    if (!isDry) refuseAgent('removing records of runs')
    // 0 means "no bound" as a setting, and "remove all" as a bound: rejected, so that a wrong guess loses nothing.
    if (mib !== undefined && mib < 1)
      throw usageError(
        `--keep-mib takes 1 or more, got ${mib}`,
        'leave it out for no bound; --older-than 0s removes all runs that have ended',
      )
    const keep =
      ageMs === undefined && mib === undefined
        ? retentionOf(await loadConfig({ cwd, env, file: configFile }))
        : { ageMs: ageMs ?? null, bytes: mib === undefined ? null : mib * 2 ** 20 }
    const runsDir = runsDirOf(env)
    const { removed, problems: failed } = pruneRuns(runsDir, keep, clock, isDry)
    const problems = isDry || removed.length === 0 ? failed : [...failed, ...(await removeFromIndex(runsDir, clock))]
    const bytes = removed.reduce((sum, one) => sum + one.bytes, 0)
    return {
      data: {
        removed: removed.map((one) => ({
          folder: basename(one.runDir),
          changed_at: new Date(one.changedMs).toISOString(),
          bytes: one.bytes,
        })),
        bytes,
        problems,
        dry_run: isDry,
      },
      text: [
        ...(isDry ? removed.map(({ runDir }) => escapeControls(basename(runDir))) : []),
        `${isDry ? 'Would remove' : 'Removed'} ${removed.length} ${removed.length === 1 ? 'run' : 'runs'}, ${size(bytes)}.`,
        ...problems,
      ].join('\n'),
    }
  },
})

/** Where another process is indexing, it removes the rows. */
async function removeFromIndex(runsDir: string, clock: Clock): Promise<string[]> {
  if (!existsSync(indexPath(runsDir))) return []
  try {
    await catchUp({ runsDir, clock, note: () => undefined, forMs: 0 })
    return []
  } catch (error) {
    // The records are removed, as requested; the next search removes their rows.
    if (!(error instanceof HeimdallError)) throw error
    return [`the run index still lists them: ${error.message}`]
  }
}

const reindex = command({
  names: ['heimdall runs reindex'],
  summary: 'Rebuild the run index from the records of runs',
  about:
    'The index (runs.db in the state folder) serves heimdall events. It is derived from the records: commands keep it up ' +
    'to date, a broken one or one of a newer version is renamed to runs.db.old and rebuilt, and removing it loses nothing.',
  examples: { 'heimdall runs reindex': 'reads all records again' },
  output:
    'index (path), runs, events, bad_lines (not events), newer_events (of a newer major version), behind: {bytes, runs} written meanwhile',
  run: async (context) => {
    const runsDir = runsDirOf(context.env)
    await rebuild(context, runsDir)
    const path = indexPath(runsDir)
    const index = openIndexToRead(path)
    if (index === undefined) throw new HeimdallError('INTERNAL', `the new index ${path} is missing`)
    try {
      const records = index.records.all()
      const sum = (field: 'events' | 'bad_lines' | 'newer_events'): number =>
        records.reduce((total, record) => total + record[field], 0)
      const data = {
        index: path,
        runs: records.length,
        events: sum('events'),
        bad_lines: sum('bad_lines'),
        newer_events: sum('newer_events'),
        behind: behindOf(index, runsDir),
      }
      const texts = [`Indexed ${data.events} events of ${data.runs} ${data.runs === 1 ? 'run' : 'runs'}.`]
      if (data.bad_lines > 0) texts.push(`Skipped ${data.bad_lines} lines that are not events.`)
      if (data.newer_events > 0) texts.push(`${data.newer_events} events were written by a newer version.`)
      if (data.behind.bytes > 0) texts.push(`${size(data.behind.bytes)} were written meanwhile.`)
      return { data, text: texts.join('\n') }
    } finally {
      index.close()
    }
  },
})

async function rebuild({ clock, note, stderr }: Context, runsDir: string): Promise<void> {
  const progress = new ProgressLine(stderr, clock)
  try {
    if (await catchUp({ runsDir, clock, note, anew: true, onProgress: progress.show })) return
  } finally {
    progress.clear()
  }
  throw new HeimdallError('STORE_BUSY', 'another process is indexing the runs', {
    hint: 'it does the same work; run the command again when it is done',
  })
}

const subRun = command({
  names: ['sub run'],
  changes: true,
  summary: 'Run a plain command as one run: all shims below it share its record and counters',
  about:
    'For scripts and CI: the command receives the variables that name the run, keeps stdin, stdout and stderr, and its ' +
    'exit code is passed on; then the run is closed. Signals are forwarded, and a policy that ends the run ends the ' +
    'command. heimdall run gives an agent a terminal, an identity and claims as well.',
  rest: 'COMMAND…',
  flags: {
    run: { value: 'ID', help: 'id of the run; generated by default' },
    agent: { value: 'NAME', help: 'name of the agent in events' },
    client: { choices: CLIENTS, default: 'custom', help: 'kind of client' },
    env: { choices: ENVIRONMENTS, help: 'environment; default: dev, or ci if CI is set' },
    principal: { value: 'WHO', help: 'on whose behalf; default: this user' },
    'print-run-id': { help: 'print the id of the run before the command starts' },
  },
  examples: {
    'sub run --agent nightly -- ./nightly.sh': 'runs the script; its tool calls are one run',
    'sub run --run ci-42 --env ci -- codex exec "fix the tests"': 'names the run and its environment',
  },
  output: 'run_id, exit_code (of the command), status (SUCCEEDED, FAILED, CANCELLED or TERMINATED), record (path)',
  run: async (context, { flags, rest }) => {
    const { clock, env, note, json, stdout, cwd } = context
    const [program, ...args] = rest
    if (program === undefined) throw usageError('no command to run', `put it after --: ${context.calledAs} -- COMMAND`)
    // Usually an unset variable: all callers with this mistake would share one run.
    for (const name of ['run', 'agent'] as const)
      if (flags[name] === '') throw usageError(`--${name} is empty`, 'leave it out')
    const { runPlain } = await import('../../spine/plain-run.ts')
    if (flags.agent !== undefined) await refuseNameOfAnother(context, flags.agent)
    const data = await runPlain({
      command: [program, ...args],
      cwd,
      env,
      clock,
      note,
      isTerminal: context.stdin.isTTY,
      stdout: json ? 2 : 'inherit',
      named: flags,
      onOpen: (runId) => {
        if (flags['print-run-id'] === true && !json) stdout.write(`${runId}\n`)
      },
    })
    return { data, text: '', exit: data.exit_code }
  },
})

/** A caller that has an identity acts as that one: an agent writes no record in another agent's name. */
async function refuseNameOfAnother(context: Context, named: string): Promise<void> {
  if (agentAbove() === undefined) return
  const own = await withStoreToRead(
    context,
    (db) => callerOf(context, db).agent?.agentId,
    () => undefined,
  )
  if (own === undefined || own === named) return
  throw new HeimdallError('IDENTITY_BORROWED', `${own} may not act as ${printable(named)}`, {
    hint: 'leave --agent out; heimdall whoami explains',
  })
}

export const commands: readonly Command[] = [list, show, prune, reindex, subRun]
