// The entry that is on its way to a fleet's engine: on disk before it is first sent, so that whoever comes next can settle what became of it.
import { HeimdallError } from '../../errors.ts'
import type { Append } from '../shared-log.ts'
import type { LocalWrite } from './entry-draft.ts'
import type { Statements } from './statements.ts'

export interface Pending extends Append {
  /** For this machine alone, once the entry is accepted. */
  readonly local: readonly LocalWrite[]
}

const KEY = 'fleet:pending'

export function pendingIn(sql: Statements): Pending | undefined {
  const row = sql.one('SELECT value FROM local_settings WHERE key = ?', KEY)
  return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Pending)
}

export function putPending(sql: Statements, pending: Pending): void {
  sql.run('INSERT INTO local_settings (key, value) VALUES (?, ?)', KEY, JSON.stringify(pending))
}

export function removePending(sql: Statements): void {
  sql.run('DELETE FROM local_settings WHERE key = ?', KEY)
}

export function unknownOutcome(id: string, cause: unknown): HeimdallError {
  return new HeimdallError(
    'OUTCOME_UNKNOWN',
    `what became of entry ${id} is not known: the fleet's engine did not answer`,
    {
      hint: 'run any command when it is back: that settles it first; heimdall fleet status shows it',
      details: { entry: id },
      cause,
    },
  )
}
