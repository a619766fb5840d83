// Commands of guard.
import type { Command } from '../command.ts'

export const guardCommands: readonly Command[] = []
