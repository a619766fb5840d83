// hm run: start a session; then attach to it, return, or wait for its end.
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { type ClassifierChoice, type Config, DEFAULT_CLASSIFIER, type EnvEntry } from '../../../config.ts'
import { HeimdallError } from '../../../errors.ts'
import { homeDir } from '../../../paths.ts'
import { listSessions, readExitRecord } from '../../../sessions/session-files.ts'
import { type LogLevel, resolveOptions, SESSION_DEFAULTS, type SessionOptions } from '../../../wire/session-options.ts'
import { handOver, startSession } from '../../../sessions/start.ts'
import type { StartedSession } from '../../../wire/handover.ts'
import type { Context, InputOf, Run } from '../../command.ts'
import { takeEarly } from '../../early-session.ts'
import { sessionEnvironment } from '../../session-environment.ts'
import type { run as row } from '../../table/session.ts'
import { socketDirOf } from './socket-dir.ts'
import { terminalSize } from './terminal-size.ts'

export const run: Run<typeof row> = async (context, input) => {
  const { flags, rest } = input
  if (rest.length === 0)
    throw new HeimdallError('USAGE', 'no command to run', { hint: 'put it after --: hm run --id build -- make' })
  if (flags.wait === true && flags.detach !== true)
    throw new HeimdallError('USAGE', '--wait goes with --detach; without it, run stays attached anyway')
  const options = await optionsFrom(context, input)
  const isDrawn = flags.detach !== true && flags.inline !== true && context.stdin.isTTY && context.stdout.isTTY
  const started = await (isDrawn ? startShown : start)(context, options, flags.id !== undefined)
  if (flags.detach !== true) {
    // Loaded here: a session that is only started needs no terminal emulator.
    const { attachTo } = await import('./attach.ts')
    return await attachTo(context, {
      ...located(options, started),
      isInline: flags.inline === true,
      isReadOnly: false,
      isSafe: false,
      isAlone: false,
      staysToEnd: true,
      from: 0,
    })
  }
  const exitCode = flags.wait === true ? await waitForExit(options, started) : null
  return {
    data: { ...started, exit_code: exitCode },
    text: exitCode === null ? `Session ${started.id} runs as process ${started.pid}` : '',
    ...(exitCode === null ? {} : { exit: exitCode }),
  }
}

/** A session that is about to be drawn here: its program is told what this terminal looks like, also when it asks at once. */
async function startShown(context: Context, options: SessionOptions, isNamed: boolean): Promise<StartedSession> {
  const { colorsOf } = await import('./view/outer-colors.ts')
  const colors = await colorsOf(context, context.env, context.clock)
  try {
    return await start(context, { ...options, colors: colors ?? null }, isNamed)
  } catch (error) {
    context.stdin.setRawMode(false)
    throw error
  }
}

/** A name that was free when it was chosen may be taken by the time it is used: then the next one, unless it was asked for. */
async function start(context: Context, options: SessionOptions, isNamed: boolean): Promise<StartedSession> {
  const refused = new Set<string>()
  for (let { id } = options; ; id = freeId(options.socketDir, options.command[0] ?? '', refused))
    try {
      const launched = takeEarly(id)
      if (launched !== undefined) return await handOver({ ...options, id }, launched, context)
      const env = await sessionEnvironment(context.env)
      return await startSession({ ...options, id }, { launcher: launcherPath(), env })
    } catch (error) {
      if (isNamed || !(error instanceof HeimdallError) || error.code !== 'SESSION_ID_IN_USE') throw error
      refused.add(id)
    }
}

function launcherPath(): string {
  const root = dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json'))
  return join(root, 'dist/session.cjs')
}

const located = (options: SessionOptions, { id, socket }: StartedSession) => ({
  id,
  dir: options.socketDir,
  socketPath: socket,
})

async function waitForExit(options: SessionOptions, { id, socket }: StartedSession): Promise<number> {
  const { openConnection } = await import('../../../client/connection.ts')
  const connection = await openConnection(socket).catch((error: unknown) => {
    // It ended, and stopped answering, before we came: the record says how.
    if (error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND') return undefined
    throw error
  })
  if (connection !== undefined)
    for await (const event of connection.subscribe({ from: 'live', readOnly: true }))
      if (event.type === 'exit') return event.code
  const record = readExitRecord(options.socketDir, id)
  if (record === undefined) throw new HeimdallError('SESSION_LOST', `session ${id} ended without a record`)
  return record.exit_code
}

async function optionsFrom(context: Context, { flags, rest }: InputOf<typeof row>): Promise<SessionOptions> {
  const config = await context.settings({
    scrollback_bytes: flags['scrollback-bytes'],
    session_env_var: flags['session-env-var'],
    kill_process_group: flags['kill-process-group'],
    log_file: flags['log-file'],
    log_level: flags['log-level'],
    log_filter: flags['log-filter'],
  })
  const socketDir = await socketDirOf(context, flags)
  const logFile = config.log_file.value as string | null
  return resolveOptions({
    id: flags.id ?? freeId(socketDir, rest[0] ?? ''),
    socketDir,
    command: rest,
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
    recordPath: flags.record === undefined ? null : context.resolve(flags.record),
  })
}

function inHome(context: Context, path: string): string {
  return path.startsWith('~/') ? join(homeDir(context.env), path.slice(2)) : context.resolve(path)
}

/** `make`, or `make-2` when `make` is taken. */
function freeId(socketDir: string, command: string, refused: ReadonlySet<string> = new Set()): string {
  const name = basename(command)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 48)
  const stem = name === '' ? 'session' : name
  const taken = new Set(
    listSessions(socketDir)
      .filter(({ state }) => state !== 'ended')
      .map(({ id }) => id),
  )
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? stem : `${stem}-${n}`
    if (!taken.has(id) && !refused.has(id)) return id
  }
}

function sizeFrom(
  { stdout }: Context,
  flags: InputOf<typeof row>['flags'],
): { readonly cols: number; readonly rows: number } {
  // A detached session has no viewer yet: it gets the size that programs in the field are started with.
  const isViewed = stdout.isTTY && flags.detach !== true
  const { cols, rows } = isViewed ? terminalSize(stdout) : SESSION_DEFAULTS
  const lines = isViewed && flags.inline !== true ? Math.max(1, rows - 1) : rows
  return { cols: flags.cols ?? cols, rows: flags.rows ?? lines }
}

/** `--classifier` alone takes that classifier's defaults; the numbers alone change those of the configuration. */
function classifierFrom(config: Config, flags: InputOf<typeof row>['flags']): ClassifierChoice {
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
