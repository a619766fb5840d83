// What `kill -9` or a reboot has left of runs is settled by the next command that looks at sessions, claims or runs.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../errors.ts'
import { runsDirOf } from '../paths.ts'
import type { Context } from './command.ts'

/** One look at a folder where no run is open, and one at each supervisor where some are. */
export async function settleRuns({ env, clock, calledAs, note }: Context): Promise<void> {
  const runsDir = runsDirOf(env)
  if (!isAnyKept(join(runsDir, '.kept'))) return
  const { settleLostRuns } = await import('../spine/open-runs.ts')
  const by = `${calledAs} (process ${process.pid})`
  await settleLostRuns(runsDir, { env, clock, by, note: (line) => note(`warning: ${line}`) })
}

function isAnyKept(dir: string): boolean {
  try {
    return readdirSync(dir).length > 0
  } catch (error) {
    // Nobody has run anything here, or it is nothing that we could settle.
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false
    throw error
  }
}
