// Has the runs of lost sessions closed that a command has ended.
import { runsDirOf } from '../paths.ts'
import { settleLostRuns } from '../spine/open-runs.ts'
import type { Context } from './command.ts'

export async function settleRuns({ env, clock, note }: Context, sessions: readonly string[]): Promise<void> {
  const how = { env, clock, note: (line: string) => note(`warning: ${line}`) }
  await settleLostRuns(runsDirOf(env), how, ({ session }) => sessions.includes(session.id))
}
