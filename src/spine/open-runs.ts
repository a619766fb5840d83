// Runs that are open, and how a command has those settled that are lost: by the watcher, which it waits for.
import { existsSync } from 'node:fs'
import { type Clock, pause } from '../clock.ts'
import { RUN_SETTLED_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import { isStillAlive } from '../processes.ts'
import { livingWatcher, startWatcher, watcherCommand, watcherFolder } from '../watcher-process.ts'
import { areProcessesVisible, type KeptRun, readSheet, sheetPaths } from './kept-run.ts'

interface OpenRun {
  readonly sheet: string
  readonly run: KeptRun
  /** Its supervisor is gone. The watcher may be closing it at this moment. */
  readonly isLost: boolean
}

/** All runs of this user that are not closed, each with its agent, session and project, and the wait that is open. */
export function openRuns(runsDir: string): OpenRun[] {
  return sheetPaths(runsDir).flatMap((sheet) => {
    const run = readSheet(sheet)
    if (run === undefined) return []
    return [{ sheet, run, isLost: areProcessesVisible(run) && !isStillAlive(run.session.supervisor) }]
  })
}

interface SettleWith {
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

/** Returns when the watcher has ended what is left of the lost runs that `isWanted` names, and closed them. */
export async function settleLostRuns(
  runsDir: string,
  { env, clock, note }: SettleWith,
  isWanted: (run: KeptRun) => boolean = () => true,
): Promise<void> {
  const lost = openRuns(runsDir).filter(({ isLost, run }) => isLost && isWanted(run))
  if (lost.length === 0) return
  const folder = watcherFolder(env)
  const deadlineMs = clock.monoMs() + RUN_SETTLED_MS
  for (let startMs = clock.monoMs(); lost.some(({ sheet }) => existsSync(sheet)); await pause(clock, 20)) {
    const nowMs = clock.monoMs()
    if (nowMs >= deadlineMs) {
      const left = lost.find(({ sheet }) => existsSync(sheet))
      const why = livingWatcher(folder)?.aside.find(({ run }) => run === left?.run.folder)?.error
      return note(`lost run ${left?.run.folder} is not closed yet${why === undefined ? '' : `: ${why}`}`)
    }
    if (nowMs < startMs || livingWatcher(folder) !== undefined) continue
    startWatcher(watcherCommand(env), env, (problem) => note(`the watcher cannot be started: ${problem}`))
    // Under load it takes a while until it says that it runs.
    startMs = nowMs + RUN_SETTLED_MS / 4
  }
}
