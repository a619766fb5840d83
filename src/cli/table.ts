// All commands of all launchers, in the order of help.
import type { Command } from './command.ts'
import { briefingCommands } from './table/briefing.ts'
import { coordinationCommands } from './table/coordination.ts'
import { coreCommands } from './table/core.ts'
import { dispatchCommands } from './table/dispatch.ts'
import { eventsCommands } from './table/events.ts'
import { fleetCommands } from './table/fleet.ts'
import { guardCommands } from './table/guard.ts'
import { hooksCommands } from './table/hooks.ts'
import { hubCommands } from './table/hub.ts'
import { hostsCommands } from './table/hosts.ts'
import { pinCommands } from './table/pin.ts'
import { policyCommands } from './table/policy.ts'
import { secretsCommands } from './table/secrets.ts'
import { runsCommands } from './table/runs.ts'
import { sessionCommands } from './table/session.ts'
import { spineCommands } from './table/spine.ts'
import { worktreeCommands } from './table/worktree.ts'

export const COMMANDS: readonly Command[] = [
  ...spineCommands,
  ...hubCommands,
  ...sessionCommands,
  ...briefingCommands,
  ...coordinationCommands,
  ...dispatchCommands,
  ...guardCommands,
  ...worktreeCommands,
  ...fleetCommands,
  ...policyCommands,
  ...pinCommands,
  ...secretsCommands,
  ...hooksCommands,
  ...hostsCommands,
  ...runsCommands,
  ...eventsCommands,
  ...coreCommands,
]

/** What each launcher and each group of commands is about, in one line. */
export const ABOUT: Readonly<Record<string, string>> = {
  heimdall: 'Heimdall watches over a team of coding agents at work on one repository.',
  'heimdall session': 'supervised terminals',
  'heimdall protocol': 'the planning folder and its log',
  'heimdall message': 'typed messages between agents',
  'heimdall symbol': 'short ids for paths and criteria',
  'heimdall capsule': 'what finished work leaves behind',
  'heimdall brief': 'briefs by reference',
  'heimdall fact': 'the blackboard of shared facts',
  'heimdall tokens': 'the token ledger',
  'heimdall gate': 'reports of gates as messages',
  'heimdall task-result': 'results of tasks as messages',
  'heimdall agent': 'who is who, and who is alive',
  'heimdall note': 'handoffs and other notes between agents',
  'heimdall claim': 'who holds which paths',
  'heimdall task': 'who works on what',
  'heimdall haid': 'identities across machines',
  'heimdall guard': 'claims checked at the commit',
  'heimdall worktree': 'a checkout for each agent, and its work brought back',
  'heimdall fleet': 'one watch over several machines',
  'heimdall dispatch': 'tasks for workers that can do them',
  'heimdall worker': 'an agent that takes dispatched tasks',
  'heimdall peers': 'who tasks are sent to, and who may send',
  'heimdall policy': 'rules for tool calls',
  'heimdall approvals': 'calls that wait for a person',
  'heimdall pin': 'tools that servers may not change unseen',
  'heimdall secrets': 'values that servers get and agents never see',
  'heimdall runs': 'what agents did, run by run',
  'heimdall events': 'calls and other events of all runs',
  'heimdall config': 'settings',
  hm: 'Supervised terminal sessions: run a command in a pty that others can watch, type into and end.',
  bb: 'Agents, reservations and notes in one repository.',
  'bb agent': 'agents, reservations and notes',
  'heimdall-protocol': 'The token-frugal briefing protocol.',
  'heimdall-resolve': 'The symbol table.',
  'heimdall-capsule': 'Context capsules.',
  'heimdall-brief': 'Briefs by reference.',
  'heimdall-blackboard': 'The blackboard of shared facts.',
  'heimdall-ledger': 'The token ledger.',
  'heimdall-gate': 'Reports of gates as messages.',
  'heimdall-haid': 'Identities across machines.',
  'heimdall-claim': 'Who holds which paths.',
  sub: 'Policy in the path of tool calls.',
  'sub policy': 'rules for tool calls',
  'sub approvals': 'calls that wait for a person',
  'sub secrets': 'values that servers get and agents never see',
}
