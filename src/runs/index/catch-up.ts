// Brings the index up to date with the records, and says how far behind it is. One process at a time does so; the others answer from what is there.
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { INDEX_LOCK_MS } from '../../limits.ts'
import { ensureFolder } from '../../storage/atomic-file.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import { namesInIfFolder } from '../../storage/folder-names.ts'
import { RecordReader } from '../record-reader.ts'
import { isRun } from '../run-folder.ts'
import { recordPath } from '../run-log.ts'
import { type RecordOnDisk, recordOnDisk } from '../record-on-disk.ts'
import { type IndexRecord, markOf } from './index-records.ts'
import { indexPath, isUseless, openIndex, removeIndex, type RunIndex, setAside } from './run-index.ts'

export interface Behind {
  /** Bytes of records that are not in the index yet. */
  readonly bytes: number
  /** Records that they are in. */
  readonly runs: number
}

export interface Progress {
  readonly runs: number
  readonly runsInAll: number
  readonly bytes: number
  readonly bytesInAll: number
}

export interface CatchingUp {
  readonly runsDir: string
  readonly clock: Clock
  readonly note: (line: string) => void
  /** How long it may take; nothing for as long as it takes. */
  readonly forMs?: number
  /** How long to wait for another process that does the same. */
  readonly waitMs?: number
  /** From nothing, whatever is there. */
  readonly anew?: boolean
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
}

/** False when another process is at it. */
export async function catchUp(options: CatchingUp): Promise<boolean> {
  const { runsDir, clock, note, waitMs = INDEX_LOCK_MS } = options
  const path = indexPath(runsDir)
  ensureFolder(join(runsDir, '..'))
  const attempt = async (): Promise<void> => {
    const index = openIndex(path, note)
    try {
      await readRecords(index, options)
    } finally {
      index.close()
    }
  }
  try {
    await withFileLock(
      path,
      async () => {
        if (options.anew === true) removeIndex(path)
        try {
          await attempt()
        } catch (error) {
          // It was found to be broken only when it was written to.
          if (!isUseless(error)) throw error
          setAside(path)
          note(`the run index was of no use and is made anew from the records: ${error.message}`)
          await attempt()
        }
      },
      { waitMs, clock },
    )
    return true
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'STORE_BUSY') return false
    throw error
  }
}

/** How much of the records is not in the index. */
export function behindOf(index: RunIndex | undefined, runsDir: string): Behind {
  const known = new Map(index?.records.all().map((record) => [record.name, record]))
  let bytes = 0
  let runs = 0
  for (const { name, disk } of recordsIn(runsDir)) {
    const record = known.get(name)
    if (record === undefined && !isRun(join(runsDir, name))) continue
    const missing = disk.bytes - (record !== undefined && isSame(record, disk) ? record.looked_at : 0)
    if (missing <= 0) continue
    bytes += missing
    runs += 1
  }
  return { bytes, runs }
}

interface Pending {
  readonly name: string
  readonly disk: RecordOnDisk
  readonly bytes: number
}

async function readRecords(index: RunIndex, { runsDir, clock, forMs, onProgress, signal }: CatchingUp): Promise<void> {
  const deadlineMs = clock.monoMs() + (forMs ?? Infinity)
  const pending = pendingIn(index, runsDir)
  const bytesInAll = pending.reduce((sum, { bytes }) => sum + bytes, 0)
  let bytes = 0
  for (const [runs, { name }] of pending.entries()) {
    for (const read of readRecord(index, runsDir, name)) {
      bytes += read
      onProgress?.({ runs, runsInAll: pending.length, bytes, bytesInAll })
      if (clock.monoMs() >= deadlineMs || signal?.aborted === true) return
      // Signals and timers get a turn between transactions.
      await new Promise(setImmediate)
    }
  }
  if (pending.length > 0) index.db.exec('PRAGMA optimize')
}

/** Forgets records that are gone, and lists those that have more to read, the latest first: they are asked for most. */
function pendingIn(index: RunIndex, runsDir: string): readonly Pending[] {
  const known = new Map(index.records.all().map((record) => [record.name, record]))
  const pending: Pending[] = []
  for (const { name, disk } of recordsIn(runsDir)) {
    const record = known.get(name)
    if (record !== undefined && isUnchanged(record, disk)) known.delete(name)
    else if (isRun(join(runsDir, name))) {
      known.delete(name)
      const from = record !== undefined && isSame(record, disk) ? record.next : 0
      pending.push({ name, disk, bytes: disk.bytes - from })
    }
  }
  for (const { id } of known.values()) index.db.transaction(() => index.records.remove(id))
  return pending.toSorted((a, b) => b.disk.changedMs - a.disk.changedMs)
}

/** One transaction after another; each gives the bytes that it took. */
function* readRecord(index: RunIndex, runsDir: string, name: string): Generator<number> {
  const path = recordPath(join(runsDir, name))
  const record = index.db.transaction(() => current(index, name, path))
  if (record === undefined) return
  const reader = new RecordReader(join(runsDir, name), record.next)
  try {
    for (;;) {
      const bytes = index.takeFrom(reader, path, record)
      // Whatever has taken its place is read from its beginning the next time.
      if (bytes === 'gone') return
      yield bytes
      if (bytes === 0) return
    }
  } finally {
    reader.close()
  }
}

/** The record as the index has it; anew where another one has taken its place. */
function current(index: RunIndex, name: string, path: string): IndexRecord | undefined {
  const disk = recordOnDisk(path)
  if (disk === undefined) return undefined
  const record = index.records.find(name)
  if (record === undefined) return index.records.add(name)
  if (isSame(record, disk) && markOf(path, record.next) === record.mark) return record
  index.records.remove(record.id)
  return index.records.add(name)
}

/** Nothing was written since all of it was read. */
function isUnchanged(record: IndexRecord, disk: RecordOnDisk): boolean {
  return isSame(record, disk) && record.looked_at === disk.bytes && record.changed_ms === disk.changedMs
}

/** As far as can be told without reading: not another file, and not cut. */
function isSame({ inode, next }: IndexRecord, disk: RecordOnDisk): boolean {
  return (next === 0 || inode === disk.inode) && next <= disk.bytes
}

function* recordsIn(runsDir: string): Generator<{ readonly name: string; readonly disk: RecordOnDisk }> {
  for (const name of namesInIfFolder(runsDir)) {
    const disk = name.startsWith('.') ? undefined : recordOnDisk(recordPath(join(runsDir, name)))
    if (disk !== undefined) yield { name, disk }
  }
}
