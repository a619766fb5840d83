// The state file of a run that `heimdall run` has started: what the watcher has to know of it. It is there from before the start until the run is closed.
import { dirname, join } from 'node:path'
import type { Project } from '../paths.ts'
import type { OwnedRun, RunIdentity, RunStart, UsageTotal, WaitStart } from '../runs/owned-run.ts'
import { ensureFolder, removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { namesIn } from '../storage/folder-names.ts'
import { readIfThere, replaceUnsynced } from '../storage/unsynced-file.ts'
import { processPlace, type ProcessPlace } from '../watcher-process.ts'
import type { Pulse } from './pulse.ts'
import type { WorktreeState } from './worktree-state.ts'

export interface KeptRun {
  readonly v: 1
  readonly identity: RunIdentity
  readonly folder: string
  readonly start: RunStart
  readonly agent: { readonly agent_id: string; readonly haid: string; readonly epoch: number }
  readonly project: Project
  readonly cwd: string
  /** Where its processes can be seen; absent in files that another version wrote. */
  readonly place?: ProcessPlace
  /** Of its environment, what the watcher may know: where things lie, no secrets. */
  readonly env?: Readonly<Record<string, string>>
  readonly session: {
    readonly dir: string
    /** As it is now: a session may be renamed. */
    readonly id: string
    readonly supervisor: { readonly pid: number; readonly startTicks: number; readonly boot: string }
  }
  /** How the worktree stood before the command ran; null where that is not known. */
  readonly worktree: WorktreeState | null
  /** The wait that is open now. */
  readonly wait: WaitStart | null
  /** Waits that were answered, and how long they took in all. */
  readonly waits: { readonly count: number; readonly ms: number }
  /** What it has cost so far; absent until a model has said something. */
  readonly cost?: UsageTotal
  /** Sessions of hosts that are known to be this run's, each with its host. */
  readonly hostSessions?: readonly string[]
  /** Absent until the watcher has taken it for the first time. */
  readonly pulse?: Pulse
}

export const sheetPath = (runsDir: string, folder: string): string => join(runsDir, '.kept', `${folder}.json`)
/** Of a sheet: the folder of runs that it lies in. */
export const runsDirOfSheet = (path: string): string => dirname(dirname(path))

/** Not flushed: after a power cut the agent goes by its beats, and the run by its boot. */
export function writeSheet(path: string, run: KeptRun): void {
  ensureFolder(dirname(path))
  replaceUnsynced(path, `${JSON.stringify(run)}\n`)
}

/** Nothing where there is none, or none of ours. */
export function readSheet(path: string): KeptRun | undefined {
  const text = readIfThere(path)
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text) as Partial<KeptRun> | null
    return value !== null && isWhole(value) ? value : undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

/** Has all that a command needs to show the run, and the watcher to take it up. */
function isWhole(value: Partial<KeptRun>): value is KeptRun {
  const { v, folder, agent, project } = value
  const session: Partial<KeptRun['session']> | undefined = value.session
  return (
    v === 1 &&
    typeof folder === 'string' &&
    typeof agent?.haid === 'string' &&
    typeof project?.coordinationDir === 'string' &&
    typeof session?.dir === 'string' &&
    typeof session.id === 'string' &&
    typeof session.supervisor?.pid === 'number'
  )
}

export const removeSheet = (path: string): boolean => removeIfThere(path)

/** Sheets of all runs of this user that are not closed, by path. */
export function sheetPaths(runsDir: string): string[] {
  const dir = join(runsDir, '.kept')
  return onDisk(dir, () => namesIn(dir))
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => `${dir}/${name}`)
}

/** Its processes can be seen here, or it is of an earlier boot of this machine. */
export function isOfThisPlace({ place }: KeptRun): boolean {
  return place === undefined || place.host === processPlace().host
}

/** Its processes have the pids that this process sees: not those of another machine or pid namespace. */
export function areProcessesVisible(run: KeptRun): boolean {
  return isOfThisPlace(run) && (run.place === undefined || run.place.namespace === processPlace().namespace)
}

/** The run as its record knows it. */
export const ownedRun = (runsDir: string, { folder, identity, start, session }: KeptRun): OwnedRun => ({
  runsDir,
  folder,
  identity,
  start,
  supervisor: { pid: session.supervisor.pid, start: String(session.supervisor.startTicks) },
})
