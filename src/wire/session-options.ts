// What a session is started with, checked once. Pure.
import { isAbsolute } from 'node:path'
import type { EnvEntry } from '../config-lists.ts'
import { CLASSIFIERS, type ClassifierChoice, DEFAULT_CLASSIFIER } from '../config-values.ts'
import { HeimdallError } from '../errors.ts'
import { parseId, printable } from '../ids.ts'
import {
  KILL_GRACE_MS,
  SCROLLBACK_BYTES_MAX,
  SUBSCRIBER_STALL_MS,
  TERMINAL_CELLS_MAX,
  TERMINAL_SIDE_MAX,
} from '../limits.ts'
import { type TerminalColors, isColor } from './payloads.ts'

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface SessionOptions {
  readonly id: string
  /** Absolute. Made with mode 0700 when it is not there. */
  readonly socketDir: string
  /** Program and arguments; at least the program. */
  readonly command: readonly string[]
  /** What is shown and kept of the command, where that is not for everybody; `null` for all of it. */
  readonly shownCommand: readonly string[] | null
  /** Absolute working folder of the child. */
  readonly cwd: string
  /** Added to the environment that the supervisor itself was given. */
  readonly env: readonly EnvEntry[]
  readonly cols: number
  readonly rows: number
  /** False for input from a pipe: the terminal does not print it a second time. */
  readonly echo: boolean
  /** No RESIZE changes the size. */
  readonly pinnedSize: boolean
  readonly scrollbackBytes: number
  readonly classifier: ClassifierChoice
  /** Signals go to the child's process group; otherwise to the child alone. */
  readonly killProcessGroup: boolean
  readonly sessionEnvVar: string
  /** `null` is `<socketDir>/<id>.log`; `/dev/null` is none. */
  readonly logFile: string | null
  readonly logLevel: LogLevel
  /** Only lines whose topic starts with this. */
  readonly logFilter: string | null
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number
  /** How long a client that does not read may hold up the child. */
  readonly stallMs: number
  /** Of the terminal that the session is started from; `null` where nobody knows. */
  readonly colors: TerminalColors | null
  /** asciicast v2 is written here while the session runs. */
  readonly recordPath: string | null
  /** The recording ends when it has this many bytes; `null` for no bound. */
  readonly recordBytesMax: number | null
  /** Command line of the watcher, which follows the session from outside: started when none runs. Null: nothing follows it. */
  readonly watcher: readonly string[] | null
}

/** What must be said; the rest has a default. */
export type SessionRequest = Pick<SessionOptions, 'id' | 'socketDir' | 'command' | 'cwd'> & Partial<SessionOptions>

export const SESSION_DEFAULTS = {
  shownCommand: null,
  env: [],
  cols: 220,
  rows: 50,
  echo: true,
  pinnedSize: false,
  scrollbackBytes: 65_536,
  classifier: DEFAULT_CLASSIFIER,
  killProcessGroup: true,
  sessionEnvVar: 'HEIMDALL_SESSION_ID',
  logFile: null,
  logLevel: 'info',
  logFilter: null,
  graceMs: KILL_GRACE_MS,
  stallMs: SUBSCRIBER_STALL_MS,
  colors: null,
  recordPath: null,
  recordBytesMax: null,
  watcher: null,
} as const satisfies Partial<SessionOptions>

/** Fills in the defaults and refuses what cannot work, before any process is started. */
export function resolveOptions(request: SessionRequest): SessionOptions {
  const options: SessionOptions = { ...SESSION_DEFAULTS, ...request }
  parseId('session id', options.id)
  check(isAbsolute(options.socketDir), `socketDir ${printable(options.socketDir)} is not an absolute path`)
  check(isAbsolute(options.cwd), `cwd ${printable(options.cwd)} is not an absolute path`)
  check((options.command[0] ?? '') !== '', 'the command is empty')
  check(!options.command.some((word) => word.includes('\0')), 'the command holds a zero byte')
  check(isSize(options.cols, options.rows), `size ${options.cols}x${options.rows} is outside ${SIZE_RULE}`)
  check(isCount(options.scrollbackBytes, SCROLLBACK_BYTES_MAX), `scrollbackBytes must be 0 to ${SCROLLBACK_BYTES_MAX}`)
  check(isCount(options.graceMs, 3_600_000), 'graceMs must be 0 to 3600000')
  check(isCount(options.stallMs, 60_000), 'stallMs must be 0 to 60000')
  check(
    options.colors === null || [options.colors.foreground, options.colors.background].every(isColor),
    'colors must be #rrggbb',
  )
  check(options.recordBytesMax === null || options.recordBytesMax > 0, 'recordBytesMax must be more than 0')
  check(options.watcher === null || (options.watcher[0] ?? '') !== '', 'the command of the watcher is empty')
  check(LOG_LEVELS.includes(options.logLevel), `log level must be one of ${LOG_LEVELS.join(', ')}`)
  check(CLASSIFIERS.includes(options.classifier.name), `classifier must be one of ${CLASSIFIERS.join(', ')}`)
  for (const { name, value } of [{ name: options.sessionEnvVar, value: '' }, ...options.env])
    check(/^[^=\0]+$/.test(name) && !value.includes('\0'), `${printable(name)} is not a name for a variable`)
  return options
}

const SIZE_RULE = `1x1 to ${TERMINAL_SIDE_MAX}x${TERMINAL_SIDE_MAX} with at most ${TERMINAL_CELLS_MAX} cells`

/** Zero is refused as well as sizes that no screen has: a 65535x65535 emulator would need tens of gigabytes. */
export function isSize(cols: number, rows: number): boolean {
  return (
    [cols, rows].every((n) => Number.isInteger(n) && n >= 1 && n <= TERMINAL_SIDE_MAX) &&
    cols * rows <= TERMINAL_CELLS_MAX
  )
}

const isCount = (value: number, max: number): boolean => Number.isInteger(value) && value >= 0 && value <= max

function check(holds: boolean, problem: string): void {
  if (!holds) throw new HeimdallError('SESSION_OPTIONS_INVALID', problem)
}

export function isRequest(value: unknown): value is SessionRequest {
  if (typeof value !== 'object' || value === null) return false
  const { id, socketDir, command, cwd } = value as Partial<Record<keyof SessionOptions, unknown>>
  return (
    [id, socketDir, cwd].every((text) => typeof text === 'string') &&
    Array.isArray(command) &&
    command.every((word) => typeof word === 'string')
  )
}
