// A project in which `heimdall run` is tried, with a home of its own; whatever a test leaves running is ended with it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from '../support/cleanup.ts'
import { isErrno } from '../../src/errors.ts'
import { runInProcess } from '../support/in-process.ts'
import {
  killIfRunning,
  launcher,
  procFile,
  processesOf,
  type Program,
  type ProgramOptions,
  startProgram,
} from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { eventsOfRun, type Json, ofType, runFolders } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

export interface Spine extends TemporaryProject {
  /** `heimdall run …` with its stdin open. */
  start(args: readonly string[], options?: ProgramOptions): Program
  /** `data` of the envelope of a command; of `hm` where that is the first word. */
  json(args: readonly string[], options?: ProgramOptions): Promise<Json>
  /** `heimdall run --detach`. */
  detached(
    agent: string,
    command: readonly string[],
    flags?: readonly string[],
    options?: ProgramOptions,
  ): Promise<Json>
  /** Folders of runs that are there. */
  runs(): string[]
  events(run: string): Json[]
  /** Sheets of runs that are not closed. */
  sheets(): Json[]
  /** The watcher, once it runs. */
  watcher(): Promise<number>
  /** Once the watcher follows the run. */
  watched(run: string): Promise<void>
  /** Processes that have this home in their environment or command line, without the watcher, which stays for a while. */
  processes(): number[]
  claims(): Promise<Json[]>
}

export function spine(options: { readonly git?: boolean } = {}): Spine {
  const project = temporaryProject(options)
  const { home, env } = project
  const runsDir = join(home, '.local/state/heimdall/runs')
  const heimdall = (args: readonly string[]): [string, ...string[]] => [...launcher('heimdall'), ...args]
  onTestFinished(async () => {
    await until('everything of the test to end, the watcher too', () => {
      const left = processesOf(home)
      for (const pid of left) killIfRunning(pid)
      return left.length === 0
    })
  })
  const self: Spine = {
    ...project,
    start: (args, how = {}) =>
      startProgram(heimdall(['run', ...args]), { cwd: project.root, ...how, env: { ...env, ...how.env } }),
    async json(args, how = {}) {
      const [bin, command] = args[0] === 'hm' ? ['hm', args.slice(1)] : ['heimdall', args]
      const words = [...command.slice(0, 1), '--json', ...command.slice(1)]
      // A start that returns at once needs no process of its own.
      const { stdout, stderr, code } = await (words.includes('--detach')
        ? runInProcess(bin, words, { cwd: project.root, ...how, env: { ...env, ...how.env } })
        : project.run(bin, words, how))
      if (!stdout.startsWith('{')) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
      const envelope = JSON.parse(stdout) as Json
      if (envelope['data'] === null) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
      return envelope['data'] as Json
    },
    detached: (agent, command, flags = [], how = {}) =>
      self.json(['run', '--agent', agent, '--detach', ...flags, '--', ...command], how),
    runs: () => runFolders(home),
    events: (run) => eventsOfRun(home, run),
    sheets: () => {
      const dir = join(runsDir, '.kept')
      if (!existsSync(dir)) return []
      return readdirSync(dir)
        .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
        .flatMap((name) => sheetIn(join(dir, name)))
    },
    watcher: () => until('the watcher', () => processesOf(home).find((pid) => isWatcher(pid))),
    watched: async (run) => {
      await until(`the watcher to follow ${run}`, () =>
        self.sheets().some((sheet) => sheet['folder'] === run && sheet['pulse'] !== undefined),
      )
    },
    processes: () => processesOf(home).filter((pid) => !isWatcher(pid)),
    claims: async () => (await self.json(['claim', 'list'])) as unknown as Json[],
  }
  return self
}

/** Nothing for one whose run was closed since the folder was listed. */
function sheetIn(path: string): Json[] {
  try {
    return [JSON.parse(readFileSync(path, 'utf8')) as Json]
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** One start and one end of each segment, in order, and the segments in order. */
export function isClosedOnce(events: readonly Json[]): boolean {
  return ofType(events, 'run_start').length === 1 && ofType(events, 'run_end').length === 1
}

export const isWatcher = (pid: number): boolean => words(pid).some((word) => word.endsWith('dist/watcher.cjs'))

export const isUpstream = (pid: number): boolean =>
  words(pid).some((word) => word.endsWith('shim-upstream.mjs')) && !isShim(pid)
export const isShim = (pid: number): boolean =>
  words(pid).includes('shim') && words(pid).some((word) => word.endsWith('bin/heimdall'))
/** Supervisor, watcher, shim: not the command of the run. */
export const isOurs = (pid: number): boolean =>
  words(pid).some((word) => /(session|watcher)\.cjs$/.test(word)) || isShim(pid)

const words = (pid: number): string[] => procFile(pid, 'cmdline').split('\0')
