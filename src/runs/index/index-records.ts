// How far the index has read each record, and how it knows that it is still the same one.
import { hash } from 'node:crypto'
import fs from 'node:fs'
import { INDEX_BAD_LINES_KEPT, INDEX_MARK_BYTES } from '../../limits.ts'
import type { Database, Statement } from '../../storage/sqlite.ts'
import type { PassedOver } from '../record-reader.ts'
import { TEXT_PARTS } from './index-schema.ts'

export interface IndexRecord {
  readonly id: number
  /** Of the run's folder. */
  readonly name: string
  readonly inode: number
  readonly changed_ms: number
  /** Of what was read, see `markOf`. */
  readonly mark: string
  /** Where reading goes on. */
  readonly next: number
  /** How large the record was when all that could be read of it was read: a torn end is not something that is missing. */
  readonly looked_at: number
  readonly events: number
  readonly bad_lines: number
  readonly newer_events: number
}

export type ReadSoFar = Omit<IndexRecord, 'id' | 'name'>

/**
 * A hash over how the record begins and over what stands before the place up to which it was read. Inodes are used again, so
 * a run that was pruned and begun anew may have the old one; and one that was cut may have grown past that place since.
 */
export function markOf(path: string, next: number): string {
  const fd = fs.openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(2 * INDEX_MARK_BYTES)
    const length = Math.min(next, INDEX_MARK_BYTES)
    const head = fs.readSync(fd, bytes, 0, length, 0)
    const tail = fs.readSync(fd, bytes, head, length, next - length)
    return hash('sha256', bytes.subarray(0, head + tail), 'hex')
  } finally {
    fs.closeSync(fd)
  }
}

export class IndexRecords {
  readonly #db: Database
  readonly #all: Statement
  readonly #find: Statement

  constructor(db: Database) {
    this.#db = db
    this.#all = db.prepare('SELECT * FROM records')
    this.#find = db.prepare('SELECT * FROM records WHERE name = ?')
  }

  all(): readonly IndexRecord[] {
    return this.#all.all() as IndexRecord[]
  }

  find(name: string): IndexRecord | undefined {
    return this.#find.get(name) as IndexRecord | undefined
  }

  add(name: string): IndexRecord {
    this.#db.prepare("INSERT INTO records VALUES (NULL, ?, 0, 0, '', 0, 0, 0, 0, 0)").run(name)
    return this.find(name) as IndexRecord
  }

  save(id: number, read: ReadSoFar): void {
    this.#db
      .prepare(
        'UPDATE records SET inode = ?, changed_ms = ?, mark = ?, next = ?, looked_at = ?, events = ?, bad_lines = ?, newer_events = ? WHERE id = ?',
      )
      .run(
        read.inode,
        read.changed_ms,
        read.mark,
        read.next,
        read.looked_at,
        read.events,
        read.bad_lines,
        read.newer_events,
        id,
      )
  }

  setAside(id: number, lines: readonly PassedOver[]): void {
    const { count } = this.#db.prepare('SELECT count(*) AS count FROM bad_lines WHERE record = ?').get(id) as {
      count: number
    }
    const add = this.#db.prepare('INSERT OR IGNORE INTO bad_lines VALUES (?, ?, ?)')
    for (const { at, bytes } of lines.slice(0, Math.max(0, INDEX_BAD_LINES_KEPT - count))) add.run(id, at, bytes)
  }

  /** All that came from the record. */
  remove(id: number): void {
    const ofRecord = 'run IN (SELECT id FROM runs WHERE record = ?)'
    for (let part = 0; part < TEXT_PARTS; part += 1)
      this.#db
        .prepare(
          `DELETE FROM texts WHERE rowid IN (SELECT id * ${TEXT_PARTS} + ${part} FROM entries WHERE ${ofRecord})`,
        )
        .run(id)
    this.#db.prepare(`DELETE FROM entries WHERE ${ofRecord}`).run(id)
    for (const table of ['runs', 'bad_lines']) this.#db.prepare(`DELETE FROM ${table} WHERE record = ?`).run(id)
    this.#db.prepare('DELETE FROM records WHERE id = ?').run(id)
  }
}
