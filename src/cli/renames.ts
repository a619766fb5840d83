// Command lines that people type from habit, and the ones that do the same here. None is an alias: each is answered with an error that names the right line.
import { quoted } from '../quoted.ts'

/** A right line without `heimdall`, and what people type for it. The words that follow go to its end, or to its `…`. */
const MEANT_BY: Readonly<Record<string, string>> = {
  'agent list': 'agent status',
  'agent reinstate': 'haid reinstate',
  'agent revoke': 'haid revoke',
  approve: 'allow, approvals, approvals allow, approvals list',
  attach: 'attach-session, connect, join, session attach, shell',
  'bb agent heartbeat': 'agent heartbeat',
  'bb-init': 'agent init',
  'capsule list': 'capsules',
  claim: 'agent reserve, claim take, lock, reserve',
  'claim check': 'check',
  'claim list': 'claim show, claims, get claims, locks',
  'claim release': 'agent release, free, release, unlock',
  clean: 'gc, prune, remove, rm, session clean',
  completion: 'completions',
  'config list': 'config view, settings',
  'config set': 'config edit',
  cost: 'budget, costs, spend, usage',
  deny: 'approvals deny, reject',
  diff: 'changes, worktree diff',
  doctor: 'diagnose, health, upgrade',
  events: 'audit, events query, get events, timeline',
  'events --text': 'search',
  'events tail --follow': 'events --follow, events -f',
  'fact list': 'blackboard, facts',
  'heimdall-claim heartbeat': 'claim heartbeat',
  'heimdall-haid': 'haid',
  'heimdall-task-result': 'task-result',
  hm: 'session',
  'hm peek': 'capture, capture-pane, screen',
  'hm wait': 'wait',
  hosts: 'hooks',
  init: 'install, setup',
  kill: 'delete, kill-session, session kill, stop, terminate',
  logs: 'log, session logs',
  'logs --follow': 'tail',
  ls: 'agents, get, get agents, list, list-sessions, ps, session ls, sessions',
  'mcp import': 'import',
  'mcp import --dry-run': 'mcp list, mcp status',
  'mcp pins': 'pin',
  'mcp pins list': 'pins',
  'mcp pins remove': 'pin forget',
  'mcp restore': 'restore',
  'mcp secrets': 'secret, secrets',
  'mcp shim': 'shim',
  merge: 'worktree merge',
  next: 'answer',
  'note list': 'inbox, mail, messages, note inbox, notes',
  'note send': 'handoff',
  open: 'browse, dashboard, ui, web',
  'peers list': 'get workers, worker list, workers',
  run: 'exec, launch, new, new-session, session run, start',
  'runs list': 'get runs, history, run list',
  'runs show': 'run show, run view, trace',
  send: 'send-keys, session send, type',
  'send … --enter': 'message, msg, tell',
  snooze: 'later',
  status: 'info, pending, state, waiting',
  'sub run --': 'runs exec',
  'symbol get --reverse': 'symbol reverse',
  'symbol list': 'symbols',
  task: 'dispatch',
  'task add': 'add, dispatch send, submit',
  'task answer': 'dispatch answer',
  'task cancel': 'abort, dispatch cancel',
  'task explain': 'dispatch explain',
  'task list': 'dispatch list, get tasks, jobs, tasks',
  'task retry': 'dispatch retry',
  'task show': 'dispatch show',
  top: 'board, stats',
  'trust remove': 'untrust',
  up: 'serve, server',
  'up --stop': 'down',
  why: 'describe, inspect, who',
  'worker serve': 'dispatch serve',
  'worktree list': 'worktrees',
}

/** Typed words to the right ones. */
export const RENAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(MEANT_BY).flatMap(([right, typed]) => typed.split(', ').map((one): [string, string] => [one, right])),
)

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
    const to = count > found ? RENAMES.get(typed) : undefined
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
