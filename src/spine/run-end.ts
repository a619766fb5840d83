// How a run ended, in the words of its record.
import { GIT_AT_END_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import type { KeptRecord } from '../runs/kept-record.ts'
import type { RunStatus } from '../runs/owned-run.ts'
import type { ExitRecord } from '../sessions/keeper.ts'
import type { KeptRun } from './kept-run.ts'
import { changesSince } from './worktree-state.ts'

/** Nothing is known of the end of a session that left no record of it. `isTerminated`: a shim has ended the run. */
export function statusOf(exit: ExitRecord | undefined, isTerminated: boolean): RunStatus {
  if (isTerminated) return 'TERMINATED'
  if (exit?.reason === 'kill') return 'CANCELLED'
  return exit?.reason === 'exit' && exit.exit_code === 0 ? 'SUCCEEDED' : 'FAILED'
}

/** What has changed in the worktree since the beginning, and how the session went. */
export async function recordEnd(
  { worktree, project, waits }: KeptRun,
  exit: ExitRecord | undefined,
  record: KeptRecord,
  env: Env,
): Promise<void> {
  const changes = worktree === null ? undefined : await changesSince(project, env, worktree, GIT_AT_END_MS)
  if (changes !== undefined) record.filesChanged(changes)
  record.sessionEnd({
    exit_code: exit?.exit_code ?? null,
    signal: exit?.signal ?? null,
    reason: exit?.reason ?? 'unknown',
    ended_by: exit?.ended_by ?? null,
    acts: exit?.acts ?? [],
    waits: waits.count,
    waited_ms: waits.ms,
  })
}
