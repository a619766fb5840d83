// The watcher as a process: one per state folder, which looks after all runs. How it is found, and how it is started.
import { spawn } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { isErrno } from './errors.ts'
import { type Env, stateDir } from './paths.ts'
import type { RecordedProcess } from './process-table.ts'
import { isStillAlive } from './processes.ts'
import { SUPERVISOR_VARIABLE } from './session-variables.ts'

declare const __HEIMDALL_VERSION__: string

export const WATCHER_VERSION = __HEIMDALL_VERSION__

/** The file in which a watcher says that it runs. The names are those of the file. */
export interface WatcherFile {
  readonly process: RecordedProcess & { readonly startTicks: number; readonly boot: string }
  readonly version: string
  readonly started_at: string
  /** Runs that it has set aside, each with its error. */
  readonly aside: readonly { readonly run: string; readonly error: string }[]
}

/** Where processes live that can see each other: another container has other pids. */
export interface ProcessPlace {
  readonly host: string
  /** Of the pid namespace; empty where the system has none. */
  readonly namespace: string
}

export function processPlace(): ProcessPlace {
  return { host: hostname(), namespace: namespaceId() }
}

function namespaceId(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR')) return ''
    throw error
  }
}

/** Of the files of a watcher, the common beginning: those of different containers lie side by side. */
export const watcherPath = (folder: string, namespace = namespaceId()): string => join(folder, `watcher${namespace}`)

export const watcherFolder = (env: Env): string => join(stateDir(env), 'watcher')

/** The command line of the watcher of this state folder. */
export function watcherCommand(env: Env): string[] {
  const root = dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json'))
  return [process.execPath, join(root, 'dist/watcher.cjs'), watcherFolder(env)]
}

/** The watcher that runs now, if one does. */
export function livingWatcher(folder: string): WatcherFile | undefined {
  const file = watcherFileIn(folder)
  return file !== undefined && isStillAlive(file.process) ? file : undefined
}

function watcherFileIn(folder: string): WatcherFile | undefined {
  try {
    const file = JSON.parse(readFileSync(`${watcherPath(folder)}.json`, 'utf8')) as Partial<WatcherFile>
    return typeof file.process?.pid === 'number' && typeof file.version === 'string' ? (file as WatcherFile) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined
    throw error
  }
}

/** One that is older than this program gives way to one of this version. */
export function isOlderThanThis({ version }: Pick<WatcherFile, 'version'>): boolean {
  const [theirs, ours] = [partsOf(version), partsOf(WATCHER_VERSION)]
  const at = ours.findIndex((part, i) => part !== (theirs[i] ?? 0))
  return at >= 0 && (theirs[at] ?? 0) < (ours[at] ?? 0)
}

const partsOf = (version: string): number[] => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number)

/** Of several that are started at once, one stays. It outlives whatever has started it. */
export function startWatcher(
  [program = '', ...args]: readonly string[],
  env: Env,
  failed: (why: string) => void,
): void {
  const child = spawn(program, args, {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    // The mark keeps it out of the tree of a session that it is started in.
    env: { ...watchedVariables(env), [SUPERVISOR_VARIABLE]: 'watcher' },
  })
  child.unref()
  child.once('error', (error) => failed(error.message))
}

/** What the watcher may know of an environment: where things lie and how to show a notification; no secret is among it. */
export function watchedVariables(env: Env): Record<string, string> {
  return Object.fromEntries(
    WATCHED_VARIABLES.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

const WATCHED_VARIABLES = [
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'DBUS_SESSION_BUS_ADDRESS',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'NODE_EXTRA_CA_CERTS',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'BB_AGENT_STALE_MINUTES',
  'HEIMDALL_PLANNING_DIR',
  'HEIMDALL_PROCESSES',
] as const
