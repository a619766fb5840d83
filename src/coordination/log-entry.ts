// An entry: what one change put and recorded, whole. Entries in order are enough to make every shared row again.
import type { StoredEvent } from './store.ts'

/** A row of a table, by column. */
export type Row = Readonly<Record<string, string | number | null>>

/**
 * Tables that every machine of a team has alike, and the column that a row is known by. All other tables are local:
 * what one machine alone can know (its boot and monotonic readings, processes, paths, what it has seen of others)
 * never stands in an entry, because two machines would overwrite each other with it at every change.
 */
export const SHARED_TABLES = {
  settings: 'key',
  agents: 'haid',
  claims: 'epoch',
  notes: 'number',
  incursions: 'pair',
  tickets: 'ticket',
  tasks: 'task_id',
  contracts: 'task_id',
  workers: 'worker_id',
  attempts: 'attempt_id',
  token_reservations: 'reservation_id',
  assignments: 'assignment_id',
} as const

export type SharedTable = keyof typeof SHARED_TABLES

/** The row with the key and the numbers that it was given, or the key of one that is gone. */
export type Put =
  | { readonly table: SharedTable; readonly row: Row }
  | { readonly table: SharedTable; readonly removed: string | number }

/** Who made a change, as far as it is known: the agent is proved, session and run are what the caller was started in. */
export interface Author {
  readonly haid: string | null
  readonly sessionId: string | null
  readonly runId: string | null
}

export interface Entry {
  /** Dense, from 1: the only order of changes. */
  readonly seq: number
  readonly id: string
  readonly wallMs: number
  readonly author: Author
  readonly puts: readonly Put[]
  /** With sequence numbers of their own. */
  readonly events: readonly StoredEvent[]
}
