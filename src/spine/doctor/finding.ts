// What a check of `heimdall doctor` gets and returns.
import type { Clock } from '../../clock.ts'
import type { Env } from '../../paths.ts'

export interface DoctorContext {
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
  /** `--config`. */
  readonly configFile: string | undefined
}

export interface DoctorFinding {
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** The command or step that repairs it. */
  readonly fix: string | null
  /** What --fix does: only repairs that need no decision and lose nothing. */
  readonly mend?: () => void | Promise<void>
}

export const ok = (found: string): DoctorFinding => ({ state: 'ok', found, fix: null })
