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
]
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

/** `heimdall shim` is started once for every server of every agent, and asks for one table only. */
export function commandsOf(launcher: string, words: readonly string[] = []): Promise<readonly Command[]> {
  if (words[0] === 'shim' && (launcher === 'heimdall' || launcher === 'sub')) return policy()
  return (TABLE_OF.get(launcher) ?? all)()
}
