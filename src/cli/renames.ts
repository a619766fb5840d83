// Command lines that people type from habit, and the ones that do the same here. None is an alias: each is answered with an error that names the right line.
import { quoted } from '../quoted.ts'

/** Typed words without `heimdall` to the right ones. The words that follow them go to the end, or to the `…`. */
export const RENAMES: Readonly<Record<string, string>> = {
  // Names of our own that were never released.
  'agent heartbeat': 'bb agent heartbeat',
  'agent init': 'bb-init',
  'agent release': 'claim release',
  'agent reserve': 'claim',
  'agent status': 'agent list',
  approvals: 'approve',
  'approvals allow': 'approve',
  'approvals deny': 'deny',
  'approvals list': 'approve',
  'claim heartbeat': 'heimdall-claim heartbeat',
  'claim show': 'claim list',
  'claim take': 'claim',
  dispatch: 'task',
  'dispatch answer': 'task answer',
  'dispatch cancel': 'task cancel',
  'dispatch explain': 'task explain',
  'dispatch list': 'task list',
  'dispatch retry': 'task retry',
  'dispatch send': 'task add',
  'dispatch serve': 'worker serve',
  'dispatch show': 'task show',
  'events query': 'events',
  haid: 'heimdall-haid',
  'haid reinstate': 'agent reinstate',
  'haid revoke': 'agent revoke',
  import: 'mcp import',
  later: 'snooze',
  'note inbox': 'note list',
  pin: 'mcp pins',
  'pin forget': 'mcp pins remove',
  restore: 'mcp restore',
  'run list': 'runs list',
  'run show': 'runs show',
  'run view': 'runs show',
  'runs exec': 'sub run --',
  secret: 'mcp secrets',
  secrets: 'mcp secrets',
  session: 'hm',
  'session attach': 'attach',
  'session clean': 'clean',
  'session kill': 'kill',
  'session logs': 'logs',
  'session ls': 'ls',
  'session run': 'run',
  'session send': 'send',
  shim: 'mcp shim',
  'task-result': 'heimdall-task-result',
  'worktree diff': 'diff',
  'worktree merge': 'merge',
  // Habits from other tools.
  abort: 'task cancel',
  add: 'task add',
  agents: 'ls',
  allow: 'approve',
  answer: 'next',
  audit: 'events',
  board: 'top',
  browse: 'open',
  budget: 'cost',
  capture: 'hm peek',
  'capture-pane': 'hm peek',
  changes: 'diff',
  check: 'claim check',
  claims: 'claim list',
  connect: 'attach',
  costs: 'cost',
  dashboard: 'open',
  delete: 'kill',
  describe: 'why',
  down: 'up --stop',
  exec: 'run',
  free: 'claim release',
  gc: 'clean',
  get: 'ls',
  'events -f': 'events tail --follow',
  'events --follow': 'events tail --follow',
  'get agents': 'ls',
  'get claims': 'claim list',
  'get events': 'events',
  'get runs': 'runs list',
  'get tasks': 'task list',
  'get workers': 'peers list',
  handoff: 'note send',
  history: 'runs list',
  inbox: 'note list',
  info: 'status',
  inspect: 'why',
  install: 'init',
  jobs: 'task list',
  join: 'attach',
  launch: 'run',
  list: 'ls',
  'list-sessions': 'ls',
  lock: 'claim',
  locks: 'claim list',
  log: 'logs',
  mail: 'note list',
  message: 'send … --enter',
  messages: 'note list',
  msg: 'send … --enter',
  new: 'run',
  'new-session': 'run',
  notes: 'note list',
  pending: 'status',
  pins: 'mcp pins list',
  ps: 'ls',
  prune: 'clean',
  reject: 'deny',
  release: 'claim release',
  remove: 'clean',
  reserve: 'claim',
  rm: 'clean',
  screen: 'hm peek',
  search: 'events --text',
  'send-keys': 'send',
  serve: 'up',
  server: 'up',
  sessions: 'ls',
  settings: 'config list',
  setup: 'init',
  shell: 'attach',
  spend: 'cost',
  start: 'run',
  state: 'status',
  stats: 'top',
  stop: 'kill',
  submit: 'task add',
  tail: 'logs --follow',
  tasks: 'task list',
  'attach-session': 'attach',
  'kill-session': 'kill',
  tell: 'send … --enter',
  terminate: 'kill',
  timeline: 'events',
  trace: 'runs show',
  type: 'send',
  ui: 'open',
  unlock: 'claim release',
  upgrade: 'doctor',
  usage: 'cost',
  wait: 'hm wait',
  waiting: 'status',
  web: 'open',
  who: 'why',
  workers: 'peers list',
  worktrees: 'worktree list',
  'config edit': 'config set',
  blackboard: 'fact list',
  capsules: 'capsule list',
  completions: 'completion',
  'config view': 'config list',
  diagnose: 'doctor',
  facts: 'fact list',
  health: 'doctor',
  hooks: 'hosts',
  symbols: 'symbol list',
  untrust: 'trust remove',
  'worker list': 'peers list',
}

const SEED_LAUNCHER = /^(hm|bb|bb-init|sub|heimdall-[a-z-]+)( |$)/

/** Right lines that take no further words. */
const ALONE: ReadonlySet<string> = new Set(['clean', 'open', 'status', 'top', 'up --stop'])

/** Words of tmux command lines that are written another way here. */
const TMUX = /^(new|new-session|kill-session|send-keys)$/
const TMUX_WORDS: Readonly<Record<string, readonly string[]>> = {
  '-d': ['--detach'],
  '-s': ['--agent'],
  '-t': [],
  Enter: ['--enter'],
  'C-c': ['--key', 'ctrl-c'],
}

/** Verbs that other tools use, to ours. Only one that the noun has is meant. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  check: ['lint'],
  close: ['cancel'],
  create: ['add', 'set'],
  del: ['remove'],
  delete: ['remove'],
  describe: ['show'],
  forget: ['remove'],
  get: ['show', 'list'],
  inspect: ['show'],
  new: ['add', 'set'],
  put: ['set', 'add'],
  register: ['add'],
  rerun: ['retry'],
  restart: ['retry'],
  send: ['add'],
  set: ['add'],
  stop: ['cancel'],
  unset: ['remove'],
  validate: ['lint'],
  verify: ['lint'],
  view: ['show'],
}

/**
 * The right line for words typed after `heimdall`, with the words that follow a name, or undefined. `found` is how many
 * of them name a command; `names` are the names of all commands that can be meant.
 */
export function renamed(words: readonly string[], found: number, names: readonly string[]): string | undefined {
  const [template, rest] = fromTable(words, found) ?? [undefined, words]
  const line = [...(template?.split(' ') ?? []), ...rest]
  const right = found > 0 ? undefined : withVerb(line, names)
  if (template === undefined) return right
  const name = SEED_LAUNCHER.test(template) ? template : `heimdall ${template}`
  if (right !== undefined) return right
  const at = name.indexOf(' …')
  const more = ALONE.has(template) ? [] : rest.map(quoted)
  return (at < 0 ? [name, ...more] : [name.slice(0, at), ...more, name.slice(at + 2).trim()]).join(' ')
}

function fromTable(words: readonly string[], found: number): [string, readonly string[]] | undefined {
  for (const count of [2, 1]) {
    const typed = words.slice(0, count).join(' ')
    const to = count > found && Object.hasOwn(RENAMES, typed) ? RENAMES[typed] : undefined
    const rest = words.slice(count)
    if (to !== undefined) return [to, TMUX.test(typed) ? rest.flatMap((word) => TMUX_WORDS[word] ?? [word]) : rest]
  }
  return undefined
}

/** `task create` is `task add`, and `mcp secrets set` is `mcp secrets add`. */
function withVerb(line: readonly string[], names: readonly string[]): string | undefined {
  for (const at of [2, 1]) {
    const noun = ['heimdall', ...line.slice(0, at)].join(' ')
    const verb = line[at] ?? ''
    const name = (Object.hasOwn(VERBS, verb) ? (VERBS[verb] ?? []) : [])
      .map((one) => `${noun} ${one}`)
      .find((one) => names.includes(one))
    if (name !== undefined && !names.includes(`${noun} ${verb}`))
      return [name, ...line.slice(at + 1).map(quoted)].join(' ')
  }
  return undefined
}

/**
 * Flags of other tools, to what they mean here, the likeliest first. A word in capitals is an argument: it is given
 * without a flag.
 */
export const FLAG_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  all: ['all-projects'],
  branch: ['base', 'into'],
  cwd: ['workdir'],
  dir: ['workdir', 'socket-dir'],
  directory: ['workdir'],
  file: ['out', 'brief-file'],
  filter: ['text'],
  force: ['yes'],
  format: ['json'],
  human: ['for'],
  id: ['ID', 'AGENT', 'TASK'],
  message: ['reason', 'body', 'message'],
  n: ['tail', 'limit'],
  name: ['agent', 'id', 'name', 'ID', 'AGENT'],
  output: ['json', 'out'],
  owner: ['agent'],
  path: ['scope', 'SCOPE', 'workdir'],
  reason: ['message'],
  session: ['id', 'ID', 'agent', 'AGENT'],
  t: ['ID', 'AGENT', 'agent'],
  tail: ['limit', 'tail'],
  target: ['ID', 'AGENT', 'agent'],
  title: ['subject'],
  to: ['to', 'worker', 'ID'],
  user: ['agent'],
  watch: ['follow'],
}
