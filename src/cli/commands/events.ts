// heimdall events, sub query, sub tail: specs of the commands over the events of runs.
import { EVENT_TYPES } from '../../events/types.ts'
import { CALLS_LISTED, EVENTS_TAILED } from '../../limits.ts'
import { type Command, command, spec } from '../command.ts'

const allProjects = { help: 'of all repositories, with a column that names them' } as const

const searchFlags = {
  run: { value: 'ID', help: 'of this run; names may be patterns such as nightly-*' },
  agent: { value: 'NAME', help: 'of this agent' },
  server: { value: 'NAME', help: 'to this server' },
  tool: { value: 'NAME', help: 'of this tool' },
  decision: { value: 'ACTION', help: 'ALLOW, BLOCK, THROTTLE, REJECT_WITH_HINT or TERMINATE_RUN' },
  rule: { value: 'ID', help: 'decided by this rule' },
  reason: { value: 'CODE', help: 'with this reason, for instance BUDGET_EXCEEDED' },
  status: { value: 'STATUS', help: 'ended with OK, ERROR, TIMEOUT or CANCELLED' },
  since: { value: 'TIME', help: 'from then on: 2h for two hours ago, or 2026-11-16T08:00Z' },
  until: { value: 'TIME', help: 'before then' },
  text: {
    value: 'WORDS',
    help: 'with all of these words or word beginnings in arguments, results, messages or hints',
  },
  file: { value: 'FILE', help: 'search this file of events instead of the runs' },
} as const

const CALL_FIELDS =
  'ts, run_id, agent_id, server_name, tool_name, call_id, seq, args_hash, decision, rule_id, reason_code, severity, enforced, summary, hint_text, status, latency_ms, bytes_in, bytes_out, truncated, args_preview, result_preview, error'

export const eventsSpec = spec({
  names: ['heimdall events', 'sub query'],
  summary: 'Search the tool calls and other events of runs',
  about:
    'All given flags must match. Shows the runs of this repository; with --run, --file or outside of a repository, all. ' +
    'The index over the records is updated first, for a few seconds at most; if it is still behind, stderr says by how much.',
  flags: {
    ...searchFlags,
    type: {
      value: 'TYPE',
      choices: ['all', 'tool_call', ...EVENT_TYPES],
      help: 'events of this type instead of calls, for instance secret_exposed; all for every type',
    },
    limit: { type: 'integer', value: 'N', default: CALLS_LISTED, help: 'at most this many; 0 for all' },
    order: { choices: ['newest', 'oldest'], default: 'newest', help: 'which come first' },
    'all-projects': allProjects,
    tsv: { help: 'tab-separated columns for programs, always the same' },
    wait: { help: 'index everything before answering, however long it takes' },
  },
  examples: {
    'heimdall events --agent amber-otter --since 1h': 'calls of one agent in the last hour',
    'heimdall events --decision BLOCK --since 2h': 'what was refused in the last two hours',
    'heimdall events --tool "git*" --text "force push"': 'calls of git tools with these words',
    'heimdall events --type secret_exposed --json': 'secrets that servers sent to agents',
    'sub query --run nightly --status ERROR': 'failed calls of one run, as tab-separated rows',
  },
  output: `calls: array of {${CALL_FIELDS}} (null where unknown; with --all-projects also project), or with --type events: array of events as recorded; behind: {bytes, runs} that are not indexed yet`,
})

export const showSpec = spec({
  names: ['heimdall events show'],
  summary: 'Show one call: the decision and why, how it ended, and what the agent did next',
  about:
    'Rule, reason and hint of the decision, its counters before and after, the outcome, and the next calls of the same agent.',
  args: [{ name: 'call', help: 'id of a call, as heimdall events prints it' }],
  flags: { file: searchFlags.file, run: { value: 'ID', help: 'if several runs have such a call' } },
  examples: { 'heimdall events show 01M7JJ2NEXMD45Y88KN35QZ4PY': 'explains the decision on that call' },
  output: `call: {${CALL_FIELDS}}, decision (as recorded: rule, reason, hint, counters {rule_id, counter, before, after, limit}), events (all of the call), next: array of calls with follows: retried | same_arguments | same_tool | other_tool | took_suggestion`,
})

export const tailSpec = spec({
  names: ['heimdall events tail', 'sub tail'],
  summary: 'Print the latest events, and with --follow each new one as it is written',
  about:
    'Runs that start later are followed too. With --json one event per line, as recorded. Uses no index. sub tail ' +
    'always follows and prints tab-separated rows, one for the decision of a call and one for its end. Ctrl-C ends it.',
  flags: {
    run: { value: 'ID', help: 'only this run, which with --follow need not have started' },
    follow: { short: 'f', help: 'continue until interrupted' },
    limit: { type: 'integer', value: 'N', default: EVENTS_TAILED, help: 'begin with this many; 0 for none' },
    'all-projects': { help: 'events of all repositories' },
  },
  examples: {
    'heimdall events tail': 'prints the latest events',
    'heimdall events tail --follow --run nightly': 'follows one run',
    'heimdall events tail -f --json': 'all new events, for a program',
  },
  json: 'print one event per line on stdout, as recorded',
  output: 'none: with --json one event per line',
})

export const exportSpec = spec({
  names: ['heimdall events export'],
  summary: 'Export events as JSONL or CSV, or as OpenTelemetry traces',
  about:
    'JSONL has the events as recorded, oldest first, calls with all of their events. CSV has one row per call; cells ' +
    'that a spreadsheet would run as a formula begin with an apostrophe. With --otlp runs, turns, calls and decisions ' +
    'become spans for a collector over HTTP, or JSON in a file (- for stdout); OTEL_EXPORTER_OTLP_HEADERS, _PROTOCOL ' +
    '(http/protobuf, http/json) and _TIMEOUT apply. Everything is indexed first. Nothing is sent without --otlp, and ' +
    'no text of agents and servers without --with-previews.',
  flags: {
    ...searchFlags,
    'all-projects': { help: 'of all repositories' },
    format: { choices: ['jsonl', 'csv'], help: 'what to write; default: jsonl' },
    out: { value: 'FILE', help: 'write to this file atomically instead of stdout' },
    otlp: { value: 'URL|FILE', help: 'send traces to this collector, or write them to this file' },
    follow: { short: 'f', help: 'with --otlp: export running and new runs until interrupted' },
    'with-previews': { help: 'with --otlp: include recorded arguments, results, messages and hints' },
  },
  examples: {
    'heimdall events export --run nightly > nightly.jsonl': 'all events of a run',
    'heimdall events export --format csv --since 7d --out week.csv': 'a week of calls for a spreadsheet',
    'heimdall events export --otlp http://localhost:4318 --since 1d': 'sends the last day to a collector',
    'heimdall events export --otlp http://localhost:4318 --follow': 'sends runs while they are active',
    'heimdall events export --otlp traces.jsonl --run nightly': 'one run as OTLP in JSON',
  },
  json: 'print one JSON object {ok, command, data, error} unless the events go to stdout',
  output:
    'with --out: entries (calls and other events written), out; with --otlp: spans, traces, rejected (by the collector), unsent (with --follow), open (runs without an end yet), to',
})

/** Loaded by the command that runs: the index needs SQLite, and the shim starts through the same launcher. */
const search = () => import('./events-search.ts')

export const commands: readonly Command[] = [
  command({ ...eventsSpec, run: async (context, input) => (await search()).query(context, input) }),
  command({ ...showSpec, run: async (context, input) => (await search()).show(context, input) }),
  command({ ...tailSpec, run: async (context, input) => (await search()).tail(context, input) }),
  command({
    ...exportSpec,
    run: async (context, input) => (await import('./events-export.ts')).exportEvents(context, input),
  }),
]
