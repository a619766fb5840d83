// The record of a session's end on disk: written when the child has ended, and again when more is known.
import type { Clock } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { replaceFile } from '../storage/atomic-file.ts'
import { encodeExitRecord } from '../wire/exit-record.ts'
import type { Holder } from '../wire/pid-file.ts'
import type { SessionAct } from '../wire/session-acts.ts'
import type { SessionOptions } from '../wire/session-options.ts'
import type { ChildEnd } from './child.ts'
import type { SessionLog } from './session-log.ts'
import type { SessionName } from './session-name.ts'

export interface ExitFileParts {
  readonly options: SessionOptions
  readonly name: SessionName
  readonly holder: Holder
  readonly clock: Clock
  readonly log: SessionLog
}

/** What only the session knows of its end. */
export interface EndedSession {
  readonly pid: number
  readonly outputBytes: number
  readonly endedBy: string | undefined
  readonly acts: readonly SessionAct[]
}

/** `swept`: how many more processes of the tree had to be ended. */
export function writeExitFile(parts: ExitFileParts, session: EndedSession, end: ChildEnd, swept: number): void {
  const { options, name, holder, clock, log } = parts
  try {
    replaceFile(
      name.paths.exit,
      encodeExitRecord({
        id: name.id,
        exit_code: end.code,
        signal: end.signal,
        reason: end.reason,
        pid: session.pid,
        supervisor_pid: process.pid,
        command: options.shownCommand ?? options.command,
        cwd: options.cwd,
        started_at: new Date(holder.startedAtMs ?? 0).toISOString(),
        ended_at: new Date(clock.wallMs()).toISOString(),
        output_bytes: session.outputBytes,
        swept,
        ended_by: session.endedBy ?? null,
        ...(session.acts.length > 0 && { acts: session.acts }),
      }),
    )
  } catch (error) {
    // A full disk, a folder that was removed: the session ends all the same, and clients are told how.
    if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
    log.write('error', 'session', `no exit record: ${error.message}`)
  }
}
