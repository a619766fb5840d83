// The flag that most commands of coordination have.
import type { FlagSpec } from './command.ts'

export const agentFlag = {
  value: 'ID',
  help: 'agent id or HAID to act as, for scripts without an identity; default your own (heimdall whoami)',
} as const satisfies FlagSpec
