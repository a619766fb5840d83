// Commands of runs.
import { CLIENTS, ENVIRONMENTS } from '../../events/types.ts'
import { RUNS_LISTED } from '../../limits.ts'
import { type Command, spec } from '../command.ts'

const RUN_FIELDS =
  'run_id, folder, state (open, ended, lost or unknown), status, segment, agent_id, client, haid, session_id, started_at, changed_at, calls {total, allowed, blocked, throttled, errors}, cost (null, or {messages, tokens {input, cached, cache_write, cache_write_1h, output, reasoning}, usd, unpriced (models without a price), unread (lines that were not understood), prices (date of the table)}), members, bytes'

export const runsExec = spec({
  names: ['heimdall runs exec', 'sub run'],
  changes: true,
  summary: 'A plain command as one run: all shims below it share its record and its counters',
  about:
    'For scripts and CI: the command gets the variables that name the run, has stdin, stdout and stderr for itself, and ends with its own exit code; then the run is closed. Signals are passed on, and a policy that ends the run ends the command. heimdall run gives an agent a terminal, an identity and claims as well.',
  rest: 'COMMAND…',
  flags: {
    run: { type: 'string', value: 'ID', help: 'id of the run; made up when absent' },
    agent: { type: 'string', value: 'NAME', help: 'name of the agent in events' },
    client: { type: 'string', choices: CLIENTS, default: 'custom', help: 'what kind of client it is' },
    env: { type: 'string', choices: ENVIRONMENTS, help: 'where it runs; dev, or ci where CI is set' },
    principal: { type: 'string', value: 'WHO', help: 'for whom; default: this user' },
    'print-run-id': { type: 'boolean', help: 'print the id of the run before the command begins' },
  },
  examples: [
    { run: 'heimdall runs exec --agent nightly -- ./nightly.sh', does: 'runs the script; its tool calls are one run' },
    { run: 'sub run --run ci-42 --env ci -- codex exec "fix the tests"', does: 'the same by the name of the field' },
  ],
  errors: [
    'SESSION_COMMAND_NOT_FOUND',
    'RUN_AT_WORK',
    'IDENTITY_BORROWED',
    'STORE_BUSY',
    'STORE_FULL',
    'PROCESSES_UNREADABLE',
  ],
  output: {
    run_id: 'id of the run',
    exit_code: 'of the command',
    status: 'of the run: SUCCEEDED, FAILED, CANCELLED or TERMINATED',
    record: 'path of its record',
  },
})

export const runsList = spec({
  names: ['heimdall runs list'],
  summary: 'Runs of this user, those that changed last first',
  about:
    'Only looks: nothing is changed. A run is lost when its processes are gone and nobody has written its end yet; the next command that may write, such as heimdall doctor, closes it. What lies among the runs and is none, or is reached by a link, is named as foreign, and no command touches it.',
  flags: {
    open: { type: 'boolean', help: 'only those that go on' },
    limit: { type: 'integer', value: 'N', default: RUNS_LISTED, help: 'at most so many; 0 for all' },
  },
  examples: [
    { run: 'heimdall runs list', does: 'lists the latest runs with their agents, calls and sizes' },
    { run: 'heimdall runs list --open --json', does: 'those that go on, for a program' },
  ],
  output: { runs: `array of {${RUN_FIELDS}}`, total: 'how many there are in all', foreign: 'array of {name, why}' },
})

export const runsShow = spec({
  names: ['heimdall runs show'],
  summary: 'One run: who, how it went, and where its record lies',
  about:
    'With --follow the events of the run, one JSON object a line: those that are there, and then each as it is written, until the run has ended.',
  args: [{ name: 'id', help: 'id of a run' }],
  flags: {
    follow: { type: 'boolean', help: 'print events as they come' },
    from: { type: 'integer', value: 'OFFSET', default: 0, help: 'with --follow: begin at this byte of the record' },
  },
  examples: [
    { run: 'heimdall runs show 01M7JJ2NEXMD45Y88KN35QZ4PY', does: 'says what is known of the run' },
    { run: 'heimdall runs show nightly --follow', does: 'prints its events until it ends' },
  ],
  errors: ['RUN_NOT_FOUND'],
  output: { run: `{${RUN_FIELDS}}`, record: 'path of its record' },
})

export const runsPrune = spec({
  names: ['heimdall runs prune'],
  changes: true,
  summary: 'Removes the records of runs that are too old or take too much room',
  about:
    'Bounds are the settings runs_keep_days and runs_keep_mib unless flags say otherwise. Shims do the same once an hour. A run that goes on is never removed, nor anything that is no run; one that never ended and that nobody takes part in goes like the others. Age is that of the last event. With a run go its counters and what persons have answered: an id that is used again begins anew. Not for agents: inside a session or a host it is refused.',
  flags: {
    'older-than': {
      type: 'duration',
      value: 'TIME',
      mayBeZero: true,
      help: 'silent for longer than that, for instance 30d',
    },
    'keep-mib': { type: 'integer', value: 'N', help: 'the oldest, until the rest takes no more than N MiB' },
    'dry-run': { type: 'boolean', help: 'only say which, and change nothing' },
  },
  examples: [
    { run: 'heimdall runs prune --dry-run', does: 'says what the settings would remove' },
    { run: 'heimdall runs prune --older-than 7d', does: 'removes runs that ended more than a week ago' },
    { run: 'heimdall runs prune --keep-mib 1024', does: 'removes the oldest until a gigabyte is left' },
  ],
  errors: ['PERSON_REQUIRED'],
  output: {
    removed: 'array of {folder, changed_at, bytes}, the oldest first',
    bytes: 'what they took in all',
    problems: 'what stood in the way of removing others',
    dry_run: 'whether nothing was removed',
  },
})

export const runsReindex = spec({
  names: ['heimdall runs reindex'],
  summary: 'Makes the run index anew, from the records of runs alone',
  about:
    'The index (runs.db in the state folder) is what events query, show and export ask. It is derived: commands bring it up to date by themselves, one that is broken or of a newer version is set aside as runs.db.old and made anew, and removing it loses nothing. With --follow it is kept up to date instead, until interrupted, so that queries find nothing left to read.',
  flags: { follow: { type: 'boolean', short: 'f', help: 'do not begin anew, but go on as records grow' } },
  examples: [
    { run: 'heimdall runs reindex', does: 'reads all records again' },
    { run: 'heimdall runs reindex --follow', does: 'indexes events as they are written' },
  ],
  errors: ['STORE_BUSY', 'STORE_FULL', 'STORE_UNREADABLE'],
  output: {
    index: 'path of the index',
    runs: 'runs that are in it',
    events: 'events that are in it',
    bad_lines: 'lines that are no events',
    newer_events: 'events of a newer major version',
    behind: '{bytes, runs}: what was written meanwhile',
  },
})

export const runsCommands: readonly Command[] = [
  { spec: runsExec, load: () => import('../commands/runs/exec.ts') },
  { spec: runsList, load: () => import('../commands/runs/list.ts') },
  { spec: runsShow, load: () => import('../commands/runs/show.ts') },
  { spec: runsPrune, load: () => import('../commands/runs/prune.ts') },
  { spec: runsReindex, load: () => import('../commands/runs/reindex.ts') },
]
