// The programs that answer on systems without /proc, and where their command lines differ.
import { HeimdallError, isErrno } from './errors.ts'
import { PS_ANSWER_MS, PS_OUTPUT_BYTES_MAX } from './limits.ts'

interface Dialect {
  /** Flags of `ps` for all processes with their environment behind the command line. */
  readonly environment: readonly string[]
  /** Names under which `sysctl` has something that is new after each boot, the best first. */
  readonly boot: readonly string[]
}

/**
 * What POSIX does not have. macOS hides the environment of programs that belong to the system, and calls the time of
 * the boot a different one when the clock is set; its session uuid stays.
 */
const DIALECTS: Readonly<Partial<Record<NodeJS.Platform, Dialect>>> = {
  linux: { environment: ['axeww'], boot: ['kernel.random.boot_id'] },
  darwin: { environment: ['-A', '-E', '-ww'], boot: ['kern.bootsessionuuid', 'kern.boottime'] },
  freebsd: { environment: ['-A', '-e', '-ww'], boot: ['kern.boottime'] },
}

export const dialect: Dialect = DIALECTS[process.platform] ?? { environment: [], boot: [] }

/** Nothing of ours reaches these programs: their words and times are the same for everybody, and they carry no mark. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }
const options = {
  encoding: 'utf8',
  env: ENVIRONMENT,
  timeout: PS_ANSWER_MS,
  killSignal: 'SIGKILL',
  maxBuffer: PS_OUTPUT_BYTES_MAX,
} as const
/** What it complains of on stderr is nobody's to read. */
const silent = { ...options, stdio: ['ignore' as const, 'pipe' as const, 'ignore' as const] }

/** Loaded on first use: most commands ask about no process. */
const childProcess = () => process.getBuiltinModule('node:child_process')

/** What `ps` prints. It must answer: to take silence for "nobody runs" would end what lives. */
export function ps(words: readonly string[]): string {
  const { error, status, signal, stdout } = childProcess().spawnSync('ps', words, silent)
  return answerOf({ error, status, signal, stdout })
}

/** The same, while we go on. */
export function psAside(words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    childProcess().execFile('ps', words, options, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(unreadable(error))
    })
  })
}

/** All of it or nothing: what a `ps` printed that was killed half-way, or failed, leaves out processes that run. */
export function answerOf({ error, status, signal, stdout }: Ended): string {
  if (error !== undefined) throw unreadable(error)
  if (status !== 0) throw unreadable(new Error(`ps ended with ${signal ?? `code ${status}`}`))
  return stdout
}

interface Ended {
  readonly error?: Error | undefined
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
}

/** What another program prints; nothing when it is not installed or has no answer. */
export function ask(program: string, words: readonly string[]): string | undefined {
  const { error, status, stdout } = childProcess().spawnSync(program, words, silent)
  if (isErrno(error, 'ENOENT')) return undefined
  if (error !== undefined) throw unreadable(error)
  return status === 0 ? stdout : undefined
}

function unreadable(cause: Error): HeimdallError {
  return new HeimdallError('PROCESSES_UNREADABLE', `the system does not say which processes run: ${cause.message}`, {
    hint: 'there is neither /proc nor a ps that answers',
    cause,
  })
}
