// The sheet of a run as it is before anything of the run has happened.
import type { EnvEntry } from '../config.ts'
import type { Project } from '../paths.ts'
import { redacted } from '../runs/redacted.ts'
import { readIdentity } from '../runs/run-identity.ts'
import { processPlace, watchedVariables } from '../watcher-process.ts'
import type { KeptRun } from './kept-run.ts'
import type { RunWish } from './run-wish.ts'
import type { WorktreeState } from './worktree-state.ts'

interface NewRun extends Pick<KeptRun, 'agent' | 'project' | 'session'> {
  readonly runId: string
  /** What its command finds in its environment. */
  readonly variables: readonly EnvEntry[]
  readonly before: WorktreeState | null
}

export async function firstSheet(
  wish: RunWish,
  { runId, agent, project, session, variables, before }: NewRun,
): Promise<KeptRun> {
  return {
    v: 1,
    identity: { run_id: runId, ...identityOf(wish, variables, session.id) },
    folder: runId,
    start: {
      started_at: new Date(wish.clock.wallMs()).toISOString(),
      mode: wish.policy.mode,
      policy: wish.policy.ref,
      meta: await metaOf(wish, project, before),
    },
    agent,
    project,
    cwd: wish.session.cwd,
    place: processPlace(),
    env: watchedVariables(wish.env),
    session,
    worktree: before,
    wait: null,
    waits: { count: 0, ms: 0 },
  }
}

function identityOf({ env, session, note }: RunWish, variables: readonly EnvEntry[], sessionId: string) {
  const own = Object.fromEntries(variables.map(({ name, value }) => [name, value]))
  return readIdentity({ ...env, ...own, HEIMDALL_SESSION_ID: sessionId }, session.cwd, note)
}

/** What people ask afterwards (seed 004 §1.4: freeform). */
async function metaOf({ session, task }: RunWish, project: Project, before: WorktreeState | null) {
  return {
    project: project.root,
    cwd: session.cwd,
    program: redacted(session.command[0] ?? ''),
    ...(task === undefined ? {} : { task: redacted(task) }),
    commit: before?.commit ?? null,
    branch: before?.branch ?? null,
    dirty: before?.dirty.map(([path]) => path) ?? null,
    dirty_total: before?.dirtyTotal ?? null,
  }
}
