// The session of a run before it knows what to run: what it is called, and the process that waits for it.
import { bootId } from '../boot-id.ts'
import { HeimdallError } from '../errors.ts'
import type { Project } from '../paths.ts'
import { readStat } from '../processes.ts'
import { type LaunchedSession, launchSession } from '../sessions/launch.ts'
import { findSession } from '../sessions/session-files.ts'
import type { KeptRun } from './kept-run.ts'
import { environmentOfNobody } from './run-environment.ts'
import type { RunWish } from './run-wish.ts'
import { sessionElsewhere } from './session-name.ts'

/** The agent's id, or with four digits of the project behind it where a session elsewhere has that. */
export function sessionIdFor({ sessionId, session }: RunWish, agentId: string, project: Project): string {
  if (sessionId !== undefined) return sessionId
  const found = findSession(session.socketDir, agentId)
  if (found === undefined || found.state === 'ended') return agentId
  return sessionElsewhere(agentId, project)
}

export const launchedAs = ({ launcher, env }: RunWish, id: string): LaunchedSession =>
  launchSession(id, { launcher, env: environmentOfNobody(env) })

export async function processOf(launched: LaunchedSession): Promise<KeptRun['session']['supervisor']> {
  const stat = launched.pid === undefined ? undefined : readStat(launched.pid)
  if (launched.pid === undefined || stat === undefined)
    throw new HeimdallError('SESSION_START_FAILED', `cannot start ${launched.launcher}`, {
      cause: await launched.failure,
    })
  return { pid: launched.pid, startTicks: stat.startTicks, boot: bootId() }
}
