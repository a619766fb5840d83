// What a run is asked for, and what has become of it once its command runs.
import type { Clock } from '../clock.ts'
import type { Env } from '../paths.ts'
import type { RunStart } from '../runs/owned-run.ts'
import type { SessionOptions, StartedSession } from '../sessions/start.ts'
import type { WorktreeWish } from './worktrees/give.ts'
import type { AgentWorktree } from './worktrees/owner-record.ts'
import type { WorktreeState } from './worktree-state.ts'

export interface RunWish {
  /** Made up when absent. */
  readonly agent: string | undefined
  /** In this run; otherwise that of the agent. */
  readonly role: string | undefined
  readonly task: string | undefined
  /** Scopes that the agent holds from the start to the end; where somebody is in the way, nothing is begun. */
  readonly scopes?: readonly string[]
  /** Absolute path, and what the record says of it. */
  readonly policy: {
    readonly file: string | undefined
    readonly mode: RunStart['mode']
    readonly ref: RunStart['policy']
  }
  /** Id of the session; otherwise the agent's, or that with the project behind it. */
  readonly sessionId: string | undefined
  /** All of the session but its id, what the run adds to its environment, and where it is recorded. */
  readonly session: Omit<SessionOptions, 'id' | 'recordPath' | 'watcher'>
  readonly records: boolean
  /** How the folder stands before anything begins, where somebody has looked already. */
  readonly before?: Promise<WorktreeState | undefined>
  /** A worktree and a branch of the agent's own; otherwise it runs where it is started. */
  readonly worktree: Pick<WorktreeWish, 'base' | 'dir' | 'copy' | 'setup'> | undefined
  /** Path of `session.cjs`. */
  readonly launcher: string
  readonly staleMinutes: number | undefined
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

export interface StartedRun {
  readonly runId: string
  readonly agentId: string
  readonly haid: string
  readonly project: string
  readonly worktree: AgentWorktree | undefined
  readonly session: StartedSession
  /** Gone when the run is closed. */
  readonly sheet: string
  readonly record: string
}
