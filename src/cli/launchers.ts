// Which table a launcher's commands are in. A launcher of a contract loads that one; `heimdall` and unknown ones load all.
import type { Command } from './command.ts'

type Load = () => Promise<readonly Command[]>

const briefing: Load = async () => (await import('./table/briefing.ts')).briefingCommands
const coordination: Load = async () => (await import('./table/coordination.ts')).coordinationCommands
const session: Load = async () => (await import('./table/session.ts')).sessionCommands
const policy: Load = async () => (await import('./table/policy.ts')).policyCommands
const governance: Load = async () => [
  ...(await policy()),
  ...(await import('./table/secrets.ts')).secretsCommands,
  ...(await import('./table/hosts.ts')).hostsCommands,
  ...(await import('./table/runs.ts')).runsCommands,
  ...(await import('./table/events.ts')).eventsCommands,
  ...(await import('./table/core.ts')).coreCommands,
]
const spine: Load = async () => (await import('./table/spine.ts')).spineCommands
const all: Load = async () => (await import('./table.ts')).COMMANDS

/** A test holds this against the tables: reading all of them takes longer than most commands do. */
export const TABLE_OF: ReadonlyMap<string, Load> = new Map([
  ['heimdall-blackboard', briefing],
  ['heimdall-brief', briefing],
  ['heimdall-capsule', briefing],
  ['heimdall-gate', briefing],
  ['heimdall-ledger', briefing],
  ['heimdall-protocol', briefing],
  ['heimdall-resolve', briefing],
  ['heimdall-task-result', briefing],
  ['heimdall-validate', briefing],
  ['heimdall-claim', coordination],
  ['heimdall-haid', coordination],
  ['bb', coordination],
  ['bb-init', coordination],
  ['hm', session],
  ['sub', governance],
])

/** `heimdall shim` is started once for every server of every agent, `heimdall run` for every agent, `heimdall status` with every prompt: they ask for one table only. */
export function commandsOf(launcher: string, words: readonly string[] = []): Promise<readonly Command[]> {
  if (['run', 'status', 'next'].includes(words[0] ?? '') && launcher === 'heimdall') return spine()
  if (words[0] === 'shim' && (launcher === 'heimdall' || launcher === 'sub')) return policy()
  return (TABLE_OF.get(launcher) ?? all)()
}
