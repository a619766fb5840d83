// Rings when something of a project may have changed: folders that the system watches, and a look now and then where it does not tell.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, pause } from '../../clock.ts'
import { trailsDir } from '../../coordination/trail.ts'
import { isErrno } from '../../errors.ts'
import { HUB_LOOK_IDLE_MS, HUB_LOOK_MS_MIN, HUB_SETTLE_MS } from '../../limits.ts'
import { runsDirOf, stateDir } from '../../paths.ts'
import { WatchedFolders } from '../../runs/watch-folders.ts'
import type { FleetOptions } from '../../spine/fleet/look.ts'

export interface Bells {
  readonly options: FleetOptions
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onRing: () => Promise<void>
}

/**
 * Until the signal. Changes that come together are one ring, and rings keep a distance: a session that floods costs no
 * more than one that types.
 */
export async function ringBells({ options, clock, signal, onRing }: Bells): Promise<void> {
  const folders = new WatchedFolders()
  const watched = new Set<string>()
  try {
    while (!signal.aborted) {
      const changed = folders.next()
      follow(folders, watched, foldersOf(options))
      await onRing()
      await pause(clock, HUB_LOOK_MS_MIN, signal)
      await pause(clock, HUB_LOOK_IDLE_MS, AbortSignal.any([changed, signal]))
      if (changed.aborted) await pause(clock, HUB_SETTLE_MS, signal)
    }
  } finally {
    folders.close()
  }
}

function follow(folders: WatchedFolders, watched: Set<string>, wanted: readonly string[]): void {
  for (const folder of watched) {
    if (wanted.includes(folder)) continue
    folders.remove(folder)
    watched.delete(folder)
  }
  for (const folder of wanted) {
    folders.add(folder)
    watched.add(folder)
  }
}

/** Sockets, sheets, open runs with their questions and records, the store, what hooks have left, and what this user has snoozed. */
function foldersOf({ env, project, socketDir }: FleetOptions): string[] {
  const runsDir = runsDirOf(env)
  return [
    socketDir,
    project.coordinationDir,
    trailsDir(project),
    stateDir(env),
    join(runsDir, '.kept'),
    join(runsDir, '.open'),
    ...namesIn(join(runsDir, '.open')).map((name) => join(runsDir, name)),
  ]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}
