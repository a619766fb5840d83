// Commands of briefing: each is `heimdall <noun> <verb>`, the seed's own command, and a sub-command of heimdall-protocol.
import { type Command, type CommandSpec, type FlagSpec, spec } from '../command.ts'

/** `named('symbol set', 'resolve set')`: ours, `heimdall-resolve set`, and `heimdall-protocol resolve set`. */
function named(ours: string, seeds: string): CommandSpec['names'] {
  return [`heimdall ${ours}`, `heimdall-${seeds}`, `heimdall-protocol ${seeds}`]
}

const STORE_ERRORS = ['STORE_CORRUPT', 'STORE_UNREADABLE', 'STORE_NEWER', 'PATH_OUTSIDE_ROOT'] as const
const WRITE_ERRORS = [...STORE_ERRORS, 'STORE_FULL', 'STORE_BUSY', 'ID_INVALID', 'VALUE_INVALID'] as const

const role = {
  type: 'string',
  value: 'ROLE',
  help: 'count the tokens of the text and log them for this role; HEIMDALL_ROLE is the default',
} as const satisfies FlagSpec
const msgId = {
  type: 'string',
  value: 'ID',
  help: 'id of the message in the token ledger; made up without it',
} as const satisfies FlagSpec
const runId = {
  type: 'string',
  value: 'ID',
  help: 'only rows of this run; SUB_RUN_ID is the default',
} as const satisfies FlagSpec
const allRuns = { type: 'boolean', help: 'every row, whatever SUB_RUN_ID says' } as const satisfies FlagSpec
const tokenizer = {
  type: 'string',
  choices: ['o200k_base', 'cl100k_base'],
  help: 'which tokenizer counts; o200k_base without it',
} as const satisfies FlagSpec

export const messageValidate = spec({
  names: named('message validate', 'validate'),
  summary: 'Check messages from stdin against the message schema',
  about:
    'Without a flag the whole of stdin is one message. The verdict is {"valid":…,"errors":[…]}; each error names its field.\n' +
    'Exit 0 when it is valid, 1 when it is not.',
  flags: {
    'on-receipt': {
      type: 'boolean',
      help: 'one message per line: a refused one gets one retry, the next line; then it is escalated',
    },
    stream: { type: 'boolean', help: 'many messages, one per line, and one verdict per line' },
    role,
  },
  examples: [
    {
      run: `echo '{"type":"question","from":"coder","msg_id":"m1","question":"which port?"}' | heimdall message validate`,
      does: 'prints {"valid":true,"errors":[]}',
    },
    { run: 'heimdall message validate --stream < inbox.jsonl', does: 'prints one verdict for each line of the file' },
  ],
  errors: STORE_ERRORS,
  output: { valid: 'whether the message fits the schema', errors: 'why not, one entry for each field' },
})

export const messageSchema = spec({
  names: ['heimdall message schema'],
  summary: 'Print the schema of the messages, as it is published',
  about: 'JSON Schema draft-07; `heimdall protocol init` writes the same to .planning/protocol/message-schema.json.',
  examples: [
    { run: 'heimdall message schema > message-schema.json', does: 'writes the schema for a validator of your own' },
  ],
  output: { schema: 'the schema' },
})

export const symbolGet = spec({
  names: named('symbol get', 'resolve'),
  summary: 'Print what a symbol stands for',
  about:
    'By the name heimdall-resolve, an id called like a sub-command (set, list, rm, import) is asked for after --:\n' +
    'heimdall-resolve -- set. By the name heimdall symbol get no id needs that.',
  args: [{ name: 'id', help: 'the symbol', optional: true }],
  flags: {
    reverse: { type: 'string', value: 'VALUE', help: 'print the first symbol with exactly this value instead' },
  },
  examples: [
    { run: 'heimdall symbol get F12', does: 'prints src/matching/engine.ts' },
    { run: 'heimdall-resolve --reverse src/matching/engine.ts', does: 'prints F12' },
  ],
  errors: ['SYMBOL_UNKNOWN', 'ID_INVALID', ...STORE_ERRORS],
  output: { id: 'the symbol', value: 'what it stands for' },
})

export const symbolReverse = spec({
  names: ['heimdall symbol reverse'],
  summary: 'Print the symbol that stands for a value',
  literal: true,
  args: [{ name: 'value', help: 'the exact value' }],
  examples: [{ run: 'heimdall symbol reverse src/matching/engine.ts', does: 'prints F12' }],
  errors: ['SYMBOL_UNKNOWN', ...STORE_ERRORS],
  output: { id: 'the first symbol with this value', value: 'the value' },
})

export const symbolSet = spec({
  names: named('symbol set', 'resolve set'),
  changes: true,
  summary: 'Give a path, criterion or invariant a short id',
  literal: true,
  args: [
    { name: 'id', help: '1 to 64 letters, digits, dots, underscores or hyphens' },
    { name: 'value', help: 'what it stands for; an older value is replaced' },
  ],
  examples: [{ run: 'heimdall symbol set F12 src/matching/engine.ts', does: 'prints F12 = src/matching/engine.ts' }],
  errors: WRITE_ERRORS,
  output: { id: 'the symbol', value: 'what it stands for now' },
})

export const symbolList = spec({
  names: named('symbol list', 'resolve list'),
  summary: 'Print the symbol table, one row per symbol',
  about: 'A row is id, tab, value; tabs, newlines and backslashes in a value are written as \\t, \\n and \\\\.',
  examples: [{ run: 'heimdall symbol list', does: 'prints id<TAB>value for the whole table' }],
  errors: STORE_ERRORS,
  output: { symbols: 'list of {id, value} in the order of the table' },
})

export const symbolRm = spec({
  names: named('symbol rm', 'resolve rm'),
  changes: true,
  summary: 'Take a symbol out of the table',
  args: [{ name: 'id', help: 'the symbol' }],
  examples: [{ run: 'heimdall symbol rm F12', does: 'prints removed F12' }],
  errors: ['SYMBOL_UNKNOWN', ...WRITE_ERRORS],
  output: { id: 'the symbol that is gone' },
})

export const symbolImport = spec({
  names: named('symbol import', 'resolve import'),
  changes: true,
  summary: 'Add many symbols at once, all of them or none',
  about: 'Takes rows as symbol list prints them, a JSON object {"id":"value"}, or a symbols.json.',
  args: [{ name: 'file', help: 'the file; stdin without it or with -', optional: true }],
  examples: [{ run: 'heimdall symbol import symbols.tsv', does: 'prints imported 42 symbols' }],
  errors: WRITE_ERRORS,
  output: { count: 'how many symbols were set' },
})

export const capsuleWrite = spec({
  names: named('capsule write', 'capsule write'),
  changes: true,
  summary: 'Write what a finished piece of work leaves behind, in ten lines at most',
  about: 'More than ten lines are refused, and the capsule that was there stays as it was.',
  args: [{ name: 'id', help: 'names the capsule: a wave or a task' }],
  flags: {
    what: { type: 'string', value: 'TEXT', required: true, help: 'what was done' },
    where: { type: 'string', value: 'TEXT', help: 'where: a path or a symbol' },
    decision: { type: 'string', value: 'TEXT', help: 'what was decided' },
    gotcha: { type: 'string', value: 'TEXT', help: 'what the next one must know' },
    depends: { type: 'string', value: 'IDS', help: 'capsules that this one builds on, separated by commas' },
  },
  examples: [
    {
      run: 'heimdall capsule write w2 --what "added book diff" --where F13 --depends w1',
      does: 'prints wrote .planning/protocol/capsules/w2.md (7 lines)',
    },
  ],
  errors: ['CAPSULE_TOO_LONG', 'CAPSULE_CYCLE', ...WRITE_ERRORS],
  output: {
    id: 'the capsule',
    path: 'its file',
    lines: 'lines of the file',
    depends: 'what it builds on',
    missing: 'those of them that are not written yet',
  },
})

export const capsuleShow = spec({
  names: named('capsule show', 'capsule show'),
  summary: 'Print one capsule',
  args: [{ name: 'id', help: 'the capsule' }],
  examples: [{ run: 'heimdall capsule show w1', does: 'prints the capsule as it is on disk' }],
  errors: ['CAPSULE_UNKNOWN', 'ID_INVALID', ...STORE_ERRORS],
  output: { id: 'the capsule', body: 'its text' },
})

export const capsuleList = spec({
  names: named('capsule list', 'capsule list'),
  summary: 'Print the ids of all capsules',
  examples: [{ run: 'heimdall capsule list', does: 'prints one id per line' }],
  errors: STORE_ERRORS,
  output: { capsules: 'list of ids' },
})

export const capsuleDeps = spec({
  names: named('capsule deps', 'capsule deps'),
  summary: 'Print the ids of the dependency closure, dependencies first',
  args: [{ name: 'ids', help: 'the capsules', variadic: true }],
  examples: [{ run: 'heimdall capsule deps w2', does: 'prints w1 and w2, one per line' }],
  errors: ['CAPSULE_UNKNOWN', 'CAPSULE_CYCLE', 'ID_INVALID', ...STORE_ERRORS],
  output: { closure: 'list of ids, each after those that it depends on' },
})

export const capsuleHydrate = spec({
  names: named('capsule hydrate', 'capsule hydrate'),
  summary: 'Print capsules with everything that they depend on, and nothing else',
  about:
    'Nothing is printed before the whole closure is known: a missing capsule or a circle is an error, not half an answer.',
  args: [{ name: 'ids', help: 'the capsules', variadic: true }],
  flags: { role, 'msg-id': msgId },
  examples: [{ run: 'heimdall capsule hydrate w2', does: 'prints w1, then w2' }],
  errors: ['CAPSULE_UNKNOWN', 'CAPSULE_CYCLE', 'ID_INVALID', ...STORE_ERRORS],
  output: { body: 'the capsules, dependencies first, with a blank line between them' },
})

export const briefBuild = spec({
  names: named('brief build', 'brief build'),
  changes: true,
  summary: 'Build the brief of a task: its specification and what it refers to, resolved',
  about:
    'What several briefs share comes first and is the same byte for byte, so that a prompt cache can hold it; the task comes last.\n' +
    'Exit 1 when something cannot be resolved: all of it is named and nothing is printed. heimdall-brief exits 3 when a store could not be read.',
  flags: {
    task: { type: 'string', value: 'ID', required: true, help: 'id of the task' },
    spec: { type: 'string', value: 'TEXT', required: true, help: 'what is to be done' },
    symbols: { type: 'string', value: 'IDS', help: 'symbols that the task refers to, separated by commas' },
    capsules: { type: 'string', value: 'IDS', help: 'capsules that the task builds on; their dependencies come along' },
    facts: { type: 'string', value: 'KEYS', help: 'facts of the blackboard that the task needs' },
    invariants: {
      type: 'string',
      value: 'PATH[#ANCHOR]',
      help: 'page with the invariants; file and anchor must exist',
    },
    budget: { type: 'integer', value: 'N', help: 'at most N tokens; what does not fit is listed by name' },
    role,
    'msg-id': msgId,
  },
  examples: [
    {
      run: 'heimdall brief build --task 3.2 --spec "implement book diff" --symbols F12,C3 --capsules w2 --invariants INVARIANTS.md',
      does: 'prints the brief',
    },
  ],
  errors: ['BRIEF_INCOMPLETE', 'BRIEF_OVER_BUDGET', 'VALUE_INVALID', 'ID_INVALID', ...STORE_ERRORS],
  output: {
    task: 'id of the task',
    msg_id: 'id of the message in the token ledger',
    text: 'the brief',
    omitted: 'list of {kind, id} that did not fit into the budget',
  },
})

export const factSet = spec({
  names: named('fact set', 'blackboard set'),
  changes: true,
  summary: 'Write a fact on the blackboard',
  literal: true,
  args: [
    { name: 'key', help: '1 to 64 letters, digits, dots, underscores or hyphens' },
    { name: 'value', help: 'the fact; an older value is replaced' },
  ],
  flags: {
    by: {
      type: 'string',
      value: 'NAME',
      help: 'who says so; HEIMDALL_HAID, HEIMDALL_AGENT_ID or HEIMDALL_ROLE without it',
    },
  },
  examples: [{ run: 'heimdall fact set dev_port 5173', does: 'prints dev_port = 5173' }],
  errors: WRITE_ERRORS,
  output: { key: 'the key', value: 'the fact', by: 'who set it, or null' },
})

export const factGet = spec({
  names: named('fact get', 'blackboard get'),
  summary: 'Print a fact of the blackboard',
  args: [{ name: 'key', help: 'the key' }],
  flags: { 'max-age': { type: 'duration', value: 'AGE', help: 'refuse a fact older than this, or of unknown age' } },
  examples: [
    { run: 'heimdall fact get dev_port', does: 'prints 5173' },
    { run: 'heimdall fact get dev_port --max-age 1h', does: 'fails when it was set more than an hour ago' },
  ],
  errors: ['FACT_UNKNOWN', 'FACT_STALE', 'ID_INVALID', ...STORE_ERRORS],
  output: { key: 'the key', value: 'the fact', by: 'who set it, or null', ts: 'when it was set, or null' },
})

export const factList = spec({
  names: named('fact list', 'blackboard list'),
  summary: 'Print the blackboard, one row per fact',
  about: 'A row is key, tab, value; tabs, newlines and backslashes in a value are written as \\t, \\n and \\\\.',
  examples: [{ run: 'heimdall fact list', does: 'prints key<TAB>value for all facts' }],
  errors: STORE_ERRORS,
  output: { facts: 'list of {key, value, by, ts}' },
})

export const factDel = spec({
  names: named('fact del', 'blackboard del'),
  changes: true,
  summary: 'Wipe a fact off the blackboard',
  args: [{ name: 'key', help: 'the key; one that is not there is no error' }],
  examples: [{ run: 'heimdall fact del dev_port', does: 'prints deleted dev_port' }],
  errors: WRITE_ERRORS,
  output: { key: 'the key', deleted: 'whether it was there' },
})

export const tokensLog = spec({
  names: named('tokens log', 'ledger log'),
  changes: true,
  summary: 'Write down what a message or spawn cost',
  about:
    'A text given with --file is counted and logged as measured, once for each message id of a run. A number given with --tokens is logged as declared.',
  flags: {
    role: { type: 'string', value: 'ROLE', required: true, help: 'who pays' },
    kind: { type: 'string', value: 'KIND', required: true, help: 'what it was: delta_brief, task_result, …' },
    tokens: { type: 'integer', value: 'N', help: 'the cost, on your word' },
    cached: { type: 'integer', value: 'N', help: 'how many of --tokens a prompt cache served' },
    file: { type: 'string', value: 'FILE', help: 'count this text; - is stdin' },
    tokenizer,
    'msg-id': { type: 'string', value: 'ID', help: 'id of the message' },
    run: { type: 'string', value: 'ID', help: 'the run it belongs to; SUB_RUN_ID without it' },
  },
  examples: [
    {
      run: 'heimdall tokens log --role orchestration --kind delta_brief --file brief.txt --msg-id b1',
      does: 'counts the file and prints logged orchestration/delta_brief=…',
    },
    {
      run: 'heimdall-ledger log --role coder --kind task_result --tokens 250',
      does: 'prints logged coder/task_result=250',
    },
  ],
  errors: WRITE_ERRORS,
  output: {
    ts: 'when',
    role: 'who pays',
    kind: 'what it was',
    tokens: 'the cost',
    source: 'measured or declared',
    tokenizer: 'which one counted, or null',
  },
})

export const tokensReport = spec({
  names: named('tokens report', 'ledger report'),
  summary: 'Print the totals of the token ledger per role',
  flags: { run: runId, all: allRuns },
  examples: [{ run: 'heimdall tokens report', does: 'prints tokens and messages of each role, and the total' }],
  errors: ['RUN_NOT_FOUND', ...STORE_ERRORS],
  output: {
    roles: 'for each role tokens, cached, uncached, messages, measured, declared',
    runs: 'the same for each run',
    total: 'the same for all',
    over: 'what was summed: run (null for all), rows, runs, from, to',
    unreadable: 'lines of the ledger that are no row',
  },
})

export const tokensBaseline = spec({
  names: named('tokens baseline', 'ledger baseline'),
  changes: true,
  summary: 'Record the cost of a role without this protocol, the number to beat',
  flags: {
    role: { type: 'string', value: 'ROLE', required: true, help: 'who pays' },
    tokens: { type: 'integer', value: 'N', help: 'the cost, on your word' },
    file: { type: 'string', value: 'FILE', help: 'count this text; - is stdin' },
    tokenizer,
  },
  examples: [
    {
      run: 'heimdall tokens baseline --role orchestration --file verbatim.txt',
      does: 'counts the file and prints baseline orchestration = … (v1)',
    },
  ],
  errors: WRITE_ERRORS,
  output: { role: 'who pays', tokens: 'the cost', source: 'counted or declared' },
})

export const tokensDelta = spec({
  names: named('tokens delta', 'ledger delta'),
  summary: 'Print the ledger against the baselines, role by role',
  flags: { role: { type: 'string', value: 'ROLE', help: 'this role only' }, run: runId, all: allRuns },
  examples: [
    { run: 'heimdall tokens delta --role orchestration', does: 'prints baseline, cost and change in percent' },
  ],
  errors: ['RUN_NOT_FOUND', ...STORE_ERRORS],
  output: { roles: 'list of {role, baseline, tokens, cached, uncached, messages, measured, declared}' },
})

export const gateToMessage = spec({
  names: named('gate to-message', 'gate to-message'),
  changes: true,
  summary: "Turn a gate's report into a message that refers to it",
  about: 'Of the report only gate_id, status and wave are read. The message names it by its path in the project.',
  flags: {
    report: { type: 'string', value: 'FILE', required: true, help: 'report.json of the gate' },
    from: { type: 'string', value: 'ROLE', required: true, help: 'who reports' },
    'msg-id': { type: 'string', value: 'ID', required: true, help: 'id of the message' },
    wave: { type: 'string', value: 'WAVE', help: "in place of the report's own" },
    role,
  },
  examples: [
    {
      run: 'heimdall gate to-message --report evals/lob/report.json --from sentinel --msg-id g1 | heimdall message validate',
      does: 'prints {"valid":true,"errors":[]}',
    },
  ],
  errors: ['REPORT_INVALID', 'MESSAGE_INVALID', 'STORE_UNREADABLE'],
  output: {
    type: 'gate_report',
    gate_id: 'the gate',
    status: 'pass or fail',
    report_ref: 'path of the report in the project',
  },
})

export const taskResultDone = spec({
  names: named('task-result done', 'task-result done'),
  changes: true,
  summary: 'Finish a task: write its capsule and print its task_result message',
  about:
    'The capsule is named like the task. When the capsule or the message is refused, neither is written and the exit code is 1.',
  flags: {
    task: { type: 'string', value: 'ID', required: true, help: 'the task' },
    status: { type: 'string', choices: ['pass', 'fail', 'partial'], required: true, help: 'how it ended' },
    from: { type: 'string', value: 'ROLE', required: true, help: 'who did it' },
    what: { type: 'string', value: 'TEXT', required: true, help: 'what was done' },
    where: { type: 'string', value: 'TEXT', help: 'where: a path or a symbol' },
    decision: { type: 'string', value: 'TEXT', help: 'what was decided' },
    gotcha: { type: 'string', value: 'TEXT', help: 'what the next one must know' },
    depends: { type: 'string', value: 'IDS', help: 'capsules that this one builds on, separated by commas' },
    criteria: { type: 'string', value: 'NUMBERS', help: 'criteria that are met, separated by commas' },
    commit: { type: 'string', value: 'HASH', help: 'the commit' },
    role,
    'msg-id': msgId,
  },
  examples: [
    {
      run: 'heimdall task-result done --task 3.2 --status pass --from coder --what "added book diff" --criteria 1,2 --commit a2ef507',
      does: 'writes capsule 3.2 and prints the message',
    },
  ],
  errors: ['MESSAGE_INVALID', ...WRITE_ERRORS],
  output: { type: 'task_result', task: 'the task', status: 'how it ended', capsule: 'id of its capsule' },
})

export const protocolInit = spec({
  names: ['heimdall protocol init', 'heimdall-protocol init'],
  changes: true,
  summary: 'Make or repair the planning folder, and publish the message schema in it',
  examples: [{ run: 'heimdall protocol init', does: 'makes .planning with its files and prints where they are' }],
  errors: WRITE_ERRORS,
  output: {
    protocol: 'the folder',
    symbols: 'path of symbols.json',
    blackboard: 'path of blackboard.json',
    capsules: 'folder of capsules',
    ledger: 'path of ledger.jsonl',
    schema: 'path of message-schema.json',
    log: 'path of protocol.log',
    baselines: 'path of baselines.json',
  },
})

export const protocolLog = spec({
  names: ['heimdall protocol log', 'heimdall-protocol log'],
  summary: 'Print the last lines of protocol.log',
  args: [{ name: 'count', help: 'how many; 20 without it', optional: true }],
  examples: [{ run: 'heimdall protocol log 5', does: 'prints the last five actions' }],
  errors: STORE_ERRORS,
  output: { lines: 'list of {ts, actor, action, detail}' },
})

export const protocolDemo = spec({
  names: ['heimdall protocol demo', 'heimdall-protocol demo'],
  summary: 'Brief one wave of a shipped project verbatim, by hand and by reference, and measure all three',
  about:
    'The project (corpus/tally) was written for this demo; what is saved elsewhere depends on how long plans and reports are there.\n' +
    'All figures are counted from the texts that are made on the spot, in a folder of its own; the ledger of the project is not touched.\n' +
    "Exit 1 when a brief has lost a fact that its task's acceptance needs.",
  examples: [{ run: 'heimdall protocol demo', does: 'prints the cost of all three, with and without prompt caching' }],
  output: {
    tokenizer: 'which one counted',
    spawns: 'agents briefed',
    baseline: 'tokens of the verbatim briefs',
    tokens: 'tokens of symbol table, briefs and results',
    rows: 'the rows of the ledger that they come from',
    verbatim: 'shared, own and one-off tokens of a verbatim spawn',
    byHand: 'the same for the brief that a careful person writes, with its tokens and what it leaves out',
    protocol: 'the same by reference',
    before: 'tokens of the capsules and facts that earlier waves wrote',
    opened: 'tokens when every spawn also opens the invariants',
    fidelity: 'facts in the brief, one reference away, lost',
    briefs: 'the briefs themselves',
  },
})

export const briefingCommands: readonly Command[] = [
  { spec: protocolInit, load: () => import('../commands/protocol/init.ts') },
  { spec: protocolLog, load: () => import('../commands/protocol/log.ts') },
  { spec: protocolDemo, load: () => import('../commands/protocol/demo.ts') },
  { spec: messageValidate, load: () => import('../commands/message/validate.ts') },
  { spec: messageSchema, load: () => import('../commands/message/schema.ts') },
  { spec: symbolGet, load: () => import('../commands/symbol/get.ts') },
  { spec: symbolSet, load: () => import('../commands/symbol/set.ts') },
  { spec: symbolReverse, load: () => import('../commands/symbol/reverse.ts') },
  { spec: symbolList, load: () => import('../commands/symbol/list.ts') },
  { spec: symbolRm, load: () => import('../commands/symbol/rm.ts') },
  { spec: symbolImport, load: () => import('../commands/symbol/import.ts') },
  { spec: capsuleWrite, load: () => import('../commands/capsule/write.ts') },
  { spec: capsuleShow, load: () => import('../commands/capsule/show.ts') },
  { spec: capsuleList, load: () => import('../commands/capsule/list.ts') },
  { spec: capsuleDeps, load: () => import('../commands/capsule/deps.ts') },
  { spec: capsuleHydrate, load: () => import('../commands/capsule/hydrate.ts') },
  { spec: briefBuild, load: () => import('../commands/brief/build.ts') },
  { spec: factSet, load: () => import('../commands/fact/set.ts') },
  { spec: factGet, load: () => import('../commands/fact/get.ts') },
  { spec: factList, load: () => import('../commands/fact/list.ts') },
  { spec: factDel, load: () => import('../commands/fact/del.ts') },
  { spec: tokensLog, load: () => import('../commands/tokens/log.ts') },
  { spec: tokensReport, load: () => import('../commands/tokens/report.ts') },
  { spec: tokensBaseline, load: () => import('../commands/tokens/baseline.ts') },
  { spec: tokensDelta, load: () => import('../commands/tokens/delta.ts') },
  { spec: gateToMessage, load: () => import('../commands/gate/to-message.ts') },
  { spec: taskResultDone, load: () => import('../commands/task-result/done.ts') },
]
