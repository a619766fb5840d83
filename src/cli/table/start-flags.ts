// How a command is started in a terminal, and shown: flags of every command that does.
import { CLASSIFIERS } from '../../config-values.ts'
import type { ErrorCode } from '../../errors.ts'
import type { FlagSpec } from '../command.ts'

export const socketDir = {
  type: 'string',
  value: 'DIR',
  help: 'folder of session sockets; default ~/.local/share/heimdall/sessions',
} as const satisfies FlagSpec

export const startFlags = {
  workdir: { type: 'string', value: 'DIR', default: '.', help: 'working folder of the command' },
  'socket-dir': socketDir,
  cols: { type: 'integer', value: 'N', help: 'width; default: the terminal’s, or 220' },
  rows: { type: 'integer', value: 'N', help: 'height; default: the terminal’s, or 50' },
  'pin-size': { type: 'boolean', help: 'no viewer changes the size' },
  detach: { type: 'boolean', short: 'd', help: 'return as soon as the session answers' },
  wait: { type: 'boolean', help: 'with --detach: stay until the command ends, and end with its exit code' },
  inline: { type: 'boolean', help: 'attach without the alternate screen and the status line' },
  'log-file': { type: 'string', value: 'FILE', help: 'log of the supervisor; /dev/null for none' },
  'log-level': { type: 'string', choices: ['error', 'warn', 'info', 'debug'], help: 'how much is logged' },
  'log-filter': { type: 'string', value: 'TOPIC', help: 'only log lines whose topic starts with this' },
  'scrollback-bytes': { type: 'integer', value: 'N', help: 'output kept for replay' },
  classifier: { type: 'string', choices: CLASSIFIERS, help: 'how activity is read from output' },
  'idle-threshold-ms': { type: 'integer', value: 'MS', help: 'silence after which the session is idle' },
  'debounce-ms': { type: 'integer', value: 'MS', help: 'how long a new state must last to count' },
} as const satisfies Readonly<Record<string, FlagSpec>>

export const startErrors = [
  'ID_INVALID',
  'SESSION_OPTIONS_INVALID',
  'SESSION_ID_IN_USE',
  'SESSION_DIR_UNSAFE',
  'SESSION_PATH_TOO_LONG',
  'SESSION_COMMAND_NOT_FOUND',
  'SESSION_START_FAILED',
  'SESSION_PTY_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
