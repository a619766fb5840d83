// What a change has put and recorded so far: the entry that it will be committed as.
import { type Put, type Row, SHARED_TABLES, type SharedTable } from '../log-entry.ts'
import type { Value } from './statements.ts'

/** A statement and its values. */
export type LocalWrite = readonly [sql: string, ...values: Value[]]

export class EntryDraft {
  haid: string | null = null
  firstEvent: number | null = null
  lastEvent: number | null = null
  /** What it has written for this machine alone: a member of a fleet does it once more when the entry is accepted. */
  readonly local: LocalWrite[] = []
  /** Who has shown to be alive: agents by HAID, waiters as `ticket:N`. */
  readonly signs = new Set<string>()
  /** A row that is put twice stays at its first place, with its last content: what refers to it comes after it. */
  readonly #puts = new Map<string, Put>()

  put(table: SharedTable, row: Row): void {
    this.#puts.set(`${table} ${row[SHARED_TABLES[table]]}`, { table, row })
  }

  remove(table: SharedTable, key: string | number): void {
    this.#puts.set(`${table} ${key}`, { table, removed: key })
  }

  event(seq: number): void {
    this.firstEvent ??= seq
    this.lastEvent = seq
  }

  get puts(): readonly Put[] {
    return [...this.#puts.values()]
  }

  get isEmpty(): boolean {
    return this.#puts.size === 0 && this.firstEvent === null
  }
}
