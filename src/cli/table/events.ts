// Commands over the events of all runs.
import { CALLS_LISTED, EVENTS_TAILED } from '../../limits.ts'
import { type Command, spec } from '../command.ts'

const searchFlags = {
  run: { type: 'string', value: 'ID', help: 'of this run; names may be patterns such as nightly-*' },
  agent: { type: 'string', value: 'NAME', help: 'of this agent' },
  server: { type: 'string', value: 'NAME', help: 'to this server' },
  tool: { type: 'string', value: 'NAME', help: 'of this tool' },
  decision: { type: 'string', value: 'ACTION', help: 'ALLOW, BLOCK, THROTTLE, REJECT_WITH_HINT or TERMINATE_RUN' },
  rule: { type: 'string', value: 'ID', help: 'decided by this rule' },
  reason: { type: 'string', value: 'CODE', help: 'with this reason, for instance BUDGET_EXCEEDED' },
  status: { type: 'string', value: 'STATUS', help: 'ended with OK, ERROR, TIMEOUT or CANCELLED' },
  since: {
    type: 'string',
    value: 'TIME',
    help: 'from then on: 2h for two hours ago, or a time such as 2026-11-16T08:00Z',
  },
  until: { type: 'string', value: 'TIME', help: 'before then' },
  text: {
    type: 'string',
    value: 'WORDS',
    help: 'all of these words, or words that begin so, in arguments, results, messages or hints',
  },
  file: { type: 'string', value: 'FILE', help: 'in this file of events instead of the runs' },
} as const

const waitFlag = {
  wait: { type: 'boolean', help: 'index all there is before answering, however long it takes' },
} as const

const CALL_FIELDS =
  'ts, run_id, agent_id, server_name, tool_name, call_id, seq, args_hash, decision, rule_id, reason_code, severity, enforced, summary, hint_text, status, latency_ms, bytes_in, bytes_out, truncated, args_preview, result_preview, error'
const BEHIND = '{bytes, runs}: what of the records is not in the index yet'
const INDEX_ERRORS = ['RUN_NOT_FOUND', 'EVENTS_UNREADABLE', 'STORE_UNREADABLE', 'STORE_FULL', 'STORE_BUSY'] as const

export const eventsQuery = spec({
  names: ['heimdall events query', 'sub query'],
  summary: 'Tool calls of all runs, by what is known of them',
  about:
    'All flags that are given must hold. The index over the records is brought up to date first, for a few seconds at most; if something is left, or another process is at it, the answer comes from what is there and stderr says how far behind that is.',
  flags: {
    ...searchFlags,
    type: {
      type: 'string',
      value: 'TYPE',
      help: 'events of this type instead of calls, for instance secret_exposed; all for everything',
    },
    limit: { type: 'integer', value: 'N', default: CALLS_LISTED, help: 'at most so many; 0 for all' },
    order: { type: 'string', choices: ['newest', 'oldest'], default: 'newest', help: 'which come first' },
    tsv: { type: 'boolean', help: 'tab-separated columns for programs, always the same' },
    ...waitFlag,
  },
  examples: [
    { run: 'heimdall events query --decision BLOCK --since 2h', does: 'what was refused in the last two hours' },
    { run: 'heimdall events query --tool "git*" --text "force push"', does: 'calls of git tools that speak of it' },
    { run: 'heimdall events query --type secret_exposed --json', does: 'secrets that servers have sent to agents' },
    { run: 'sub query --run nightly --status ERROR', does: 'calls of one run that failed, as tab-separated rows' },
  ],
  errors: INDEX_ERRORS,
  output: {
    calls: `array of {${CALL_FIELDS}}; fields that are not known are null`,
    events: 'with --type: array of events as they were written',
    behind: BEHIND,
  },
})

export const eventsShow = spec({
  names: ['heimdall events show'],
  summary: 'One call: what was decided and why, and what the agent did next',
  about:
    'Rule, reason and hint of the decision, what its counters stood at before and after, how the call ended, and the calls of the same agent that came next.',
  args: [{ name: 'call', help: 'id of a call, as query shows it' }],
  flags: { file: searchFlags.file, run: { type: 'string', value: 'ID', help: 'where several runs have such a call' } },
  examples: [{ run: 'heimdall events show 01M7JJ2NEXMD45Y88KN35QZ4PY', does: 'explains the decision on that call' }],
  errors: ['CALL_NOT_FOUND', ...INDEX_ERRORS],
  output: {
    call: `{${CALL_FIELDS}}`,
    decision: 'the decision as it was recorded: rule, reason, hint, counters {rule_id, counter, before, after, limit}',
    events: 'all events of the call as they were written',
    next: 'array of calls of the same agent that came next, with follows: retried | same_arguments | same_tool | other_tool | took_suggestion',
  },
})

export const eventsTail = spec({
  names: ['heimdall events tail', 'sub tail'],
  summary: 'The latest events of all runs, and with --follow each new one as it is written',
  about:
    'Runs that begin later are followed too. With --json one event a line, as it stands in the record. Needs no index. sub tail follows without being told and prints tab-separated rows, one for the decision of a call and one for its end.',
  flags: {
    run: { type: 'string', value: 'ID', help: 'only of this run, which with --follow need not have begun' },
    follow: { type: 'boolean', short: 'f', help: 'go on until interrupted' },
    limit: {
      type: 'integer',
      value: 'N',
      default: EVENTS_TAILED,
      help: 'begin with so many that are there; 0 for none',
    },
  },
  examples: [
    { run: 'heimdall events tail', does: 'prints the latest events' },
    { run: 'heimdall events tail --follow --run nightly', does: 'watches one run' },
    { run: 'heimdall events tail -f --json', does: 'all new events, for a program' },
  ],
  errors: ['RUN_NOT_FOUND'],
  json: 'print one event a line on stdout, as it stands in the record',
  output: { none: 'with --json one event a line' },
})

export const eventsExport = spec({
  names: ['heimdall events export'],
  summary: 'Events of runs as JSONL or CSV, or as traces for OpenTelemetry',
  about:
    'JSONL has the events as they stand in the records, the oldest first, calls with all of their events. CSV has one row for each call; text that a spreadsheet would take for a formula begins with an apostrophe. With --otlp runs, turns, calls and decisions become spans, which go to a collector over HTTP, or as JSON into a file (- for stdout); OTEL_EXPORTER_OTLP_HEADERS, _PROTOCOL (http/protobuf, http/json) and _TIMEOUT count. Everything is indexed first. Nothing is sent anywhere without --otlp, and no words of agents and servers without --with-previews.',
  flags: {
    ...searchFlags,
    format: { type: 'string', choices: ['jsonl', 'csv'], help: 'what to write; jsonl unless told otherwise' },
    out: { type: 'string', value: 'FILE', help: 'write to this file, whole or not at all, instead of stdout' },
    otlp: { type: 'string', value: 'URL|FILE', help: 'traces, to this collector or into this file' },
    follow: {
      type: 'boolean',
      short: 'f',
      help: 'with --otlp: runs that go on, from their beginning, and those that begin, until interrupted',
    },
    'with-previews': {
      type: 'boolean',
      help: 'with --otlp: also arguments, results, messages and hints, as far as the records have them',
    },
  },
  examples: [
    { run: 'heimdall events export --run nightly > nightly.jsonl', does: 'all events of a run' },
    { run: 'heimdall events export --format csv --since 7d --out week.csv', does: 'a week of calls for a spreadsheet' },
    { run: 'heimdall events export --otlp http://localhost:4318 --since 1d', does: 'the last day to a collector' },
    { run: 'heimdall events export --otlp http://localhost:4318 --follow', does: 'runs as they go on' },
    { run: 'heimdall events export --otlp traces.jsonl --run nightly', does: 'one run as OTLP in JSON' },
  ],
  errors: [...INDEX_ERRORS, 'COLLECTOR_AWAY', 'COLLECTOR_REFUSED'],
  json: 'print one JSON object {ok, command, data, error} where the events do not go to stdout',
  output: {
    entries: 'with --out: calls and other events that were written',
    out: 'the file',
    spans: 'with --otlp: spans that were sent or written',
    traces: 'with --otlp: traces that they are of',
    rejected: 'with --otlp: spans that the collector said it did not want',
    unsent: 'with --otlp and --follow: spans that could not be sent before the end',
    open: 'with --otlp: runs that have not ended, whose own spans are still to come',
    to: 'with --otlp: the address or file',
  },
})

export const eventsCommands: readonly Command[] = [
  { spec: eventsQuery, load: () => import('../commands/events/query.ts') },
  { spec: eventsShow, load: () => import('../commands/events/show.ts') },
  { spec: eventsTail, load: () => import('../commands/events/tail.ts') },
  { spec: eventsExport, load: () => import('../commands/events/export.ts') },
]
