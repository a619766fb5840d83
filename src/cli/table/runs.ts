// Commands of runs.
import { RUNS_LISTED } from '../../limits.ts'
import { type Command, spec } from '../command.ts'

const RUN_FIELDS =
  'run_id, folder, state (open, ended or unknown), status, segment, agent_id, client, haid, session_id, started_at, changed_at, calls {total, allowed, blocked, throttled, errors}, members, bytes'

export const runsList = spec({
  names: ['heimdall runs list'],
  summary: 'Runs of this user, those that changed last first',
  about:
    'Only looks: nothing is changed. What lies among the runs and is none, or is reached by a link, is named as foreign, and no command touches it.',
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
  summary: 'Removes the records of runs that are too old or take too much room',
  about:
    'Bounds are the settings runs_keep_days and runs_keep_mib unless flags say otherwise. Shims do the same once an hour. A run that goes on is never removed, nor anything that is no run; one that never ended and that nobody takes part in goes like the others. Age is that of the last event. With a run go its counters and what persons have answered: an id that is used again begins anew.',
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
  output: {
    removed: 'array of {folder, changed_at, bytes}, the oldest first',
    bytes: 'what they took in all',
    problems: 'what stood in the way of removing others',
    dry_run: 'whether nothing was removed',
  },
})

export const runsCommands: readonly Command[] = [
  { spec: runsList, load: () => import('../commands/runs/list.ts') },
  { spec: runsShow, load: () => import('../commands/runs/show.ts') },
  { spec: runsPrune, load: () => import('../commands/runs/prune.ts') },
]
