// The processes of a run: the command of its session and all that it has started.
import { type Clock, pause } from '../clock.ts'
import { RUN_MEMBERS_LEAVE_MS } from '../limits.ts'
import type { ProcessTree } from '../process-tree.ts'
import { sessionTree } from '../session-tree.ts'
import { readHolder } from '../sessions/session-files.ts'
import type { KeptRun } from './kept-run.ts'

/** Nothing where the session is no longer known, or is somebody else's by now. */
export function treeOf({ session: { dir, id, supervisor } }: KeptRun): ProcessTree | undefined {
  const holder = readHolder(dir, id)
  if (holder === undefined || holder.supervisorPid !== supervisor.pid) return undefined
  const child = holder.childStart === undefined ? undefined : { pid: holder.childPid, startTicks: holder.childStart }
  return sessionTree({ child, key: holder.key })
}

/** The child's end comes first, then that of all it has started: nobody gets a file that one of those still writes to. */
export async function treeGone(run: KeptRun, clock: Clock): Promise<void> {
  const tree = treeOf(run)
  if (tree === undefined) return
  const deadlineMs = clock.monoMs() + RUN_MEMBERS_LEAVE_MS
  while (tree.members().length > 0 && clock.monoMs() < deadlineMs) await pause(clock, 50)
}
