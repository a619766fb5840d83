// The planning folder: which files seed 000 keeps where, and a way to them that no symlink can lead astray.
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { type Project, resolveInside } from '../paths.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'

/** What every mechanism works on. */
export interface Planning {
  /** `.planning`, or what HEIMDALL_PLANNING_DIR names. It need not exist. */
  readonly dir: string
  /** Folders that a reference to a project file may lie in; the first one is the project. */
  readonly referenceRoots: readonly string[]
  readonly clock: Pick<Clock, 'wallMs'>
  /** One line for the person at the terminal. */
  readonly note: (line: string) => void
}

export const FILES = {
  log: 'protocol.log',
  blackboard: 'blackboard.json',
  symbols: 'protocol/symbols.json',
  schema: 'protocol/message-schema.json',
  baselines: 'protocol/baselines.json',
  ledger: 'protocol/ledger.jsonl',
  capsules: 'protocol/capsules',
} as const

export function openPlanning(
  project: Pick<Project, 'root' | 'planningDir'>,
  clock: Pick<Clock, 'wallMs'>,
  note: (line: string) => void,
): Planning {
  const dir = project.planningDir
  // A planning folder elsewhere is an island with its own project around it (`x/.planning`), or in it (`x`).
  const island = basename(dir) === '.planning' ? dirname(dir) : dir
  return { dir, referenceRoots: [...new Set([project.root, island])], clock, note }
}

/** The real path of one of our files for reading, or nothing when there is no planning folder yet. */
export function pathToRead(planning: Planning, file: string): string | undefined {
  return isThere(planning.dir) ? inside(planning.dir, file) : undefined
}

/** The real path of one of our files for writing; the folders on the way are made. */
export function pathToWrite(planning: Planning, file: string): string {
  ensureFolder(planning.dir)
  const folder = inside(planning.dir, dirname(file))
  ensureFolder(folder)
  return inside(planning.dir, join(folder, basename(file)))
}

export function isThere(path: string): boolean {
  return onDisk(path, () => statSync(path, { throwIfNoEntry: false }) !== undefined)
}

/** A folder that may not be entered is a store that cannot be read, not a path that leads elsewhere. */
const inside = (root: string, path: string): string => onDisk(path, () => resolveInside(root, path))

export interface Reference {
  readonly path: string
  /** Relative to the project, with `/`: it means the same on another clone. */
  readonly ref: string
}

/**
 * Finds a project file by its path, absolute or relative to the project. Nothing when there is no such file;
 * PATH_OUTSIDE_ROOT when it leads out of every folder that a reference may lie in.
 */
export function findReference(planning: Planning, path: string): Reference | undefined {
  let outside: HeimdallError | undefined
  let isInside = false
  for (const root of planning.referenceRoots.filter(isThere)) {
    try {
      const realRoot = realpathSync.native(root)
      const real = onDisk(path, () => resolveInside(realRoot, path))
      isInside = true
      if (isThere(real)) return { path: real, ref: relative(realRoot, real) }
    } catch (error) {
      if (!(error instanceof HeimdallError) || error.code !== 'PATH_OUTSIDE_ROOT') throw error
      outside ??= error
    }
  }
  if (outside !== undefined && !isInside) throw outside
  return undefined
}
