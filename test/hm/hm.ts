// Runs the real `hm` in a home of its own, and ends every session that a test started.
import { join } from 'node:path'
import { isErrno } from '../../src/errors.ts'
import { listSessions } from '../../src/sessions/session-files.ts'
import { onTestFinished } from '../support/cleanup.ts'
import { runInProcess, runLauncher } from '../support/in-process.ts'
import {
  type Ending,
  launcher,
  type Program,
  type ProgramOptions,
  startProgram,
  waitForDeath,
} from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { waitForNoFile } from '../support/wait.ts'

export interface Hm {
  readonly home: string
  readonly dir: string
  readonly env: Readonly<Record<string, string>>
  socket(id: string): string
  /** Runs to the end. */
  run(args: readonly string[], options?: ProgramOptions): Promise<Ending>
  start(args: readonly string[], options?: ProgramOptions): Program
  /** `data` of the envelope; fails when the command failed. */
  json(args: readonly string[]): Promise<Record<string, unknown>>
  /** `hm run --detach`; the session is ended when the test is. */
  session(id: string, command: readonly string[], flags?: readonly string[]): Promise<void>
  /** Resolves when the session has ended and has removed the last of its files that say otherwise. */
  ended(id: string): Promise<void>
}

export function hm(bin = 'hm'): Hm {
  const home = temporaryFolder()
  const dir = join(home, '.local/share/heimdall/sessions')
  const env = { HOME: home, TERM: 'xterm-256color', PS1: '$ ' }
  const command = (args: readonly string[]): [string, ...string[]] => [...launcher(bin), ...args]
  const withHome = (options: ProgramOptions): ProgramOptions => ({
    cwd: home,
    ...options,
    env: { ...env, ...options.env },
  })
  onTestFinished(async () => {
    const holders = listSessions(dir).flatMap(({ holder }) => holder ?? [])
    // Not asked to end: a session that is asked goes on answering for a second, in every test.
    const pids = holders.flatMap(({ supervisorPid, childPid }) => [supervisorPid, childPid]).filter((pid) => pid > 0)
    for (const pid of pids) endProcess(pid)
    await Promise.all(pids.map((pid) => waitForDeath(pid)))
  })
  const self: Hm = {
    home,
    dir,
    env,
    socket: (id) => join(dir, `${id}.sock`),
    run(args, options = {}) {
      // A start that returns at once needs no process of its own.
      return (isDetached(args) ? runInProcess : runLauncher)(bin, args, withHome(options))
    },
    start: (args, options = {}) => startProgram(command(args), withHome(options)),
    async json(args) {
      const { stdout, stderr, code } = await self.run([...args.slice(0, 1), '--json', ...args.slice(1)])
      const envelope = JSON.parse(stdout) as { ok: boolean; data: Record<string, unknown> | null }
      if (envelope.data === null) throw new Error(`hm ${args.join(' ')} ended with ${code}: ${stdout} ${stderr}`)
      return envelope.data
    },
    async session(id, program, flags = []) {
      const { code, stderr } = await self.run(['run', '--id', id, '--detach', ...flags, '--', ...program])
      if (code !== 0) throw new Error(`hm run ended with ${code}: ${stderr}`)
    },
    async ended(id) {
      await waitForNoFile(self.socket(id))
      await waitForNoFile(join(dir, `${id}.pid`))
    },
  }
  return self
}

const isDetached = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  return args[0] === 'run' && args.slice(0, end === -1 ? undefined : end).includes('--detach')
}

/** Whoever has ended by itself in that moment is killed enough. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}
