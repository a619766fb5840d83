// The index of commands: which file declares the commands of a word or a launcher, and how `heimdall --help` groups them.
import type { Command } from './command.ts'

/** Files in `commands/`, loaded when a command line names one of their words. */
interface Noun {
  /** First words after `heimdall`. */
  readonly words: readonly string[]
  /** Launchers of the seed contracts that have commands in the file. */
  readonly launchers?: readonly string[]
  /** First words after `sub`: a shim is started for every MCP server of every agent, and must not hold code of other commands. */
  readonly sub?: readonly string[]
  readonly load: () => Promise<{ readonly commands: readonly Command[] }>
}

export const NOUNS: readonly Noun[] = [
  { words: ['run'], load: () => import('./commands/run.ts') },
  { words: ['status', 'next', 'snooze'], load: () => import('./commands/status.ts') },
  { words: ['top'], load: () => import('./commands/top.ts') },
  { words: ['up', 'open', 'demo'], load: () => import('./commands/hub.ts') },
  {
    words: ['ls', 'attach', 'send', 'logs', 'kill', 'clean'],
    launchers: ['hm'],
    load: () => import('./commands/session.ts'),
  },
  { words: [], launchers: ['hm'], load: () => import('./commands/hm.ts') },
  {
    words: ['symbol', 'fact'],
    launchers: ['heimdall-resolve', 'heimdall-blackboard', 'heimdall-protocol'],
    load: () => import('./commands/symbols.ts'),
  },
  {
    words: ['capsule'],
    launchers: ['heimdall-capsule', 'heimdall-protocol', 'heimdall-task-result'],
    load: () => import('./commands/capsules.ts'),
  },
  {
    words: ['protocol', 'message', 'brief', 'gate'],
    launchers: ['heimdall-brief', 'heimdall-gate', 'heimdall-protocol', 'heimdall-validate'],
    load: () => import('./commands/briefing.ts'),
  },
  {
    words: ['tokens'],
    launchers: ['heimdall-ledger', 'heimdall-protocol'],
    load: () => import('./commands/tokens.ts'),
  },
  { words: ['claim'], launchers: ['heimdall-claim'], load: () => import('./commands/claim.ts') },
  { words: ['agent', 'whoami'], load: () => import('./commands/agent.ts') },
  { words: ['note'], load: () => import('./commands/note.ts') },
  { words: [], launchers: ['bb', 'bb-init'], load: () => import('./commands/bb.ts') },
  { words: [], launchers: ['heimdall-haid'], load: () => import('./commands/haid.ts') },
  { words: ['why'], load: () => import('./commands/why.ts') },
  { words: ['watch'], load: () => import('./commands/watch.ts') },
  { words: ['task'], load: () => import('./commands/task.ts') },
  { words: ['task'], load: () => import('./commands/task-review.ts') },
  { words: ['worker'], load: () => import('./commands/worker.ts') },
  { words: ['peers'], load: () => import('./commands/peers.ts') },
  { words: ['guard'], load: () => import('./commands/guard.ts') },
  { words: ['worktree', 'diff', 'merge'], load: () => import('./commands/worktree.ts') },
  { words: ['fleet'], load: () => import('./commands/fleet.ts') },
  {
    words: ['policy'],
    launchers: ['sub'],
    sub: ['policy'],
    load: () => import('./commands/policy.ts'),
  },
  {
    words: ['approve', 'deny'],
    launchers: ['sub'],
    sub: ['approvals'],
    load: () => import('./commands/approve.ts'),
  },
  {
    words: ['mcp'],
    launchers: ['sub'],
    sub: ['shim', 'import', 'restore', 'secrets'],
    load: () => import('./commands/mcp.ts'),
  },
  { words: ['init', 'uninstall', 'hosts', 'hook'], load: () => import('./commands/init.ts') },
  {
    words: ['runs'],
    launchers: ['sub'],
    sub: ['run'],
    load: () => import('./commands/runs.ts'),
  },
  { words: ['cost'], load: () => import('./commands/cost.ts') },
  {
    words: ['events'],
    launchers: ['sub'],
    sub: ['query', 'tail'],
    load: () => import('./commands/events.ts'),
  },
  { words: ['help'], load: () => import('./commands/help.ts') },
  {
    words: ['doctor'],
    launchers: ['sub'],
    sub: ['doctor'],
    load: () => import('./commands/doctor.ts'),
  },
  { words: ['config', 'trust'], load: () => import('./commands/config.ts') },
  {
    words: ['completion', 'man', 'hash', 'version'],
    load: () => import('./commands/tools.ts'),
  },
]

/** The rows of `heimdall --help`, in its order. Words that are not here are shown by `heimdall help --all`. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Agents: ['run', 'ls', 'attach', 'send', 'logs', 'kill', 'clean', 'diff', 'merge', 'worktree'],
  Attention: ['status', 'next', 'top', 'up', 'open', 'approve', 'deny', 'snooze'],
  Work: ['task', 'worker', 'claim', 'why', 'note', 'agent'],
  Rules: ['policy', 'mcp'],
  History: ['runs', 'events', 'cost'],
  Setup: ['init', 'uninstall', 'hosts', 'doctor', 'config', 'trust', 'fleet', 'completion'],
}

/** One line for each launcher, and for each word that has several commands. */
export const ABOUT: Readonly<Record<string, string>> = {
  heimdall: 'Heimdall watches over a team of coding agents at work on one repository.',
  'heimdall agent': 'Show, register and revoke agents',
  'heimdall brief': 'Build briefs for tasks, by reference',
  'heimdall capsule': 'Write and read summaries of finished work',
  'heimdall claim': 'Claim paths, and see who holds them',
  'heimdall config': 'Show and change settings',
  'heimdall trust': "Trust the project's heimdall.toml",
  'heimdall events': 'Search the tool calls and other events of runs',
  'heimdall fact': 'Read and write shared facts (the blackboard)',
  'heimdall fleet': 'Share one coordination log between machines',
  'heimdall gate': 'Turn gate reports into messages',
  'heimdall guard': 'Check claims at each git commit',
  'heimdall mcp': 'Put MCP servers behind the shim; pins and secrets',
  'heimdall mcp pins': 'Approve changed tool definitions of MCP servers',
  'heimdall mcp secrets': 'Store values that servers receive and agents never see',
  'heimdall message': 'Validate messages between agents',
  'heimdall note': 'Send notes and handoffs between agents',
  'heimdall peers': 'Show workers and orchestrators, and check their connection',
  'heimdall policy': 'Write, test and explain rules for tool calls',
  'heimdall protocol': 'Set up the planning folder, show its log',
  'heimdall runs': 'Show what agents did, run by run',
  'heimdall symbol': 'Give paths and criteria short ids',
  'heimdall task': 'Add tasks for workers, and follow them',
  'heimdall tokens': 'Measure the tokens that briefs save',
  'heimdall worker': 'Start and stop workers that run tasks',
  'heimdall worktree': 'List and remove the worktrees of agents',
  hm: 'Supervised terminal sessions: run a command in a pty that others can watch, type into and end.',
  bb: 'Agents, reservations and notes in one repository.',
  'bb agent': 'Agents, reservations and notes',
  'heimdall-protocol': 'The token-frugal briefing protocol.',
  'heimdall-resolve': 'The symbol table.',
  'heimdall-capsule': 'Context capsules.',
  'heimdall-brief': 'Briefs by reference.',
  'heimdall-blackboard': 'The blackboard of shared facts.',
  'heimdall-ledger': 'The token ledger.',
  'heimdall-gate': 'Gate reports as messages.',
  'heimdall-haid': 'Identities across machines.',
  'heimdall-claim': 'Who holds which paths.',
  sub: 'Policy in the path of tool calls.',
  'sub policy': 'Rules for tool calls',
  'sub approvals': 'Calls that wait for a human',
  'sub secrets': 'Values that servers receive and agents never see',
}

/** The commands that a command line can mean. An unknown word loads all of the launcher's commands, for suggestions. */
export async function commandsFor(launcher: string, word: string | undefined): Promise<readonly Command[]> {
  const all = launcher === 'heimdall' ? NOUNS : NOUNS.filter(({ launchers }) => launchers?.includes(launcher))
  const own = NOUNS.filter(({ words, sub }) => {
    const known = launcher === 'heimdall' ? words : launcher === 'sub' ? sub : undefined
    return word !== undefined && known?.includes(word)
  })
  return await loadAll(own.length > 0 ? own : all)
}

export const allCommands = (): Promise<readonly Command[]> => loadAll(NOUNS)

async function loadAll(nouns: readonly Noun[]): Promise<readonly Command[]> {
  return (await Promise.all(nouns.map(({ load }) => load()))).flatMap(({ commands }) => commands)
}
