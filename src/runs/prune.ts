// Runs that nobody needs any more: too old, or the oldest when all of them take too much room. A live run is never touched, nor what is no run.
import fs from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { PRUNE_EVERY_MS } from '../limits.ts'
import { ensureFolder, readFileIfThere, removeIfThere } from '../storage/atomic-file.ts'
import { namesIn } from '../storage/folder-names.ts'
import { folderOf } from './open-run.ts'
import { closeAbandonedRuns, isLive, LEAVING, moveAway, openMark } from './run-close.ts'
import { totalsOf } from './run-facts.ts'
import { isRun, type RunFolder, runFolders } from './run-folder.ts'
import { RunLog } from './run-log.ts'

/** What is kept; null for no bound. */
export interface Retention {
  readonly ageMs: number | null
  readonly bytes: number | null
}

export interface Pruned {
  readonly removed: readonly RunFolder[]
  /** What stood in the way of removing others. */
  readonly problems: readonly string[]
}

export function pruneRuns(runsDir: string, keep: Retention, clock: Clock, isDry = false): Pruned {
  if (!isDry) closeAbandonedRuns(runsDir, clock)
  const removed: RunFolder[] = []
  const problems: string[] = []
  for (const run of tooMany(runFolders(runsDir).runs, keep, clock.wallMs())) {
    try {
      if (isDry ? !isLive(run.runDir, totalsOf(run.runDir), clock) : remove(runsDir, run.runDir, clock))
        removed.push(run)
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      problems.push(`run ${basename(run.runDir)} cannot be removed: ${error.message}`)
    }
  }
  if (!isDry) clearLeaving(runsDir)
  return { removed, problems }
}

/** What whoever passes by does for runs of others: ends the abandoned, and prunes now and then. Returns what stood in the way. */
export function lookAfterRuns(runsDir: string, keep: Retention, clock: Clock): readonly string[] {
  try {
    const { problems } = closeAbandonedRuns(runsDir, clock)
    return [...problems, ...pruneNowAndThen(runsDir, keep, clock).problems]
  } catch (error) {
    if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
    return [`runs cannot be looked after: ${error.message}`]
  }
}

/** At most once in a while for all processes of this user. */
function pruneNowAndThen(runsDir: string, keep: Retention, clock: Clock): Pruned {
  const mark = join(runsDir, '.pruned-at')
  const lastMs = fs.statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0
  // A clock that was set back must not stop it for long.
  if (Math.abs(clock.wallMs() - lastMs) < PRUNE_EVERY_MS) return { removed: [], problems: [] }
  ensureFolder(runsDir)
  fs.writeFileSync(mark, '', { mode: 0o600 })
  return pruneRuns(runsDir, keep, clock)
}

/** Oldest first. What is live counts for the room that is taken, and is passed over later. */
function tooMany(newestFirst: readonly RunFolder[], { ageMs, bytes }: Retention, nowMs: number): RunFolder[] {
  let sum = 0
  return newestFirst
    .filter((run) => {
      sum += run.bytes
      return (ageMs !== null && nowMs - run.changedMs > ageMs) || (bytes !== null && sum > bytes)
    })
    .toReversed()
}

function remove(runsDir: string, runDir: string, clock: Clock): boolean {
  const folder = basename(runDir)
  // Somebody else may have been quicker, and to open it would make it anew.
  if (!isRun(runDir)) return false
  const log = new RunLog(runDir)
  try {
    const isGone = log.locked(({ totals }) => {
      if (isLive(runDir, totals, clock)) return false
      moveAway(runsDir, folder, log)
      return true
    })
    // It is busy at this moment.
    if (isGone !== true) return false
  } finally {
    log.close()
  }
  removeIfThere(openMark(runsDir, folder))
  forgetHosts(runsDir, folder)
  return true
}

function clearLeaving(runsDir: string): void {
  for (const name of namesIn(runsDir).filter((one) => one.startsWith(LEAVING)))
    fs.rmSync(join(runsDir, name), { recursive: true, force: true })
}

/** Sessions of hosts that point to the run. */
function forgetHosts(runsDir: string, folder: string): void {
  const hosts = join(runsDir, '.hosts')
  for (const name of namesIn(hosts)) {
    const runId = readFileIfThere(join(hosts, name))?.toString().trim() ?? ''
    if (runId !== '' && folderOf(runId) === folder) removeIfThere(join(hosts, name))
  }
}
