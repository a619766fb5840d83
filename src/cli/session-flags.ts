// What commands about sessions share: the folder of sockets, how a command is started in a terminal, and the session that a command line names.
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, EnvEntry } from '../config.ts'
import { type ClassifierChoice, CLASSIFIERS, DEFAULT_CLASSIFIER } from '../config-values.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import { homeDir, runsDirOf, sessionsDir } from '../paths.ts'
import { checkSessionDirIfThere } from '../session-folder.ts'
import { KEY_VARIABLE } from '../session-variables.ts'
import type { Located, LookupPlace } from '../sessions/locate.ts'
import { listSessions } from '../sessions/session-files.ts'
import { onDisk } from '../storage/faults.ts'
import { terminalSize } from '../user-terminal.ts'
import { type LogLevel, SESSION_DEFAULTS, type SessionOptions } from '../wire/session-options.ts'
import type { CommandSpec, Context, FlagSpec, InputOf } from './command.ts'
import { usageError } from './usage-error.ts'

export const socketDir = {
  value: 'DIR',
  help: 'folder of session sockets; default ~/.local/share/heimdall/sessions',
} as const satisfies FlagSpec

export const host = {
  value: 'HOST',
  help: 'a machine of your ssh configuration; also accepted before the command',
} as const satisfies FlagSpec

export const sessionId = { name: 'id', help: 'id of the session, or name of its agent' } as const

export const startFlags = {
  workdir: { value: 'DIR', default: '.', help: 'working folder of the command' },
  'socket-dir': socketDir,
  cols: { type: 'integer', value: 'N', help: 'width; default: the terminal’s, or 220' },
  rows: { type: 'integer', value: 'N', help: 'height; default: the terminal’s, or 50' },
  'pin-size': { help: 'viewers do not change the size' },
  detach: { short: 'd', help: 'return as soon as the session has started' },
  wait: { help: 'with --detach: wait for the end, and exit with the exit code of the command' },
  inline: { help: 'attach without the alternate screen and the status line' },
  'log-file': { value: 'FILE', help: 'log of the supervisor; /dev/null for none' },
  'log-level': { choices: ['error', 'warn', 'info', 'debug'], help: 'how much is logged' },
  'log-filter': { value: 'TOPIC', help: 'only log lines whose topic starts with this' },
  'scrollback-bytes': { type: 'integer', value: 'N', help: 'output kept for replay' },
  classifier: { choices: CLASSIFIERS, help: 'how activity is detected in the output' },
  'idle-threshold-ms': { type: 'integer', value: 'MS', help: 'silence after which the session is idle' },
  'debounce-ms': { type: 'integer', value: 'MS', help: 'how long a new state must last to count' },
} as const satisfies Readonly<Record<string, FlagSpec>>

export interface DirFlag {
  readonly 'socket-dir': string | undefined
}

/** `--socket-dir`, the setting `socket_dir`, or the default; refused if other users can write to it. */
export async function socketDirOf(context: Context, flags: DirFlag): Promise<string> {
  const dir = await named(context, flags)
  onDisk(dir, () => checkSessionDirIfThere(dir, process.getuid?.() ?? 0))
  return dir
}

async function named(context: Context, flags: DirFlag): Promise<string> {
  const { env } = context
  const { value } = (await context.settings({ socket_dir: flags['socket-dir'] })).socket_dir
  if (typeof value !== 'string') return sessionsDir(env)
  return context.resolve(value.startsWith('~/') ? join(homeDir(env), value.slice(2)) : value)
}

interface StartSpec extends CommandSpec {
  readonly flags: typeof startFlags
}

/** What `hm run` alone takes. */
interface PlainStartFlags {
  readonly 'kill-process-group'?: boolean | undefined
  readonly 'session-env-var'?: string | undefined
}

export type StartFlags = InputOf<StartSpec>['flags'] & PlainStartFlags

/** The options of a session from flags and settings, without its id and recording. */
export async function startOptions(
  context: Context,
  flags: StartFlags,
  command: readonly string[],
): Promise<Omit<SessionOptions, 'id' | 'recordPath'>> {
  checkArgumentBytes(command)
  const config = await context.settings({
    scrollback_bytes: flags['scrollback-bytes'],
    session_env_var: flags['session-env-var'],
    kill_process_group: flags['kill-process-group'],
    log_file: flags['log-file'],
    log_level: flags['log-level'],
    log_filter: flags['log-filter'],
  })
  const logFile = config.log_file.value as string | null
  return {
    ...SESSION_DEFAULTS,
    socketDir: await socketDirOf(context, flags),
    command,
    cwd: context.resolve(flags.workdir),
    env: config.env.value as readonly EnvEntry[],
    ...sizeFrom(context, flags),
    pinnedSize: flags['pin-size'] === true,
    scrollbackBytes: config.scrollback_bytes.value as number,
    classifier: classifierFrom(config, flags),
    killProcessGroup: config.kill_process_group.value as boolean,
    sessionEnvVar: config.session_env_var.value as string,
    logFile: logFile === null ? null : inHome(context, logFile),
    logLevel: config.log_level.value as LogLevel,
    logFilter: config.log_filter.value as string | null,
  }
}

function inHome(context: Context, path: string): string {
  return path.startsWith('~/') ? join(homeDir(context.env), path.slice(2)) : context.resolve(path)
}

function sizeFrom({ stdout }: Context, flags: StartFlags): { readonly cols: number; readonly rows: number } {
  // A detached session has no viewer yet: it gets the size that programs in the field are started with.
  const isViewed = stdout.isTTY && flags.detach !== true
  const { cols, rows } = isViewed ? terminalSize(stdout) : SESSION_DEFAULTS
  const lines = isViewed && flags.inline !== true ? Math.max(1, rows - 1) : rows
  return { cols: flags.cols ?? cols, rows: flags.rows ?? lines }
}

/** `--classifier` alone takes that classifier's defaults; the numbers alone change those of the configuration. */
function classifierFrom(config: Config, flags: StartFlags): ClassifierChoice {
  const base =
    flags.classifier === undefined
      ? (config.classifier.value as ClassifierChoice)
      : { ...DEFAULT_CLASSIFIER, name: flags.classifier }
  return {
    name: base.name,
    idleThresholdMs: flags['idle-threshold-ms'] ?? base.idleThresholdMs,
    debounceMs: flags['debounce-ms'] ?? base.debounceMs,
  }
}

/** Node.js decodes arguments as UTF-8 and puts this in place of other bytes; it may also have been typed. */
const REPLACEMENT = '\u{fffd}'

/** Refuses arguments that would reach the command changed. Without /proc this cannot be detected. */
function checkArgumentBytes(command: readonly string[]): void {
  const changed = command.find((word) => word.includes(REPLACEMENT))
  if (changed === undefined || isUtf8(ownCommandLine())) return
  throw usageError(
    `the argument ${printable(changed)} is not UTF-8, and would reach the command changed`,
    'put the command into a script, and run that: hm run -- sh FILE',
  )
}

function ownCommandLine(): Buffer {
  try {
    return readFileSync('/proc/self/cmdline')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES')) return Buffer.alloc(0)
    throw error
  }
}

/** `example` is a correct command line. */
export function checkStart(
  { detach, wait }: { readonly detach?: boolean | undefined; readonly wait?: boolean | undefined },
  command: readonly string[],
  example: string,
): void {
  if (command.length === 0) throw usageError('no command to run', `for example: ${example}`)
  if (wait === true && detach !== true)
    throw usageError('--wait goes with --detach; without --detach, run stays attached anyway')
}

export interface PlaceFlags extends DirFlag {
  readonly host?: string | undefined
}

export async function placeOf(context: Context, flags: PlaceFlags): Promise<LookupPlace> {
  const { host } = flags
  if (host === undefined) return { dir: await socketDirOf(context, flags) }
  if (flags['socket-dir'] !== undefined)
    throw usageError(
      '--socket-dir is a folder of this machine, --host names another machine',
      'the other machine has its own setting socket_dir',
    )
  const { parseSshHost } = await import('../sessions/remote/ssh.ts')
  return { machine: { host: parseSshHost(host), env: context.env, clock: context.clock } }
}

/** By our own names, an agent of a run names its session too. */
export async function locateSession(context: Context, flags: PlaceFlags, id: string): Promise<Located> {
  const place = await placeOf(context, flags)
  const tell = (words: string): void => context.note(`[${words}]`)
  const { locate } = await import('../sessions/locate.ts')
  try {
    return await locate(place, id, tell)
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND')) throw error
    const session = context.isSeedName || place.machine !== undefined ? undefined : await sessionOfAgent(context, id)
    const hint = (error.hint ?? '').replace('hm ls', 'heimdall ls')
    if (session === undefined && !context.isSeedName) throw new HeimdallError(error.code, error.message, { hint })
    if (session === undefined) throw error
    return await locate({ dir: session.dir }, session.id, tell)
  }
}

async function sessionOfAgent(
  { env }: Context,
  agent: string,
): Promise<{ readonly dir: string; readonly id: string } | undefined> {
  const { openRuns } = await import('../spine/open-runs.ts')
  return openRuns(runsDirOf(env)).find(({ run }) => run.agent.agent_id === agent)?.run.session
}

/** A session that must be running, and a connection to it. */
export async function connected(context: Context, flags: PlaceFlags, id: string) {
  const { connectTo } = await import('../sessions/locate.ts')
  const located = await locateSession(context, flags, id)
  return { located, connection: await connectTo(located) }
}

/** The id of the session that this process runs in: by its key, because the id in the environment does not follow a rename. */
export async function sessionAround(context: Context, dir: string): Promise<string | undefined> {
  const config = await context.settings()
  const key = context.env[KEY_VARIABLE]
  const found = listSessions(dir).find(({ holder }) => key !== undefined && holder?.key === key)
  const named = context.env[config.session_env_var.value as string]
  return found?.id ?? (named === '' ? undefined : named)
}

/** The id that was given, or the session that this runs in. */
export async function givenOrAround(context: Context, flags: DirFlag, id: string | undefined): Promise<string> {
  const found = id ?? (await sessionAround(context, await socketDirOf(context, flags)))
  if (found !== undefined) return found
  throw usageError('no session given, and this terminal is not inside one', 'name a session; hm ls lists them')
}

/** For exit records: who ended a session. */
export async function whoEnds({ calledAs, env }: Context): Promise<string> {
  const [{ lookUnswayed }, { sessionCaller }] = await Promise.all([
    import('../processes.ts'),
    import('../session-caller.ts'),
  ])
  return `${calledAs} by ${sessionCaller(process.pid, lookUnswayed(), env).words}`
}
