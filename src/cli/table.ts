// All commands of all launchers, in the order of help.
import type { Command } from './command.ts'
import { briefingCommands } from './table/briefing.ts'
import { coordinationCommands } from './table/coordination.ts'
import { coreCommands } from './table/core.ts'
import { guardCommands } from './table/guard.ts'
import { policyCommands } from './table/policy.ts'
import { sessionCommands } from './table/session.ts'

export const COMMANDS: readonly Command[] = [
  ...sessionCommands,
  ...briefingCommands,
  ...coordinationCommands,
  ...guardCommands,
  ...policyCommands,
  ...coreCommands,
]

/** One line for each launcher, first in its help. */
export const ABOUT: Readonly<Record<string, string>> = {
  heimdall: 'Heimdall watches over a team of coding agents at work on one repository.',
  hm: 'Supervised terminal sessions: run a command in a pty that others can watch, type into and end.',
}
