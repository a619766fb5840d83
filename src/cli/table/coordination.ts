// Commands of coordination.
import type { Command } from '../command.ts'

export const coordinationCommands: readonly Command[] = []
