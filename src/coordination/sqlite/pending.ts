// Entries on their way to a fleet's engine: on disk before they are first sent, so that whoever comes next can settle what became of them.
import { HeimdallError } from '../../errors.ts'
import { FLEET_SETTING } from '../membership.ts'
import type { Append } from '../shared-log.ts'
import type { LocalWrite } from './entry-draft.ts'
import type { Statements } from './statements.ts'

export interface Pending extends Append {
  /** For this machine alone, once the entry is accepted. */
  readonly local: readonly LocalWrite[]
  /** Of the process that sends it. Whoever gives up leaves it: then it is in doubt, and anybody's to settle. */
  readonly seat: number
}

/** Nobody's. */
const LEFT = 0

const PREFIX = `${FLEET_SETTING}:pending:`

/** Of all processes of this machine, the oldest first. */
export function pendingIn(sql: Statements): Pending[] {
  return sql
    .all(`SELECT value FROM local_settings WHERE key GLOB '${PREFIX}*' ORDER BY key`)
    .map(({ value }) => JSON.parse(String(value)) as Pending)
}

export function putPending(sql: Statements, pending: Pending): void {
  sql.run(
    'INSERT INTO local_settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2',
    PREFIX + pending.id,
    JSON.stringify(pending),
  )
}

export function leavePending(sql: Statements, pending: Pending): void {
  putPending(sql, { ...pending, seat: LEFT })
}

export function removePending(sql: Statements, id: string): void {
  sql.run('DELETE FROM local_settings WHERE key = ?', PREFIX + id)
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
