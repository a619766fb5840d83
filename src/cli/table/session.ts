// Commands of session.
import type { Command } from '../command.ts'

export const sessionCommands: readonly Command[] = []
