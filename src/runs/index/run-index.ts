// The run index: one database over all records of runs, made from them alone.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { INDEX_BAD_LINES_KEPT, INDEX_BATCH_BYTES } from '../../limits.ts'
import { type Database, openDatabase, openScratchDatabase } from '../../storage/sqlite.ts'
import { onDisk } from '../../storage/faults.ts'
import type { PassedOver, RecordReader } from '../record-reader.ts'
import { EntryWriter } from './entry-writer.ts'
import { recordOnDisk } from '../record-on-disk.ts'
import { type IndexRecord, IndexRecords, markOf } from './index-records.ts'
import { INDEX_MIGRATIONS } from './index-schema.ts'
import { Words } from './name-numbers.ts'

export const indexPath = (runsDir: string): string => join(dirname(runsDir), 'runs.db')

export class RunIndex {
  readonly db: Database
  readonly words: Words
  readonly records: IndexRecords

  constructor(db: Database) {
    this.db = db
    this.words = new Words(db)
    this.records = new IndexRecords(db)
  }

  /**
   * Takes up to a batch of what a record has beyond what was read, in one transaction with how far that is: each event
   * goes in once, whenever the process is killed. Returns the bytes that were read; 0 when there is no more for now.
   */
  takeFrom(reader: RecordReader, path: string, { id, name }: Pick<IndexRecord, 'id' | 'name'>): number | 'gone' {
    try {
      return this.db.transaction(() => this.#take(reader, path, id, name))
    } catch (error) {
      this.words.forget()
      if (error === GONE) return 'gone'
      throw error
    }
  }

  #take(reader: RecordReader, path: string, id: number, name: string): number {
    const before = this.records.find(name)
    const disk = recordOnDisk(path)
    if (before === undefined || disk === undefined) throw GONE
    const writer = new EntryWriter(this.db, this.words, { id, name, atMs: disk.changedMs })
    const setAside: PassedOver[] = []
    let passedOver = 0
    const passOver = (line: PassedOver): void => {
      passedOver += 1
      if (setAside.length < INDEX_BAD_LINES_KEPT) setAside.push(line)
    }
    const from = reader.offset
    let isAtEnd = false
    while (reader.offset - from < INDEX_BATCH_BYTES && !isAtEnd) {
      const lines = reader.read(passOver)
      if (lines === 'gone') throw GONE
      isAtEnd = lines.length === 0
      for (const line of lines) writer.take(line)
    }
    writer.finish()
    this.records.setAside(id, setAside)
    const next = reader.offset
    this.records.save(id, {
      inode: disk.inode,
      changed_ms: disk.changedMs,
      mark: next === before.next && next > 0 ? before.mark : markOf(path, next),
      next,
      // Asked for before it was read: what came meanwhile is for the next time.
      looked_at: isAtEnd && !reader.isBusy ? Math.max(disk.bytes, next) : next,
      events: before.events + writer.events,
      bad_lines: before.bad_lines + passedOver,
      newer_events: before.newer_events + writer.newerEvents,
    })
    return isAtEnd ? 0 : next - from
  }

  close(): void {
    this.db.close()
  }
}

/** Thrown out of a transaction, so that nothing of a record that is no more stays in it. */
const GONE = new Error('the record is gone')

/** Opens the index to be written to; nobody else may do so at the same time. */
export function openIndex(path: string, note: (line: string) => void): RunIndex {
  const open = (): RunIndex => {
    const db = openDatabase(path, { migrations: INDEX_MIGRATIONS })
    // What a power cut takes from a derived database is read again. The pages that a batch changes stay in memory until it is committed.
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4096')
    return new RunIndex(db)
  }
  try {
    return open()
  } catch (error) {
    if (!isUseless(error)) throw error
    setAside(path)
    note(`the run index was of no use and is made anew from the records: ${error.message}`)
    return open()
  }
}

/** Opens the index to read; nothing where there is none that can be read. */
export function openIndexToRead(path: string): RunIndex | undefined {
  if (!existsSync(path)) return undefined
  try {
    const db = openDatabase(path, { migrations: INDEX_MIGRATIONS, readOnly: true })
    // Of an older version, which only somebody who writes to it can bring up to ours.
    const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
    if (version === INDEX_MIGRATIONS.length) return new RunIndex(db)
    db.close()
    return undefined
  } catch (error) {
    if (!isUseless(error)) throw error
    return undefined
  }
}

/** An index of one file that lies outside all runs; nobody keeps it. */
export function scratchIndex(): RunIndex {
  return new RunIndex(openScratchDatabase({ migrations: INDEX_MIGRATIONS }))
}

/** The index is broken, or of a version that this program does not know: nothing is lost with it. */
export function isUseless(error: unknown): error is HeimdallError {
  return error instanceof HeimdallError && (error.code === 'STORE_CORRUPT' || error.code === 'STORE_NEWER')
}

const BESIDE = ['', '-wal', '-shm']

/** Nothing is lost with it: everything in it stands in the records. */
export function removeIndex(path: string): void {
  onDisk(path, () => {
    for (const end of BESIDE) rmSync(`${path}${end}`, { force: true })
  })
}

/** Kept until the next one is set aside, in case that somebody wants to know what went wrong. */
export function setAside(path: string): void {
  onDisk(path, () => {
    for (const end of BESIDE) {
      rmSync(`${path}.old${end}`, { force: true })
      if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${path}.old${end}`)
    }
  })
}
