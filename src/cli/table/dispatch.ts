// Commands of dispatch: tasks to workers, workers, and the peers that both are.
import type { ErrorCode } from '../../errors.ts'
import { type Command, type FlagSpec, spec } from '../command.ts'
import { socketDir, startErrors } from './start-flags.ts'

const STORE: readonly ErrorCode[] = ['STORE_CORRUPT', 'STORE_UNREADABLE', 'STORE_FULL', 'STORE_BUSY', 'STORE_NEWER']

const TASK = {
  task_id: 'id of the task',
  state: 'queued, parked, in_progress, triage, done, partial, failed or canceled',
  title: 'first line of what it is about',
  priority: 'urgent, high, normal or low',
  attempts: 'how often it was sent',
  failures: 'attempts that failed after they had begun',
  token_budget: 'tokens that all attempts share, or null',
  tokens_settled: 'what ended attempts have taken',
  tokens_reserved: 'what running attempts may take',
  deadline: 'or null',
  reason: 'why it waits, or how it ended',
  retry: 'the command that sends it again, for a task that has failed or waits for a person; else null',
  sent_at: 'since when it is in the queue',
  ended_at: 'or null',
}
const SHOWN = {
  ...TASK,
  contract: 'TASK_DISPATCH as it was sent',
  list: 'attempts: number, worker, state, remote_id, times, result, late',
  result: 'TASK_RESULT of the last attempt that has one, or null',
}
const taskArg = { name: 'task', help: 'id of the task' } as const
const listenFlags = {
  host: { type: 'string', value: 'ADDRESS', default: '127.0.0.1', help: 'address to listen on' },
  port: { type: 'integer', value: 'N', default: 0, help: 'port to listen on; 0 takes one that is free' },
  open: { type: 'boolean', help: 'listen on an address that other machines reach; put TLS in front' },
} as const satisfies Record<string, FlagSpec>
const needsFlags = {
  mcp: { type: 'string', value: 'NAMES', help: 'MCP servers that must answer, separated by commas' },
  needs: { type: 'string', value: 'NAMES', help: 'capabilities that the worker must have: terminal, file, …' },
  tier: { type: 'string', choices: ['haiku', 'sonnet', 'opus'], help: 'the least model tier' },
  'read-only': { type: 'boolean', help: 'it writes nothing: needs neither a clean tree nor a worktree' },
  worker: { type: 'string', value: 'NAME', help: 'only this worker' },
  scope: {
    type: 'string',
    value: 'PATH',
    multiple: true,
    help: 'paths that it claims; a worker near them is preferred',
  },
} as const satisfies Record<string, FlagSpec>

export const dispatchSend = spec({
  names: ['heimdall dispatch send'],
  changes: true,
  summary: 'Send a task to a worker that can do it',
  about:
    'Puts the task into the queue. Whoever orchestrates sends it: heimdall dispatch serve, the hub, or with --wait ' +
    'this command, as long as nobody else does. Only a worker that has what the task requires gets it.',
  args: [{ name: 'brief', help: 'what is to be done; - reads it from stdin', optional: true }],
  flags: {
    id: { type: 'string', value: 'ID', help: 'id of the task; made up when absent' },
    'brief-file': { type: 'string', value: 'FILE', help: 'the brief from a file' },
    symbols: { type: 'string', value: 'IDS', help: 'symbols that the brief refers to' },
    capsules: { type: 'string', value: 'IDS', help: 'capsules that the brief refers to' },
    facts: { type: 'string', value: 'KEYS', help: 'facts that the brief refers to' },
    priority: {
      type: 'string',
      choices: ['urgent', 'high', 'normal', 'low'],
      default: 'normal',
      help: 'how pressing it is',
    },
    reply: { type: 'string', choices: ['prose', 'structured', 'json'], default: 'prose', help: 'what the reply is' },
    schema: { type: 'string', value: 'FILE', help: 'JSON Schema of the reply; goes with --reply json' },
    budget: { type: 'integer', value: 'TOKENS', help: 'output and uncached input that all attempts may take' },
    deadline: { type: 'string', value: 'TIME', help: 'when it must have ended: ISO 8601 with its zone' },
    within: { type: 'duration', value: 'TIME', help: 'the same, from now: 30m' },
    idempotent: { type: 'boolean', help: 'it may be run again when nobody knows how far it got' },
    'accept-partial': { type: 'boolean', help: 'a part of it is good enough to be called completed' },
    'resume-within': {
      type: 'duration',
      value: 'TIME',
      help: 'stopped at its budget it waits so long for more tokens: heimdall dispatch answer TASK 4000',
    },
    ...needsFlags,
    wait: { type: 'boolean', help: 'until it has ended, or waits for a person' },
    timeout: { type: 'duration', value: 'TIME', help: 'with --wait: not longer than this' },
  },
  examples: [
    { run: 'heimdall dispatch send "Fix the flaky login test" --wait', does: 'sends it, and prints what came of it' },
    {
      run: 'heimdall dispatch send --brief-file task.md --mcp context_mode --budget 40000 --reply structured',
      does: 'only to a worker whose MCP server context_mode answers',
    },
  ],
  errors: [
    'DISPATCH_INVALID',
    'DISPATCH_DUPLICATE',
    'DISPATCH_FAILED',
    'WAIT_TIMEOUT',
    'INTERRUPTED',
    'PEER_INVALID',
    'SCOPE_INVALID',
    'BRIEF_INCOMPLETE',
    ...STORE,
  ],
  output: SHOWN,
})
export const dispatchServe = spec({
  names: ['heimdall dispatch serve'],
  changes: true,
  summary: 'Orchestrate: take announces, send what is queued, follow it to its end',
  flags: listenFlags,
  examples: [{ run: 'heimdall dispatch serve', does: 'runs until it is stopped; tasks go on at their workers' }],
  errors: ['ADDRESS_REFUSED', 'PEER_INVALID', 'WORKER_RUNNING', ...STORE],
  output: { url: 'where workers announce themselves' },
})
export const dispatchExplain = spec({
  names: ['heimdall dispatch explain'],
  summary: 'Which worker would get a task, and why each would or would not',
  args: [{ ...taskArg, optional: true }],
  flags: needsFlags,
  examples: [
    { run: 'heimdall dispatch explain T-9', does: 'says why T-9 waits, or who is next in line for it' },
    { run: 'heimdall dispatch explain --mcp trek', does: 'asks for a task that is not sent yet' },
  ],
  errors: ['TASK_NOT_FOUND', ...STORE],
  output: { chosen: 'worker, or null', workers: 'in order of preference: worker, lacks (code and text), score' },
})
export const dispatchList = spec({
  names: ['heimdall dispatch list'],
  summary: 'Dispatched tasks, and how they stand',
  flags: { all: { type: 'boolean', help: 'those that have ended as well' } },
  examples: [{ run: 'heimdall dispatch list', does: 'lists what is queued, parked, at work or waits for a person' }],
  errors: STORE,
  output: { '[]': 'tasks, in the order in which they were sent' },
})
export const dispatchShow = spec({
  names: ['heimdall dispatch show'],
  summary: 'One dispatched task with its attempts and its result',
  args: [taskArg],
  examples: [{ run: 'heimdall dispatch show T-9 --json', does: 'prints all that is known of T-9' }],
  errors: ['TASK_NOT_FOUND', ...STORE],
  output: SHOWN,
})
export const dispatchCancel = spec({
  names: ['heimdall dispatch cancel'],
  changes: true,
  summary: 'Cancel a task; at its worker, the whole process tree ends',
  args: [taskArg],
  flags: { reason: { type: 'string', value: 'TEXT', default: 'cancelled', help: 'for the record' } },
  examples: [{ run: 'heimdall dispatch cancel T-9', does: 'takes T-9 out of the queue, or ends it' }],
  errors: ['TASK_NOT_FOUND', 'TASK_FORBIDDEN', ...STORE],
  output: TASK,
})
export const dispatchRetry = spec({
  names: ['heimdall dispatch retry'],
  changes: true,
  summary: 'Put a task that has failed, is parked or waits for a person back into the queue',
  args: [taskArg],
  flags: {
    budget: { type: 'integer', value: 'TOKENS', help: 'the new budget of all attempts; it is never raised otherwise' },
  },
  examples: [{ run: 'heimdall dispatch retry T-9 --budget 80000', does: 'sends T-9 again, with more to spend' }],
  errors: ['TASK_NOT_FOUND', 'TASK_FORBIDDEN', 'DISPATCH_INVALID', ...STORE],
  output: TASK,
})
export const dispatchAnswer = spec({
  names: ['heimdall dispatch answer'],
  changes: true,
  summary: 'Answer what the worker of a task asks; the task goes on where it stands',
  about:
    'A worker that cannot go on without a person says so: heimdall status shows its question. What it wants allowed is ' +
    'allowed where it runs. Answers are kept in the store, so a secret is refused.',
  args: [taskArg, { name: 'text', help: 'the answer; without one, or with -, it is read from stdin', optional: true }],
  examples: [{ run: 'heimdall dispatch answer T-9 "the second one"', does: 'is passed on to the worker of T-9' }],
  errors: ['TASK_NOT_FOUND', 'TASK_FORBIDDEN', 'DISPATCH_INVALID', ...STORE],
  output: TASK,
})
export const workerStart = spec({
  names: ['heimdall worker start'],
  changes: true,
  summary: 'Take dispatched tasks, and run each as heimdall run does',
  about:
    'The command is what a task is run with: claude, codex, or any program. Claude Code and Codex are read by their ' +
    'own streams; any other finds its brief in HEIMDALL_BRIEF_FILE and leaves its result in HEIMDALL_RESULT_FILE. ' +
    'What the worker announces is gathered: MCP servers of the host are started and pinged.',
  rest: 'COMMAND…',
  flags: {
    name: { type: 'string', value: 'NAME', help: 'name of the worker; default: that of the program' },
    slots: { type: 'integer', value: 'N', default: 1, help: 'tasks at a time' },
    runtime: {
      type: 'string',
      choices: ['claude', 'codex', 'command'],
      help: 'how the command is spoken to; default: by its name',
    },
    model: { type: 'string', value: 'MODEL', help: 'what the command runs with, if it does not say so itself' },
    tier: { type: 'string', value: 'TIER', help: 'haiku, sonnet or opus; default: by the name of the model' },
    window: { type: 'integer', value: 'TOKENS', default: 0, help: 'context window; 0 when unknown' },
    tools: { type: 'string', value: 'NAMES', help: 'capabilities; default: those of the runtime' },
    servers: {
      type: 'string',
      choices: ['claude', 'codex', 'cursor', 'gemini', 'vscode', 'none'],
      help: 'host whose MCP servers it has; default: by the runtime',
    },
    'no-worktree': { type: 'boolean', help: 'tasks that write do so in this checkout, and only while it is clean' },
    policy: { type: 'string', value: 'FILE', help: 'policy bundle for every run' },
    'socket-dir': socketDir,
    ...listenFlags,
  },
  examples: [
    {
      run: 'heimdall worker start -- claude --permission-mode acceptEdits',
      does: 'takes tasks for Claude Code, one at a time; it may edit files without asking',
    },
    {
      run: 'heimdall worker start --name checks --slots 4 -- ./run-checks.sh',
      does: 'runs a program for each task, four at a time',
    },
  ],
  errors: [
    'WORKER_RUNNING',
    'ADDRESS_REFUSED',
    'PEER_INVALID',
    'HOST_CONFIG_INVALID',
    'POLICY_INVALID',
    'POLICY_UNREADABLE',
    ...startErrors,
    ...STORE,
  ],
  output: { worker: 'name', url: 'where it takes tasks', instance_id: 'of this process' },
})
export const workerAnnounce = spec({
  names: ['heimdall worker announce'],
  changes: true,
  summary: 'What workers announce of themselves at this moment',
  args: [{ name: 'worker', help: 'name of a worker; all of them when absent', optional: true }],
  examples: [{ run: 'heimdall worker announce', does: 'asks each worker of this machine, and takes the answer in' }],
  errors: ['WORKER_NOT_FOUND', 'PEER_INVALID', ...STORE],
  output: { '[]': 'worker, speaks, announce (SESSION_ANNOUNCE), or why there is none' },
})
export const workerDrain = spec({
  names: ['heimdall worker drain'],
  changes: true,
  summary: 'Let a worker take no more tasks; what it has goes on',
  args: [{ name: 'worker', help: 'name of the worker' }],
  examples: [{ run: 'heimdall worker drain claude', does: 'claude finishes what it has' }],
  errors: ['WORKER_NOT_FOUND', ...STORE],
  output: { worker: 'name', state: 'draining' },
})
export const peersList = spec({
  names: ['heimdall peers list'],
  summary: 'Workers and orchestrators that are known, and how they are reached',
  examples: [{ run: 'heimdall peers list', does: 'lists peers of the settings and of this machine' }],
  errors: ['PEER_INVALID', ...STORE],
  output: { '[]': 'name, role, url, origin (settings or local), has_token, state and health as last announced' },
})
export const peersCheck = spec({
  names: ['heimdall peers check'],
  summary: 'Ask each peer for its card, and say what it speaks',
  args: [{ name: 'peer', help: 'name of a peer; all of them when absent', optional: true }],
  examples: [{ run: 'heimdall peers check', does: 'reaches every peer, with its token' }],
  errors: ['PEER_NOT_FOUND', 'PEER_INVALID', 'PEER_UNREACHABLE'],
  output: { '[]': 'name, url, reachable, protocol (1.0 or 0.3), extension, why' },
})

export const dispatchCommands: readonly Command[] = [
  { spec: dispatchSend, load: () => import('../commands/dispatch/send.ts') },
  { spec: dispatchServe, load: () => import('../commands/dispatch/serve.ts') },
  { spec: dispatchExplain, load: () => import('../commands/dispatch/explain.ts') },
  { spec: dispatchList, load: () => import('../commands/dispatch/list.ts') },
  { spec: dispatchShow, load: () => import('../commands/dispatch/show.ts') },
  { spec: dispatchCancel, load: () => import('../commands/dispatch/cancel.ts') },
  { spec: dispatchRetry, load: () => import('../commands/dispatch/retry.ts') },
  { spec: dispatchAnswer, load: () => import('../commands/dispatch/answer.ts') },
  { spec: workerStart, load: () => import('../commands/worker/start.ts') },
  { spec: workerAnnounce, load: () => import('../commands/worker/announce.ts') },
  { spec: workerDrain, load: () => import('../commands/worker/drain.ts') },
  { spec: peersList, load: () => import('../commands/peers/list.ts') },
  { spec: peersCheck, load: () => import('../commands/peers/check.ts') },
]
