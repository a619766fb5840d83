// A way to the files of a planning folder that no symlink can lead astray.
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { resolveInside } from '../paths.ts'
import { ensureFolder } from './atomic-file.ts'
import { onDisk } from './faults.ts'

export interface PlanningFolder {
  /** `.planning`, or what HEIMDALL_PLANNING_DIR names. It need not exist. */
  readonly dir: string
}

/** The real path of one of our files for reading, or nothing when there is no planning folder yet. */
export function pathToRead(planning: PlanningFolder, file: string): string | undefined {
  return isThere(planning.dir) ? inside(planning.dir, file) : undefined
}

/** The real path of one of our files for writing; the folders on the way are made. */
export function pathToWrite(planning: PlanningFolder, file: string): string {
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
