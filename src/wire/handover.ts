// What the starter of a session and its process tell each other: options one way, readiness or the reason of failure the other. Pure.
import { type ErrorCode, HeimdallError } from '../errors.ts'
import type { Holder } from './pid-file.ts'
import { isRequest, resolveOptions, type SessionOptions, type SessionRequest } from './session-options.ts'

/** The options of a session, and what its pid file says: its starter took the id for it. */
export interface Handover {
  readonly options: SessionOptions
  readonly holder: Holder
}

/** One line on the standard input of the session's process: nothing of it shows in argv or stays on disk. */
export function encodeHandover({ options, holder }: Handover): string {
  return `${JSON.stringify({ ...options, holder })}\n`
}

export function parseHandover(line: string): Handover {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new HeimdallError('SESSION_OPTIONS_INVALID', 'the options of the session are not JSON', { cause: error })
  }
  if (!isRequest(value)) throw invalid('the options of the session lack id, socketDir, command or cwd')
  const { holder, ...request } = value as SessionRequest & { readonly holder?: Holder }
  if (holder === undefined) throw invalid('nobody has taken the id for this process')
  return { options: resolveOptions(request), holder }
}

const invalid = (problem: string): HeimdallError => new HeimdallError('SESSION_OPTIONS_INVALID', problem)

export interface StartedSession {
  readonly id: string
  readonly socket: string
  readonly supervisor_pid: number
  readonly pid: number
}

/** What goes over the readiness pipe. */
export type Readiness =
  | { readonly ready: StartedSession }
  | {
      readonly error: {
        readonly code: ErrorCode
        readonly message: string
        readonly hint: string | undefined
        readonly details: Readonly<Record<string, unknown>> | undefined
      }
    }
