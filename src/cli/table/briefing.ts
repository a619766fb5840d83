// Commands of briefing.
import type { Command } from '../command.ts'

export const briefingCommands: readonly Command[] = []
