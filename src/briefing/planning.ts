// The planning folder: which files seed 000 keeps where, and references from it into the project.
import { realpathSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { type Project, resolveInside } from '../paths.ts'
import { onDisk } from '../storage/faults.ts'
import { isThere } from '../storage/planning-folder.ts'
import { LOG_FILE, type LogActor, type LogPlace, record } from '../storage/protocol-log.ts'

/** What every mechanism works on. */
export interface Planning extends LogPlace {
  /** Folders that a reference to a project file may lie in; the first one is the project. */
  readonly referenceRoots: readonly string[]
  /** One line of `protocol.log`: what was done, once it is done. */
  readonly log: (actor: LogActor, action: string, detail: string) => void
}

export const FILES = {
  log: LOG_FILE,
  blackboard: 'blackboard.json',
  symbols: 'protocol/symbols.json',
  schema: 'protocol/message-schema.json',
  baselines: 'protocol/baselines.json',
  ledger: 'protocol/ledger.jsonl',
  capsules: 'protocol/capsules',
} as const

export function planningAt(place: LogPlace, referenceRoots: readonly string[]): Planning {
  return { ...place, referenceRoots, log: (actor, action, detail) => record(place, actor, action, detail) }
}

/** Does something and logs it; a failure is logged with its code, unless the folder cannot be read: then neither can the log. */
export function logged<T>(
  planning: Planning,
  actor: LogActor,
  [done, failed]: readonly [done: string, failed: string],
  detail: string,
  act: () => T,
): T {
  try {
    const result = act()
    planning.log(actor, done, detail)
    return result
  } catch (error) {
    if (error instanceof HeimdallError && !error.code.startsWith('STORE_'))
      planning.log(actor, failed, `${detail} ${error.code}`)
    throw error
  }
}

export function openPlanning(
  project: Pick<Project, 'root' | 'planningDir'>,
  clock: Pick<Clock, 'wallMs'>,
  note: (line: string) => void,
): Planning {
  const dir = project.planningDir
  // A planning folder elsewhere is an island with its own project around it (`x/.planning`), or in it (`x`).
  const island = basename(dir) === '.planning' ? dirname(dir) : dir
  return planningAt({ dir, clock, note }, [...new Set([project.root, island])])
}

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
