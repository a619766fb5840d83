// From flags and settings to the options of a session, for every command that starts one.
import { join } from 'node:path'
import { type Config, type EnvEntry } from '../../../config.ts'
import { type ClassifierChoice, DEFAULT_CLASSIFIER } from '../../../config-values.ts'
import { homeDir } from '../../../paths.ts'
import { type LogLevel, SESSION_DEFAULTS, type SessionOptions } from '../../../wire/session-options.ts'
import type { Context, InputOf } from '../../command.ts'
import type { run } from '../../table/session.ts'
import { checkArgumentBytes } from './argument-bytes.ts'
import { socketDirOf } from './socket-dir.ts'
import { terminalSize } from './terminal-size.ts'

type RunFlags = InputOf<typeof run>['flags']
/** Those of a start; the others are what `hm run` alone can be told. */
export type StartFlags = Omit<RunFlags, 'id' | 'record' | 'kill-process-group' | 'session-env-var'> &
  Partial<Pick<RunFlags, 'kill-process-group' | 'session-env-var'>>

/** All but what only the caller knows. */
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
