// The fleet as it changes: a picture at the beginning, and another whenever something in it is news.
import { join } from 'node:path'
import { pause } from '../../clock.ts'
import { trailsDir } from '../../coordination/trail.ts'
import { STATUS_ASKED_MS, STATUS_LOOK_MS, STATUS_NEWS_MS } from '../../limits.ts'
import { runsDirOf, stateDir } from '../../paths.ts'
import { pinsDir } from '../../pins/pins-folder.ts'
import { WatchedFolders } from '../../runs/watch-folders.ts'
import type { Fleet } from './fleet.ts'
import { type FleetOptions, lookAtFleet } from './look.ts'

/**
 * Until the signal. Sheets, store and what lies beside them are watched; where nothing tells, a slow look does. Whoever
 * takes its time gets the newest picture next, and none of those between.
 */
export async function* followFleet(options: FleetOptions, signal: AbortSignal): AsyncGenerator<Fleet, void, undefined> {
  const { project, env, clock, asksSessions } = options
  const folders = [
    join(runsDirOf(env), '.kept'),
    project.coordinationDir,
    trailsDir(project),
    stateDir(env),
    pinsDir(env),
  ]
  const changes = new WatchedFolders()
  const restMs = asksSessions ? STATUS_ASKED_MS : STATUS_NEWS_MS
  let known = ''
  try {
    for (;;) {
      for (const folder of folders) changes.add(folder)
      const changed = changes.next()
      const lookedMs = clock.monoMs()
      const fleet = await lookAtFleet(options)
      if (signal.aborted) return
      const news = newsIn(fleet, asksSessions)
      if (news !== known) {
        known = news
        yield fleet
      }
      // Not sooner than that, however much happens.
      await pause(clock, Math.max(0, restMs - (clock.monoMs() - lookedMs)), signal)
      await pause(clock, asksSessions ? 0 : STATUS_LOOK_MS - restMs, AbortSignal.any([changed, signal]))
    }
  } finally {
    changes.close()
  }
}

/** What only grows older is no news, except to whoever has it before their eyes all the time. */
const AGES: ReadonlySet<string> = new Set(['at', 'seen', 'expires_at', 'waited'])

const newsIn = (fleet: Fleet, hasAges: boolean): string =>
  JSON.stringify(fleet, (key, value: unknown) => (key === 'at' || (!hasAges && AGES.has(key)) ? undefined : value))
