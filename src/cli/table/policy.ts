// Commands of policy.
import type { Command } from '../command.ts'

export const policyCommands: readonly Command[] = []
