// How the session of an agent ended, as the watcher says in SESSION_END, which outlives the session's own exit record.
import type { StoredEvent } from '../store.ts'

export interface SessionOutcome {
  readonly status: string
  readonly exit_code: number | null
}

/** Its command never ran. */
export const NOT_STARTED: SessionOutcome = { status: 'NOT_STARTED', exit_code: null }

/** By HAID and epoch; nothing of sessions that ended without the watcher's word. */
export function outcomesIn(events: readonly StoredEvent[]): ReadonlyMap<string, SessionOutcome> {
  return new Map(
    events.flatMap(({ payload: { haid, epoch, status, exit_code: code } }) =>
      typeof status === 'string'
        ? [[`${String(haid)} ${String(epoch)}`, { status, exit_code: typeof code === 'number' ? code : null }]]
        : [],
    ),
  )
}
