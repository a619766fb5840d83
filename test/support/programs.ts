// Real programs in tests: start them, read their lines, kill them by pid, and see that nothing of their tree is left.
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { onTestFinished } from './cleanup.ts'
import { isErrno } from '../../src/errors.ts'
import { sourceEnv } from './process-sources.ts'
import { until, waitForEvent, type WaitOptions } from './wait.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** The command line of a fixture program of `test/fixtures/`, as `global-setup.ts` bundled it. */
export const fixture = (name: string): [string, string] => [
  process.execPath,
  join(PROJECT, `.build/fixtures/${name}.mjs`),
]

/** The command line of a launcher of `bin/`, on the built `dist/`. */
export const launcher = (name: string): [string, string] => [process.execPath, join(PROJECT, 'bin', name)]

export interface ProgramOptions {
  readonly cwd?: string
  /** Added to a bare environment: PATH and locale only, so that a test does not depend on who runs it. */
  readonly env?: Readonly<Record<string, string>>
  /** Written to the program, after which its stdin ends. Without it stdin stays open. */
  readonly stdin?: string | Uint8Array
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Program {
  readonly pid: number
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with the first whole line of stdout, from the start, that matches; fails at once when the program ends without it. */
  waitForLine(pattern: string | RegExp, options?: WaitOptions): Promise<string>
  /** Like `waitForLine`, beginning after the line that the last call returned. */
  nextLine(pattern: string | RegExp, options?: WaitOptions): Promise<string>
  /** Resolves when the process has ended and its output is complete. */
  readonly ended: Promise<Ending>
  send(line: string): void
  kill(signal?: NodeJS.Signals): void
}

/**
 * Starts a program in a process group of its own. Whatever of the group is left when the test ends is killed,
 * so that a failing test leaves nothing running.
 */
export function startProgram(command: readonly [string, ...string[]], options: ProgramOptions = {}): Program {
  const [file, ...args] = command
  const child = spawn(file, args, {
    cwd: options.cwd ?? PROJECT,
    env: { ...bareEnv(), ...options.env },
    stdio: 'pipe',
    detached: true,
  })
  const { pid } = child
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    output.emit('more')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A program that ends without reading its input is no failure of the test.
  child.stdin.on('error', (error) => {
    if (!isErrno(error, 'EPIPE', 'ECONNRESET')) throw error
  })
  const output = new EventEmitter().setMaxListeners(0)
  let hasEnded = false
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      hasEnded = true
      output.emit('more')
      resolve({ code, signal, stdout, stderr })
    })
  })
  if (pid === undefined) throw new Error(`${file} could not be started`)
  if (options.stdin !== undefined) child.stdin.end(options.stdin)
  onTestFinished(async () => {
    signalGroup(pid, 'SIGKILL')
    await ended
  })
  const story = (): string => `stdout: ${stdout}\nstderr: ${stderr}`

  /** The first matching line at or after the offset, and where the line after it begins. */
  const findLine = async (
    pattern: string | RegExp,
    from: number,
    waitOptions?: WaitOptions,
  ): Promise<{ line: string; next: number }> => {
    const matches = (line: string): boolean => (typeof pattern === 'string' ? line === pattern : pattern.test(line))
    for (let start = from; ;) {
      for (let end = stdout.indexOf('\n', start); end !== -1; end = stdout.indexOf('\n', start)) {
        const line = stdout.slice(start, end)
        start = end + 1
        if (matches(line)) return { line, next: start }
      }
      if (hasEnded) throw new Error(`the program ended without the line ${String(pattern)}\n${story()}`)
      await waitForEvent(output, 'more', { what: `line ${String(pattern)}`, context: story, ...waitOptions })
    }
  }
  let read = 0

  return {
    pid,
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    waitForLine: async (pattern, waitOptions) => (await findLine(pattern, 0, waitOptions)).line,
    async nextLine(pattern, waitOptions) {
      const { line, next } = await findLine(pattern, read, waitOptions)
      read = next
      return line
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    kill: (signal = 'SIGTERM') => signalTo(pid, signal),
  }
}

/** Runs a program to its end. */
export function runProgram(command: readonly [string, ...string[]], options: ProgramOptions = {}): Promise<Ending> {
  return startProgram(command, { stdin: '', ...options }).ended
}

export function bareEnv(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LANG: 'C.UTF-8', ...sourceEnv() }
}

const signalGroup = (pid: number, signal: NodeJS.Signals): void => signalTo(-pid, signal)

/** Whoever has ended by itself in that moment is killed enough. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}

/** True while a thread of the process runs; a zombie counts as dead. */
export function isRunning(pid: number): boolean {
  return statOf(pid) !== undefined
}

export function waitForDeath(pid: number, options?: WaitOptions): Promise<true> {
  return until(`process ${pid} to die`, () => !isRunning(pid), options)
}

/** Living descendants of `pid`, also those that left its process group. Those whose parent died before are not found: take the list while it lives. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = statOf(Number(name))
    if (stat !== undefined) children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(name)])
  }
  const found: number[] = []
  for (let next = children.get(pid) ?? []; next.length > 0; next = next.flatMap((child) => children.get(child) ?? []))
    found.push(...next)
  return found
}

/** Resolves when neither `pid` nor any of `tree` runs. */
export async function waitForTreeDeath(pid: number, tree: readonly number[], options?: WaitOptions): Promise<void> {
  await until(
    `process ${pid} and its ${tree.length} descendants to die`,
    () => ![pid, ...tree].some(isRunning),
    options,
  )
}

function statOf(pid: number): { parent: number } | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
  // The name in parentheses may hold anything, so fields are counted from its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent] = fields
  // The state is that of the first thread; others may still hold the files and locks of the process.
  const hasEnded = (state === 'Z' || state === 'X') && Number(fields[17]) <= 1
  return hasEnded ? undefined : { parent: Number(parent) }
}

/** Processes that have this path in their environment or command line. */
export function processesOf(path: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => `${procFile(pid, 'environ')}\0${procFile(pid, 'cmdline')}`.includes(path) && isRunning(pid))
}

/** Empty for a process that has ended, or is another user's. */
export function procFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return ''
    throw error
  }
}

export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}
