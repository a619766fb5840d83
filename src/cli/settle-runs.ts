// Closes runs that `kill -9` or a reboot left open, before a command that shows sessions, claims or runs.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../errors.ts'
import { runsDirOf } from '../paths.ts'
import type { Context } from './command.ts'

/** Lists one folder where no run is open, and checks each supervisor where some are. */
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
    // No run was started here, or its files are not ours to read.
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false
    throw error
  }
}
