// Everything that a look at a fleet has found, before anything is made of it.
import type { Project } from '../../paths.ts'
import type { Request } from '../../runs/approvals.ts'
import type { ExitRecord } from '../../sessions/keeper.ts'
import type { KeptRun } from '../kept-run.ts'
import type { Fleet, Guard, TokenTotals } from './fleet.ts'
import type { KnownAgents } from './known-agents.ts'

/** What a session says of itself when it is asked. */
export interface AskedSession {
  readonly state: string
  readonly state_ms: number
  readonly needs_input: { readonly value: boolean; readonly source: string; readonly evidence: string | null }
  readonly title: string
  readonly idle_ms: number
  readonly last_line?: string
  /** How long a person has been waited for; sessions of an older version do not tell. */
  readonly needs_input_ms?: number | null
}

export interface RunFact {
  readonly run: KeptRun
  /** Its supervisor was killed: the pids that still run. Undefined of a run that goes on. */
  readonly lost: readonly number[] | undefined
  /** Of one whose session is over and that the watcher has not closed yet: how the session ended, where it says so itself. */
  readonly exit: ExitRecord | undefined
  /** Questions of its policy that nobody has answered. */
  readonly approvals: readonly Request[]
  /** Where sessions are asked, and this one has answered. */
  readonly asked: AskedSession | undefined
}

/** A session in a folder of the project that no run is around. */
export interface PlainSession extends AskedSession {
  readonly id: string
  readonly dir: string
  readonly cwd: string
  readonly command: readonly string[]
  readonly started_at: string
}

/** A server whose tools are not what a person knows. */
export interface ChangedTools {
  readonly server_name: string
  readonly since: string
  readonly changed: readonly string[]
  readonly added: readonly string[]
}

export interface FleetFacts {
  readonly project: Project
  readonly nowMs: number
  readonly known: KnownAgents
  readonly runs: readonly RunFact[]
  readonly sessions: readonly PlainSession[]
  readonly tools: readonly ChangedTools[]
  /** Open questions of policy in runs that `heimdall run` did not start. */
  readonly approvals: readonly Request[]
  /** How sessions of agents ended that are over, by HAID. */
  readonly endings: ReadonlyMap<string, ExitRecord>
  /** By agent; nothing where sessions were not asked. */
  readonly guards: ReadonlyMap<string, Guard> | undefined
  /** By run. */
  readonly tokens: ReadonlyMap<string, TokenTotals>
  readonly tokensInAll: TokenTotals | null
  /** Until when a wait is snoozed, by its id. */
  readonly snoozed: ReadonlyMap<string, number>
  readonly missing: Fleet['missing']
}
