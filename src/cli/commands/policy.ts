// heimdall policy, sub policy: specs of the commands that write, check, explain and compare policy bundles.
import { type Command, command, spec } from '../command.ts'

/** The default output file of `policy init`. */
export const POLICY_FILE = 'heimdall-policy.yaml'

const bundleArg = { name: 'file', help: 'a policy bundle in YAML or JSON, or - for stdin' } as const

export const lintSpec = spec({
  names: ['heimdall policy lint', 'sub policy lint'],
  summary: 'List the problems of a policy bundle, and rules that can never match',
  about: 'Exit code 1 if the bundle is invalid; with --strict also if a rule is dead or does not do what it seems to.',
  args: [
    { ...bundleArg, help: `${bundleArg.help}; default: ${POLICY_FILE}, as policy init writes it`, optional: true },
  ],
  flags: { strict: { help: 'findings count as failures, not only problems' } },
  examples: {
    'heimdall policy lint team.yaml': 'lists every problem with line and path, then rules that can never match',
    'heimdall policy lint --strict team.yaml': 'the same as a check for continuous integration',
  },
  output:
    'valid, policy_hash (or null), problems: array of {path, message, line, column}, findings: array of {level: dead | warn | note, rule_id, message}',
})

export const compileSpec = spec({
  names: ['heimdall policy compile', 'sub policy compile'],
  summary: 'Print the compiled snapshot of a policy bundle',
  about:
    'The snapshot has every default filled in and carries the hash that events name. It is a valid bundle itself, and its hash is checked when it is loaded.',
  args: [bundleArg],
  flags: { hash: { help: 'print only the policy hash' } },
  examples: {
    'heimdall policy compile team.yaml > team.json': 'writes the snapshot',
    'heimdall policy compile --hash team.yaml': 'prints its hash',
  },
  output:
    'policy_id, version, policy_hash (SHA-256 over the canonical bytes of the rest), mode (observe, guardrails or control), defaults, selectors, rules',
})

export const explainSpec = spec({
  names: ['heimdall policy explain', 'sub policy explain'],
  summary: 'Show which rule decides a call, and why',
  about:
    'Policy decides MCP calls that go through the shim; for a tool of the host itself (Bash, Edit, Write, Read, WebFetch, …) ' +
    'this says that it is not governed, and why. The call is treated as the first of its run unless --nth says otherwise: ' +
    'budgets are unspent, nothing has failed or repeated. Paths in arguments are taken as written, without links.',
  args: [bundleArg],
  flags: {
    server: {
      value: 'NAME',
      help: 'name of the MCP server; leave it out for a tool of the host itself',
    },
    tool: { value: 'NAME', help: 'name of the tool; leave it out with another --method' },
    method: { value: 'NAME', help: 'another request than tools/call, for instance resources/read' },
    args: {
      value: 'JSON',
      help: 'arguments of the call, or params of another request; uninspectable for oversized ones, ambiguous for ones with two readings',
      default: '{}',
    },
    annotations: {
      value: 'JSON',
      help: 'what the server declares of the tool: read_only, destructive, idempotent, open_world',
    },
    approved: {
      value: 'allow|deny|RULE=allow|RULE=deny',
      multiple: true,
      help: 'answers of a human, for every rule that asks or for one',
    },
    nth: { type: 'integer', value: 'N', default: 1, help: 'explain the Nth such call of the run' },
    'after-errors': { help: 'with --nth: the calls before it failed' },
    env: { value: 'ENV', help: 'environment of the run', default: 'dev' },
    'agent-id': { value: 'ID', help: 'agent of the run', default: 'unknown' },
    client: { value: 'NAME', help: 'client of the run', default: 'custom' },
    workload: { value: 'JSON', help: 'workload of the run' },
    at: { value: 'TIME', help: 'time of the call in RFC 3339; default: now' },
    'exit-code': { help: 'exit with 7 if the call is not allowed' },
  },
  examples: {
    [`heimdall policy explain team.yaml --server git --tool push --args '{"force":true}'`]:
      'the decision, and what each rule contributes',
    [`heimdall policy explain team.yaml --server fs --tool peek --annotations '{"read_only":true}'`]:
      'with annotations of the server',
    [`heimdall policy explain team.yaml --server fs --method resources/read --args '{"uri":"file:///etc/passwd"}'`]:
      'a request that is not a tool call, by its params',
    'heimdall policy explain team.yaml --tool Bash': 'a tool of the host itself, which no policy governs',
    'heimdall policy explain team.yaml --server git --tool push --approved allow --nth 21':
      'the 21st such call, all approved by a human',
  },
  output:
    'decision (action, rule_id, severity, reason_code, summary, enforced, and what the action adds; null for a tool of the host itself), host_tool ({tool, hosts, governed: false, why} or null), tags (risk classes), rules: array of {rule_id, kind, took_part, note} in the order of the bundle, policy (policy_id, policy_version, policy_hash), mode',
})

export const testSpec = spec({
  names: ['heimdall policy test', 'sub policy test'],
  summary: 'Run the test cases of a policy bundle',
  about:
    'A case is a list of calls over virtual time with the decision that each must get; docs/policy.md has the format.',
  args: [{ name: 'file', help: 'a file of cases in YAML or JSON, or - for stdin' }],
  flags: { policy: { value: 'FILE', help: 'the bundle, instead of the one that the file names' } },
  examples: { 'heimdall policy test team.cases.yaml': 'runs every case; exit code 1 if one fails' },
  output: 'policy (file), policy_hash, passed, failed, results: array of {name, passed, failures}',
})

export const initSpec = spec({
  names: ['heimdall policy init', 'sub policy init'],
  changes: true,
  summary: 'Write a first policy for the servers of your hosts, or copy a ready one',
  about:
    'Starts each server that the user’s hosts are configured with, lists its tools, ends it, and sorts the tools by ' +
    'annotations and names: reads and writes are allowed; a human is asked about destructive and unknown ones. Writes cases for ' +
    'heimdall policy test next to it. Servers that a project’s own file names are started only with --shared, after a ' +
    'human has seen their command lines and agreed. Never overwrites a file.',
  flags: {
    host: {
      value: 'NAME',
      multiple: true,
      help: 'claude, codex, cursor, gemini or vscode; default: all',
    },
    from: {
      choices: ['careful', 'no-force-push', 'observe', 'safe-defaults', 'strict-ci'],
      help: 'copy this policy and its cases instead, and start nothing',
    },
    out: { value: 'FILE', default: POLICY_FILE, help: 'file to write' },
    shared: { help: 'also servers of project files such as .mcp.json; asks first' },
    'dry-run': { help: 'list what would be started, and write nothing' },
  },
  examples: {
    'heimdall policy init --host claude': 'writes heimdall-policy.yaml and its cases',
    'heimdall policy init --from safe-defaults --out team.yaml': 'copies a ready policy',
    'heimdall policy init --dry-run': 'lists the servers that would be started',
  },
  output:
    'policy (path or null), cases (path or null), servers: array of {name, host, file, outcome: asked | silent | skipped | would_ask, tools, why}, tools (counts: reads, writes, destroys, unknown), dry_run',
})

export const diffSpec = spec({
  names: ['heimdall policy diff', 'sub policy diff'],
  summary: 'Show what changes in effect between two policies, and how severe it is',
  about:
    'Compares meaning, not text: mode, defaults, selectors, and rules that were added, removed, moved or changed. Both are ' +
    'tried on the same calls: tools that either names, tools that servers list (--tools), recorded calls (--run, --events). ' +
    'critical: something refused, limited or governed may now be allowed; warn: agents or humans will notice; info: the rest. ' +
    'Exit code 0 in any case; with --fail-on 1 if a difference is at least that severe.',
  args: [
    { name: 'before', help: 'a policy bundle in YAML or JSON, or - for stdin' },
    { name: 'after', help: 'another one' },
  ],
  flags: {
    tools: { value: 'SERVER=FILE', multiple: true, help: 'try the tools in this tools/list response' },
    run: { value: 'ID', help: 'try the calls of this run' },
    events: { value: 'FILE', help: 'try the calls in this file of events' },
    'fail-on': {
      choices: ['info', 'warn', 'critical'],
      help: 'exit with 1 if a difference is at least that severe',
    },
  },
  examples: {
    'heimdall policy diff main.yaml branch.yaml': 'lists what changes, most severe first',
    'heimdall policy diff main.yaml branch.yaml --run nightly --fail-on critical':
      'over the calls of a run, as a check for continuous integration',
  },
  output:
    'same (equal hashes), severity (the highest, or null), changes: array of {severity, what, change, rule_id, reason}, effects: array of {severity, server_name, tool_name, args, source, before, after, reason}, probes (tried, left_off, unseen: recorded calls without known arguments)',
})

export const replaySpec = spec({
  names: ['heimdall policy replay', 'sub policy replay'],
  summary: 'Show what a policy would have decided over a recorded run',
  about:
    'Replays the calls of a record in order, with the recorded times and counters built up on the way, and compares the ' +
    'decisions. Nothing is guessed: a call whose decision depends on redacted or cut arguments, on where a path led, on ' +
    'annotations of the server, or on what such a call may have counted is undecidable, with the reason. A refused agent ' +
    'would have done other things next: only the recorded calls are decided. Exit code 0 in any case; with --exit-code 1 if ' +
    'a decision differs.',
  args: [bundleArg],
  flags: {
    run: { value: 'ID', help: 'the record of this run' },
    events: { value: 'FILE', help: 'a file of events instead, of one run or several' },
    tools: {
      value: 'SERVER=FILE',
      multiple: true,
      help: 'a tools/list response of the server, for rules on annotations, which records do not have',
    },
    'paths-as-written': {
      help: 'take paths in arguments as written, without links; otherwise they are undecidable',
    },
    all: { help: 'show every call, not only differences and undecidable ones' },
    'exit-code': { help: 'exit with 1 if a decision differs' },
  },
  examples: {
    'heimdall policy replay team.yaml --run nightly': 'lists the calls of that run that it would decide differently',
    'heimdall policy replay strict.yaml --events events.jsonl --paths-as-written --json':
      'the same over a file, for a program',
  },
  output:
    'policy (policy_id, policy_version, policy_hash, mode), runs, calls (total, same, stricter, looser, other, undecidable), undecidable (counts by cause: name, arguments, paths, annotations, answer, counters, terminated), recorded: array of {policy_id, policy_version, policy_hash, calls, same, different, undecidable}, rows: array of {run_id, seq, ts, server_name, tool_name, outcome, recorded, replayed, possible, why}, rows_left_off, set_aside ({unreadable, newer, undecided}), notes',
})

/** Loaded by the command that runs: the shim starts through the same launcher. */
const check = () => import('./policy-check.ts')
const compare = () => import('./policy-compare.ts')

export const commands: readonly Command[] = [
  command({ ...initSpec, run: async (context, input) => (await import('./policy-init.ts')).init(context, input) }),
  command({ ...lintSpec, run: async (context, input) => (await check()).lint(context, input) }),
  command({ ...compileSpec, run: async (context, input) => (await check()).compile(context, input) }),
  command({ ...explainSpec, run: async (context, input) => (await check()).explain(context, input) }),
  command({ ...testSpec, run: async (context, input) => (await check()).runTests(context, input) }),
  command({ ...diffSpec, run: async (context, input) => (await compare()).diff(context, input) }),
  command({ ...replaySpec, run: async (context, input) => (await compare()).replay(context, input) }),
]
