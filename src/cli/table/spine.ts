// Commands of the spine: a run, from one command.
import { type Command, spec } from '../command.ts'
import { socketDir, startErrors, startFlags } from './start-flags.ts'

export const run = spec({
  names: ['heimdall run'],
  changes: true,
  summary: 'Run an agent: identity, terminal, heartbeat, policy, claims and record in one',
  about:
    'Registers or adopts the agent, opens its run, starts the command in a supervised terminal and attaches to it. ' +
    'Whatever way it ends, its claims are released and its run is closed. The run outlives this terminal: detach with ' +
    'Ctrl-\\ and come back with hm attach. Without a terminal on stdin and stdout, output is passed through and the ' +
    'exit code is the command’s. hm run is the same terminal with nothing of this around it.',
  rest: 'COMMAND…',
  flags: {
    agent: { type: 'string', value: 'NAME', help: 'name of the agent; made up when absent' },
    role: { type: 'string', value: 'ROLE', default: 'agent', help: 'role of an agent that is new' },
    id: {
      type: 'string',
      value: 'ID',
      help: 'id of the session; default: the agent’s name, with four digits of the project behind it if taken',
    },
    policy: { type: 'string', value: 'FILE', help: 'policy bundle for every shim of the run' },
    task: { type: 'string', value: 'TASK', help: 'what the run is for; the agent has it in progress from the start' },
    worktree: {
      type: 'boolean',
      help: 'in a git worktree and on a branch of the agent’s own; its earlier one if it has one',
    },
    base: { type: 'string', value: 'REV', help: 'with --worktree: where the branch begins; default HEAD' },
    copy: {
      type: 'string',
      value: 'PATH',
      multiple: true,
      help: 'with --worktree: bring along a file or folder that git does not have, such as .env',
    },
    'no-record': { type: 'boolean', help: 'do not record the terminal' },
    ...startFlags,
  },
  examples: [
    { run: 'heimdall run -- claude', does: 'runs Claude Code under a name that is made up' },
    {
      run: 'heimdall run --agent amber-otter --policy policy.yaml -- claude',
      does: 'runs it as amber-otter; the policy governs its MCP calls that go through the shim',
    },
    {
      run: 'heimdall run --agent amber-otter --worktree --copy .env -- claude',
      does: 'runs it in a worktree of its own; heimdall worktree merge amber-otter brings the work back',
    },
    {
      run: 'heimdall run --agent nightly --detach --wait -- ./nightly.sh',
      does: 'waits for the end, and ends with its code',
    },
  ],
  errors: [
    ...startErrors,
    'AGENT_AT_WORK',
    'IDENTITY_BORROWED',
    'ADOPTION_REJECTED',
    'AGENT_REVOKED',
    'DUPLICATE_AGENT_ID',
    'INVALID_AGENT_ID',
    'INVALID_ROLE',
    'POLICY_INVALID',
    'POLICY_UNREADABLE',
    'STORE_BUSY',
    'STORE_FULL',
    'WORKTREE_NO_REPOSITORY',
    'WORKTREE_NO_BASE',
    'WORKTREE_PLACE_UNFIT',
    'WORKTREE_HALF_MADE',
    'GIT_FAILED',
    'PATH_OUTSIDE_ROOT',
  ],
  output: {
    run_id: 'id of the run',
    agent_id: 'name of the agent',
    haid: 'its HAID',
    project: 'root of the project; with --worktree, of the worktree',
    branch: 'with --worktree, the branch that was made for the agent',
    id: 'id of the session',
    socket: 'path of its socket',
    pid: 'process of the command',
    supervisor_pid: 'process of the session',
    record: 'path of the run’s record',
    exit_code: 'exit code of the command, null while it runs',
  },
})

const FLEET_OUTPUT = {
  at: 'when it was looked at',
  project: '`root` and `name`',
  agents: 'each agent: state, since when, on what evidence; task, branch, claims, place in queues, calls, waits',
  waits:
    'everything that waits for a person, oldest first: id, kind, who, since when, what is asked, evidence, answers',
  collisions: 'who wants what another holds, with attempts and place in the queue',
  counts: 'agents by state, and `waiting`: waits that count now',
  calls: 'tool calls of the runs that go on',
  cost: 'what models of the runs that go on have spent, from transcripts of hosts; null where none told',
  tokens: 'from the token ledger: in all, cached, measured, declared; null where it has none',
  since: 'when the first of the runs that go on began',
  policies:
    'policies of the runs that go on; each governs MCP calls that go through the shim, and no tool of a host itself',
  missing: 'what could not be read, with its code; the rest stands',
} as const

export const status = spec({
  names: ['heimdall status'],
  summary: 'Who waits for you, who works, who is stuck, what collides, and what it cost',
  about:
    'Looks at the project that it is called in and changes nothing in it. On a terminal it is drawn for people; in a ' +
    'pipe, or with --plain, it is tab-separated: what, seconds, who, kind, words.',
  flags: {
    quiet: { type: 'boolean', short: 'q', help: 'print one number: how many wait for you' },
    plain: { type: 'boolean', help: 'columns by tabs, no colour, no glyphs' },
    follow: { type: 'boolean', short: 'f', help: 'print it again whenever it changes; with --json one line each' },
    'socket-dir': socketDir,
  },
  examples: [
    { run: 'heimdall status', does: 'shows the fleet of this project' },
    { run: 'heimdall status -q', does: 'prints how many wait, for a prompt or a status line' },
    { run: "heimdall status --json | jq '.data.waits'", does: 'lists what waits, for a program' },
  ],
  errors: ['CONFIG_INVALID', 'SESSION_DIR_UNSAFE', 'FOLDER_GONE'],
  output: FLEET_OUTPUT,
})

/** Explained by `?` in `heimdall top`, and by its help. */
export const TOP_KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['j k g G', 'move, as the arrow keys, Home and End do'],
  ['1-9', 'answer what the selected agent asks, with the choice of that number'],
  ['t Enter', 'attach to its terminal; Ctrl-\\ comes back'],
  ['z', 'snooze its wait for 15 minutes'],
  ['p w', 'show its screen; show who holds what it claims'],
  ['c d', 'list all claims; list decisions on its calls'],
  ['/ s', 'filter by words; sort by who needs you, name or cost'],
  ['? q', 'explain the keys; quit'],
]

export const top = spec({
  names: ['heimdall top'],
  summary: 'The fleet, live in this terminal, and waits answered from here',
  about:
    'Agents that need you come first, with what they ask and the keys that answer it. Without a terminal it prints one ' +
    `frame. Keys: ${TOP_KEYS.map(([keys, does]) => `${keys}: ${does}`).join('. ')}.`,
  flags: {
    once: { type: 'boolean', help: 'print one frame and end' },
    'socket-dir': socketDir,
  },
  examples: [
    { run: 'heimdall top', does: 'shows the fleet of this project until you leave' },
    { run: 'heimdall top --once', does: 'prints it as it is now' },
  ],
  errors: ['CONFIG_INVALID', 'SESSION_DIR_UNSAFE', 'FOLDER_GONE'],
  output: FLEET_OUTPUT,
})

export const next = spec({
  names: ['heimdall next'],
  summary: 'Go from one wait to the next, the longest first',
  about:
    'Attaches to the agent that has waited longest. When you have answered and the agent goes on, or when you detach ' +
    '(Ctrl-\\), the next one follows; what is answered by a command is asked for here. Without a terminal it prints ' +
    'the oldest wait and attaches to nobody.',
  flags: { 'socket-dir': socketDir },
  examples: [
    { run: 'heimdall next', does: 'takes you through everybody who waits' },
    { run: 'heimdall next --json', does: 'prints what has waited longest, for a program' },
  ],
  errors: ['CONFIG_INVALID', 'SESSION_DIR_UNSAFE', 'FOLDER_GONE', 'PERSON_REQUIRED'],
  output: {
    wait: 'what has waited longest, as in heimdall status; null when nobody waits',
    waiting: 'how many wait',
    visited: 'on a terminal, ids of the waits that you were taken to',
  },
})

export const later = spec({
  names: ['heimdall later'],
  changes: true,
  summary: 'Put a wait off; it comes back by itself',
  args: [{ name: 'wait', help: 'id of a wait, or the agent whose waits are meant' }],
  flags: {
    for: { type: 'duration', value: 'TIME', default: 15 * 60_000, help: 'how long; default 15m' },
    back: { type: 'boolean', help: 'it counts again at once' },
    'socket-dir': socketDir,
  },
  examples: [
    { run: 'heimdall later amber-otter', does: 'counts what amber-otter asks again in a quarter of an hour' },
    { run: 'heimdall later msg_01 --for 2h', does: 'puts one wait off for two hours' },
  ],
  errors: [
    'WAIT_NOT_FOUND',
    'PERSON_REQUIRED',
    'CONFIG_INVALID',
    'SESSION_DIR_UNSAFE',
    'FOLDER_GONE',
    'STORE_BUSY',
    'STORE_FULL',
  ],
  output: { waits: 'ids of what was put off', later_until: 'when it comes back; null with --back' },
})

export const spineCommands: readonly Command[] = [
  { spec: run, load: () => import('../commands/run.ts') },
  { spec: status, load: () => import('../commands/status.ts') },
  { spec: top, load: () => import('../commands/top/top.ts') },
  { spec: next, load: () => import('../commands/next.ts') },
  { spec: later, load: () => import('../commands/later.ts') },
]
