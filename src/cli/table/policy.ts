// Commands of policy.
import { type Command, spec } from '../command.ts'

export const shim = spec({
  names: ['heimdall shim', 'sub shim'],
  summary: 'Run an MCP server behind policy: each call to it is judged, answered or passed on, and recorded',
  about:
    'Stands between an MCP client and a server that speak over stdin and stdout; with --url, between clients on this ' +
    'machine and a remote server that speak Streamable HTTP. Bytes that pass are never changed. ' +
    'Without --policy and SUB_POLICY_JSON everything passes and is recorded. Events go to the record of the run ' +
    '(SUB_RUN_ID, or one run per session of the host); with --events and no SUB_RUN_ID the shim is a run of its own. ' +
    'A changed policy file is taken up without a restart; SIGUSR2 makes the shim look at once. ' +
    'The server gets the environment without what holds policy, secrets or identity.',
  rest: 'CMD [ARG...]',
  flags: {
    'server-name': { type: 'string', value: 'NAME', required: true, help: 'name of the server in policy and events' },
    policy: { type: 'string', value: 'FILE', help: 'policy bundle in YAML or JSON; wins over SUB_POLICY_JSON' },
    events: {
      type: 'string',
      value: 'stderr|FILE',
      help: 'write events there as well; sub shim writes to stderr unless told otherwise',
    },
    'deny-as': {
      type: 'string',
      choices: ['error', 'tool_result'],
      default: 'error',
      help: 'answer denied calls with a JSON-RPC error, or with a tool result for hosts that hide errors from the model',
    },
    'pass-env': {
      type: 'string',
      value: 'NAME,NAME…',
      multiple: true,
      help: 'the server gets only a base set of variables and these; written by heimdall import',
    },
    'secret-bindings': {
      type: 'string',
      value: 'FILE',
      help: 'secrets that the server gets as variables (docs/secrets.md); wins over SUB_SECRET_BINDINGS_FILE and SUB_SECRET_BINDINGS',
    },
    url: { type: 'string', value: 'URL', help: 'the server is a remote one, reached by HTTP; in place of CMD' },
    listen: {
      type: 'string',
      value: '[127.0.0.1:]PORT',
      help: 'with --url: where clients of this machine are listened for, 0 for any port; the address to use is printed',
    },
    header: {
      type: 'string',
      value: 'NAME: VALUE',
      multiple: true,
      help: 'with --url: a header that the server gets with every request; secrets are bound instead',
    },
    verbose: { type: 'boolean', help: 'say on stderr which run this is, and where its record lies' },
  },
  examples: [
    {
      run: 'heimdall shim --server-name=git --policy team.yaml -- npx -y @modelcontextprotocol/server-git',
      does: 'puts the git server behind the rules of team.yaml',
    },
    {
      run: 'heimdall shim --server-name=git --secret-bindings secrets.json -- mcp-server-git',
      does: 'gives the server its token, which the agent never has',
    },
    {
      run: 'sub shim --server-name=fs --events=stderr -- mcp-server-filesystem .',
      does: 'only watches, and writes events to stderr',
    },
    {
      run: 'heimdall shim --server-name=tickets --url https://mcp.example.org/mcp --listen 8123',
      does: 'puts a remote server behind policy, and prints the address that clients use in its place',
    },
  ],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE'],
  output: {
    none: 'stdout is the connection to the client; nothing else is printed. With --url it has one line, the address to use',
  },
})

const bundleArg = { name: 'file', help: 'a policy bundle in YAML or JSON, or - for stdin' } as const

export const policyLint = spec({
  names: ['heimdall policy lint', 'sub policy lint'],
  summary: 'Problems of a policy bundle, and rules that can never fire',
  about:
    'Exit code 1 when the bundle is not valid; with --strict also when a rule is dead or does something else than it looks like.',
  args: [bundleArg],
  flags: { strict: { type: 'boolean', help: 'findings count as failure, not only problems' } },
  examples: [
    { run: 'heimdall policy lint team.yaml', does: 'lists every problem with line and path, then what can never fire' },
    { run: 'heimdall policy lint --strict team.yaml', does: 'the same as a check for continuous integration' },
  ],
  errors: ['POLICY_UNREADABLE'],
  output: {
    valid: 'whether the bundle compiles',
    policy_hash: 'hash of its snapshot, or null',
    problems: 'array of {path, message, line, column}',
    findings: 'array of {level: dead | warn | note, rule_id, message}',
  },
})

export const policyCompile = spec({
  names: ['heimdall policy compile', 'sub policy compile'],
  summary: 'The compiled snapshot of a policy bundle',
  about:
    'The snapshot has every default written out and carries the hash that events name. It is itself a valid bundle, and its hash is checked when it is loaded.',
  args: [bundleArg],
  flags: { hash: { type: 'boolean', help: 'print only the policy hash' } },
  examples: [
    { run: 'heimdall policy compile team.yaml > team.json', does: 'writes the snapshot' },
    { run: 'heimdall policy compile --hash team.yaml', does: 'prints its hash' },
  ],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE'],
  output: {
    policy_id: 'id of the policy',
    version: 'its version',
    policy_hash: 'SHA-256 over the canonical bytes of the rest',
    mode: 'observe, guardrails or control',
    defaults: 'what happens on errors and without a match',
    selectors: 'whom the policy is for',
    rules: 'the rules in order',
  },
})

export const policyExplain = spec({
  names: ['heimdall policy explain', 'sub policy explain'],
  summary: 'Which rule decides a call, and why',
  about:
    'Policy decides MCP calls that go through the shim; of a tool of the host itself (Bash, Edit, Write, Read, ' +
    'WebFetch, …) it says that it is not governed, and why. ' +
    'The call is taken as the first of its run unless --nth says otherwise: budgets are unspent and nothing has failed or repeated yet. ' +
    'Paths in arguments are taken as written, from a folder in which nothing is a link.',
  args: [bundleArg],
  flags: {
    server: { type: 'string', value: 'NAME', help: 'name of the MCP server; left out for a tool of the host itself' },
    tool: { type: 'string', value: 'NAME', help: 'name of the tool; left out with another --method' },
    method: { type: 'string', value: 'NAME', help: 'another request than tools/call, for instance resources/read' },
    args: {
      type: 'string',
      value: 'JSON',
      help: 'arguments of the call, or params of another request; uninspectable for ones too large, ambiguous for ones that can be read in two ways',
      default: '{}',
    },
    annotations: {
      type: 'string',
      value: 'JSON',
      help: 'what the server says of the tool: read_only, destructive, idempotent, open_world',
    },
    approved: {
      type: 'string',
      value: 'allow|deny|RULE=allow|RULE=deny',
      multiple: true,
      help: 'what a person has said, of every rule that asks or of one',
    },
    nth: { type: 'integer', value: 'N', default: 1, help: 'explain the Nth such call of the run' },
    'after-errors': { type: 'boolean', help: 'with --nth: the calls before it have failed' },
    env: { type: 'string', help: 'environment of the run', default: 'dev' },
    'agent-id': { type: 'string', value: 'ID', help: 'agent of the run', default: 'unknown' },
    client: { type: 'string', value: 'NAME', help: 'client of the run', default: 'custom' },
    workload: { type: 'string', value: 'JSON', help: 'workload of the run' },
    at: { type: 'string', value: 'TIME', help: 'time of the call in RFC 3339; now by default' },
    'exit-code': { type: 'boolean', help: 'exit with 7 when the call is not allowed' },
  },
  examples: [
    {
      run: `heimdall policy explain team.yaml --server git --tool push --args '{"force":true}'`,
      does: 'says what the call gets and what each rule has to do with it',
    },
    {
      run: `heimdall policy explain team.yaml --server fs --tool peek --annotations '{"read_only":true}'`,
      does: 'the same with what the server says of the tool',
    },
    {
      run: `heimdall policy explain team.yaml --server fs --method resources/read --args '{"uri":"file:///etc/passwd"}'`,
      does: 'a request that is no tool call, by its params',
    },
    {
      run: 'heimdall policy explain team.yaml --tool Bash',
      does: 'a tool of the host itself, which no policy governs',
    },
    {
      run: 'heimdall policy explain team.yaml --server git --tool push --approved allow --nth 21',
      does: 'the 21st such call, when a person has allowed them all',
    },
  ],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE', 'JSON_DUPLICATE_KEY'],
  output: {
    decision:
      'action, rule_id, severity, reason_code, summary, enforced and what goes with the action; null for a tool of the host itself',
    host_tool: '{tool, hosts, governed: false, why} where hosts have a tool of this name themselves, else null',
    tags: 'risk classes that the call was given',
    rules: 'array of {rule_id, kind, took_part, note} in the order of the bundle',
    policy: 'policy_id, policy_version and policy_hash',
    mode: 'mode of the policy',
  },
})

export const policyTest = spec({
  names: ['heimdall policy test', 'sub policy test'],
  summary: 'Test cases of a policy bundle',
  about:
    'A case is a list of calls over virtual time with the decision that each must get; docs/policy.md has the format.',
  args: [{ name: 'file', help: 'a file of cases in YAML or JSON, or - for stdin' }],
  flags: { policy: { type: 'string', value: 'FILE', help: 'the bundle, instead of the one that the file names' } },
  examples: [{ run: 'heimdall policy test team.cases.yaml', does: 'runs every case; exit code 1 when one fails' }],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE'],
  output: {
    policy: 'file of the bundle',
    policy_hash: 'hash of its snapshot',
    passed: 'number of cases that passed',
    failed: 'number of cases that did not',
    results: 'array of {name, passed, failures}',
  },
})

export const policyInit = spec({
  names: ['heimdall policy init', 'sub policy init'],
  changes: true,
  summary: 'Writes a first policy for the servers that a host really has, or copies a ready one',
  about:
    'Starts each server that the hosts of the user are set up with, asks it for its tools, ends it, and sorts the tools ' +
    'by what the server and the name say: reads and writes pass, what destroys and what is not listed is asked about. ' +
    'Cases for heimdall policy test are written beside it. Servers that a project’s own file names are only started with ' +
    '--shared, and only after a person was shown their command lines and has said yes. Never overwrites a file.',
  flags: {
    host: {
      type: 'string',
      value: 'NAME',
      multiple: true,
      help: 'claude, codex, cursor, gemini or vscode; all by default',
    },
    from: {
      type: 'string',
      choices: ['careful', 'no-force-push', 'observe', 'safe-defaults', 'strict-ci'],
      help: 'copy this policy and its cases instead, and start nothing',
    },
    out: { type: 'string', value: 'FILE', default: 'heimdall-policy.yaml', help: 'where the policy is written' },
    shared: { type: 'boolean', help: 'also servers of the project’s files, such as .mcp.json; asks first' },
    'dry-run': { type: 'boolean', help: 'only say what would be started, and write nothing' },
  },
  examples: [
    { run: 'heimdall policy init --host claude', does: 'writes heimdall-policy.yaml and its cases' },
    { run: 'heimdall policy init --from safe-defaults --out team.yaml', does: 'copies a ready policy' },
    { run: 'heimdall policy init --dry-run', does: 'says which servers would be started' },
  ],
  errors: [
    'FILE_EXISTS',
    'PERSON_REQUIRED',
    'HOST_NOT_FOUND',
    'HOST_CONFIG_INVALID',
    'CONSENT_REQUIRED',
    'POLICY_INVALID',
    'POLICY_UNREADABLE',
    'PATH_OUTSIDE_ROOT',
    'STORE_FULL',
    'STORE_UNREADABLE',
  ],
  output: {
    policy: 'path of the policy that was written, or null',
    cases: 'path of its cases, or null',
    servers: 'array of {name, host, file, outcome: asked | silent | skipped | would_ask, tools, why}',
    tools: 'how many tools: reads, writes, destroys, unknown',
    dry_run: 'whether nothing was started or written',
  },
})

export const policyDiff = spec({
  names: ['heimdall policy diff', 'sub policy diff'],
  summary: 'What changes in effect between two policies, and how grave it is',
  about:
    'Compares what two bundles mean, not how they are written: mode, defaults, selectors, rules that were added, removed, ' +
    'moved or changed. Both are tried on the same calls: tools that either names, tools that servers list (--tools), ' +
    'calls that were recorded (--run, --events). critical: something that was refused, limited or governed may pass; ' +
    'warn: agents or people will notice; info: the rest. Exit code 0 whatever is found; with --fail-on 1 when something ' +
    'is at least that grave.',
  args: [
    { name: 'before', help: 'a policy bundle in YAML or JSON, or - for stdin' },
    { name: 'after', help: 'another one' },
  ],
  flags: {
    tools: { type: 'string', value: 'SERVER=FILE', multiple: true, help: 'try the tools in this answer to tools/list' },
    run: { type: 'string', value: 'ID', help: 'try the calls of this run' },
    events: { type: 'string', value: 'FILE', help: 'try the calls in this file of events' },
    'fail-on': {
      type: 'string',
      choices: ['info', 'warn', 'critical'],
      help: 'exit with 1 when a difference is at least that grave',
    },
  },
  examples: [
    { run: 'heimdall policy diff main.yaml branch.yaml', does: 'lists what changes, the gravest first' },
    {
      run: 'heimdall policy diff main.yaml branch.yaml --run nightly --fail-on critical',
      does: 'the same over the calls of a run, as a check for continuous integration',
    },
  ],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE', 'RUN_NOT_FOUND', 'EVENTS_UNREADABLE'],
  output: {
    same: 'whether both have the same hash',
    severity: 'the gravest of all, or null',
    changes: 'array of {severity, what, change, rule_id, reason}, the gravest first',
    effects: 'array of {severity, server_name, tool_name, args, source, before, after, reason}, the gravest first',
    probes:
      'tried: how many calls both were tried on; left_off: how many more there would have been; unseen: recorded calls whose arguments are not known',
  },
})

export const policyReplay = spec({
  names: ['heimdall policy replay', 'sub policy replay'],
  summary: 'What a policy would have decided over a recorded run',
  about:
    'Goes through the calls of a record in order, with the recorded times as clock and counters built up on the way, and ' +
    'compares what the policy says with what was decided then. What a record does not show is never guessed: a call ' +
    'whose decision hangs on arguments that were redacted or cut, on where a path led, on what the server said of the ' +
    'tool or on what such a call may have counted is undecidable, and says why. Agents that are refused do other things ' +
    'next: what is shown are decisions over the calls that were made. Exit code 0 whatever is found; with --exit-code 1 ' +
    'when a call would have been decided otherwise.',
  args: [bundleArg],
  flags: {
    run: { type: 'string', value: 'ID', help: 'the record of this run' },
    events: { type: 'string', value: 'FILE', help: 'a file of events instead, of one run or several' },
    tools: {
      type: 'string',
      value: 'SERVER=FILE',
      multiple: true,
      help: 'what the server answers to tools/list, for rules that look at annotations, which records do not have',
    },
    'paths-as-written': {
      type: 'boolean',
      help: 'take paths in arguments as written, from a folder in which nothing is a link; else they are undecidable',
    },
    all: { type: 'boolean', help: 'show every call, not only differences and undecidable ones' },
    'exit-code': { type: 'boolean', help: 'exit with 1 when a call would have been decided otherwise' },
  },
  examples: [
    {
      run: 'heimdall policy replay team.yaml --run nightly',
      does: 'says which calls of that run it would decide otherwise',
    },
    {
      run: 'heimdall policy replay strict.yaml --events events.jsonl --paths-as-written --json',
      does: 'the same over a file that was kept, for a program',
    },
  ],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE', 'RUN_NOT_FOUND', 'EVENTS_UNREADABLE'],
  output: {
    policy: 'policy_id, policy_version, policy_hash and mode of the policy',
    runs: 'how many runs the events are of',
    calls:
      'total, same, stricter (would be refused now), looser (would pass now), other (another rule or reason), undecidable',
    undecidable:
      'number of calls by what is not known: name, arguments, paths, annotations, answer, counters, terminated',
    recorded:
      'array of {policy_id, policy_version, policy_hash, calls, same, different, undecidable}: what decided then',
    rows: 'array of {run_id, seq, ts, server_name, tool_name, outcome, recorded, replayed, possible, why}',
    rows_left_off: 'how many rows there are beyond those shown',
    set_aside: 'lines that could not be read: {unreadable, newer}, and calls without a decision: undecided',
    notes: 'what has to be known to read this',
  },
})

const APPROVAL_FIELDS =
  'id, run_id, rule_id, rule_hash, server_name, tool_name, args_hash, args_preview, question, agent_id, asked_at, times, answer, answered_by, answered_at, lasts, of_rule, closed_at'

export const approvalsList = spec({
  names: ['heimdall approvals list', 'sub approvals list'],
  summary: 'What agents want to do and a person has to allow',
  about: 'Questions of rules with the action ASK, of all runs of this user. When a run ends, its questions are closed.',
  flags: {
    all: { type: 'boolean', help: 'answered and closed ones too' },
    run: { type: 'string', value: 'ID', help: 'of one run' },
  },
  examples: [{ run: 'heimdall approvals list', does: 'lists what is waiting for an answer' }],
  errors: ['RUN_NOT_FOUND', 'STORE_UNREADABLE'],
  output: { requests: `array of {${APPROVAL_FIELDS}}` },
})

const answerFlags = {
  once: { type: 'boolean', help: 'for the next such call alone' },
  for: { type: 'duration', value: 'TIME', help: 'for as long as that, for instance 10m' },
  run: { type: 'boolean', help: 'for the whole run' },
  rule: { type: 'boolean', help: 'for every call that the rule asks about, not only this tool with these arguments' },
} as const
const answerArgs = [{ name: 'id', help: 'id of a question', variadic: true }] as const
const ANSWER_ERRORS = ['PERSON_REQUIRED', 'APPROVAL_NOT_FOUND', 'STORE_UNREADABLE', 'STORE_FULL'] as const

export const approvalsAllow = spec({
  names: ['heimdall approvals allow', 'sub approvals allow'],
  summary: 'Lets a call pass that a rule asks a person about',
  about:
    'Once unless told otherwise. A call that is still held goes on at once; else the agent has been told that it may make it again. Takes a person, at a terminal that no session and no agent is above.',
  args: answerArgs,
  flags: answerFlags,
  examples: [
    { run: 'heimdall approvals allow 1f2e3d4c', does: 'lets that call pass once' },
    {
      run: 'heimdall approvals allow 1f2e3d4c --rule --for 10m',
      does: 'answers for every call of the rule for ten minutes',
    },
  ],
  errors: ANSWER_ERRORS,
  output: { answered: `array of {${APPROVAL_FIELDS}}` },
})

export const approvalsDeny = spec({
  names: ['heimdall approvals deny', 'sub approvals deny'],
  summary: 'Refuses a call that a rule asks a person about',
  about:
    'For the whole run unless told otherwise: an agent that was refused once would only ask again. Takes a person.',
  args: answerArgs,
  flags: answerFlags,
  examples: [{ run: 'heimdall approvals deny 1f2e3d4c', does: 'refuses that call for the rest of the run' }],
  errors: ANSWER_ERRORS,
  output: { answered: `array of {${APPROVAL_FIELDS}}` },
})

export const policyCommands: readonly Command[] = [
  { spec: shim, load: () => import('../commands/shim.ts') },
  { spec: policyLint, load: () => import('../commands/policy/lint.ts') },
  { spec: policyCompile, load: () => import('../commands/policy/compile.ts') },
  { spec: policyExplain, load: () => import('../commands/policy/explain.ts') },
  { spec: policyTest, load: () => import('../commands/policy/test.ts') },
  { spec: policyInit, load: () => import('../commands/policy/init.ts') },
  { spec: policyDiff, load: () => import('../commands/policy/diff.ts') },
  { spec: policyReplay, load: () => import('../commands/policy/replay.ts') },
  { spec: approvalsList, load: () => import('../commands/approvals/list.ts') },
  { spec: approvalsAllow, load: () => import('../commands/approvals/allow.ts') },
  { spec: approvalsDeny, load: () => import('../commands/approvals/deny.ts') },
]
