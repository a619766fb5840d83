// Runs that are open, and the closing of those that are lost: their supervisor was killed, or the machine restarted.
import { HeimdallError } from '../errors.ts'
import { isStillAlive } from '../processes.ts'
import type { KeepWith } from './keep-run.ts'
import { type KeptRun, readSheet, sheetPaths } from './kept-run.ts'

interface OpenRun {
  readonly sheet: string
  readonly run: KeptRun
  /** Its supervisor is gone. Its keeper may be closing it at this moment. */
  readonly isLost: boolean
}

/** All runs of this user that are not closed, each with its agent, session and project, and the wait that is open. */
export function openRuns(runsDir: string): OpenRun[] {
  return sheetPaths(runsDir).flatMap((sheet) => {
    const run = readSheet(sheet)
    return run === undefined ? [] : [{ sheet, run, isLost: !isStillAlive(run.session.supervisor) }]
  })
}

/** Does for each what its keeper would have done. An error in one is noted, and does not stop the others. */
export async function settleLostRuns(
  runsDir: string,
  how: KeepWith,
  isWanted: (run: KeptRun) => boolean = () => true,
): Promise<void> {
  const lost = openRuns(runsDir).filter(({ isLost, run }) => isLost && isWanted(run))
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
