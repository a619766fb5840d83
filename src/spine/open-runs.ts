// Runs that are open: who runs where, and who waits. Those that kill -9 of everybody, or a reboot, has left are settled by the next command that looks.
import { HeimdallError } from '../errors.ts'
import { isStillAlive } from '../processes.ts'
import type { KeepWith } from './keep-run.ts'
import { type KeptRun, readSheet, sheetPaths } from './kept-run.ts'

interface OpenRun {
  readonly sheet: string
  readonly run: KeptRun
  /** Its supervisor is gone. A keeper may be closing it at this moment; otherwise whoever looks settles it. */
  readonly isLost: boolean
}

/** All runs of this user that are not closed, each with its agent, session and project, and the wait that is open. */
export function openRuns(runsDir: string): OpenRun[] {
  return sheetPaths(runsDir).flatMap((sheet) => {
    const run = readSheet(sheet)
    return run === undefined ? [] : [{ sheet, run, isLost: !isStillAlive(run.session.supervisor) }]
  })
}

/** Does for each what its keeper would have done. What stands in the way of one is noted, and stops nobody. */
export async function settleLostRuns(runsDir: string, how: KeepWith): Promise<void> {
  const lost = openRuns(runsDir).filter(({ isLost }) => isLost)
  if (lost.length === 0) return
  // Loaded here: nearly always there is none.
  const { keepRun } = await import('./keep-run.ts')
  for (const { sheet } of lost) {
    try {
      await keepRun(sheet, how)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      how.note(`a run that was lost cannot be settled: ${error.message}`)
    }
  }
}
