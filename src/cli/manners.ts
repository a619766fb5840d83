// Where the output of a seed's launcher differs from ours: error codes, exit codes, JSON layout.
import { EXIT, type ErrorCode, type HeimdallError } from '../errors.ts'

export interface Manners {
  /** `bb agent reserve` calls itself `agent reserve` in its envelope. */
  readonly dropsLauncherName?: true
  readonly jsonIndent?: number
  readonly alwaysJson?: true
  /** The JSON of a failure, where it is not the common envelope. */
  readonly failureJson?: (error: Readonly<Record<string, unknown>>) => object
  /** Our error code to the seed's, where the seed has its own. */
  readonly errorCodes?: Partial<Record<ErrorCode, string>>
  /** Exit codes that this launcher alone has. */
  readonly exits?: Partial<Record<ErrorCode, number>>
  readonly errorExit?: (exit: number) => number
  readonly errorLine?: (code: string, message: string) => string
}

// Seed 000's launchers exit with 0 to 3, and 3 is a collision, a revoked identity or an unreadable store.
const seedExit = (exit: number): number => (exit < 3 || exit >= EXIT.notRunnable ? exit : EXIT.usage)

// For these launchers 3 means that a store cannot be read.
const BRIEFING: Manners = { exits: { STORE_CORRUPT: 3, STORE_UNREADABLE: 3 }, errorExit: seedExit }

export const MANNERS: Readonly<Record<string, Manners>> = {
  bb: {
    dropsLauncherName: true,
    jsonIndent: 2,
    errorCodes: {
      USAGE: 'CLI_ERROR',
      INTERNAL: 'INTERNAL_ERROR',
      SCOPE_INVALID: 'INVALID_ARGS',
      PATH_OUTSIDE_ROOT: 'INVALID_ARGS',
    },
    errorExit: () => 1,
    errorLine: (code, message) => `Error: [${code}] ${message}`,
  },
  'bb-init': {
    jsonIndent: 2,
    alwaysJson: true,
    errorCodes: { USAGE: 'INIT_FAILED', INTERNAL: 'INIT_FAILED' },
    errorExit: () => 1,
    // Seed 002 §7: a failure comes with a recommendation, also when the store was never opened.
    failureJson: ({ recommendation, ...error }) => ({
      ok: false,
      error,
      recommendation: recommendation ?? {
        action: 'register',
        command: 'bb-init --register NAME --json',
        reason: error['message'],
      },
    }),
  },
  'heimdall-blackboard': BRIEFING,
  'heimdall-brief': BRIEFING,
  'heimdall-capsule': BRIEFING,
  'heimdall-gate': BRIEFING,
  'heimdall-ledger': BRIEFING,
  'heimdall-protocol': BRIEFING,
  'heimdall-resolve': BRIEFING,
  'heimdall-task-result': BRIEFING,
  'heimdall-validate': BRIEFING,
  'heimdall-claim': { errorExit: seedExit },
  'heimdall-haid': { errorExit: seedExit },
}

export function mannersOf(calledAs: string): Manners {
  return MANNERS[calledAs.split(' ')[0] ?? ''] ?? {}
}

/** The exit code of a command that ended with this error, by the name that it was called by. */
export function exitOf(error: HeimdallError, calledAs: string, isSeedName: boolean): number {
  const { exits, errorExit } = mannersOf(calledAs)
  const { exit, seedExit } = error.entry
  const usual = isSeedName ? (seedExit ?? exit) : exit
  return exits?.[error.code] ?? errorExit?.(usual) ?? usual
}
