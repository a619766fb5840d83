// Closes the runs of lost sessions that a command has ended: their supervisors were killed, and nobody else may close them.
import { runsDirOf } from '../paths.ts'
import { openRuns, settleLostRuns } from '../spine/open-runs.ts'
import type { Context } from './command.ts'

export async function settleRuns({ env, clock, calledAs, note }: Context, sessions: readonly string[]): Promise<void> {
  const runsDir = runsDirOf(env)
  if (!openRuns(runsDir).some(({ isLost }) => isLost)) return
  const how = {
    env,
    clock,
    by: `${calledAs} (process ${process.pid})`,
    note: (line: string) => note(`warning: ${line}`),
  }
  await settleLostRuns(runsDir, how, ({ session }) => sessions.includes(session.id))
}
