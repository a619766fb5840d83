// The record of a run that several processes write, and its fold: each batch is appended under a kernel lock, where calls get their numbers.
import fs from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import type { EventLines, QueuedEvent } from '../events/event-lines.ts'
import { CHECKPOINT_EVERY_BYTES, RECORD_LINE_BYTES_MAX, RECORD_TAIL_BYTES } from '../limits.ts'
import { checkOwnFolder } from '../own-folder.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { diskError, onDisk } from '../storage/faults.ts'
import { tryLock, unlock } from '../storage/kernel-lock.ts'
import { openOwnFile } from '../storage/plain-file.ts'
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { parseEvent, type RecordedEvent } from './recorded-event.ts'
import { RunFold } from './run-fold.ts'

const NEWLINE = 0x0a
const READ_BYTES = 1 << 20

export const recordPath = (runDir: string): string => join(runDir, 'events.jsonl')

function openRecord(runDir: string): number {
  const { O_APPEND, O_RDWR, O_CREAT } = fs.constants
  ensureFolder(runDir)
  checkOwnFolder(runDir)
  const path = recordPath(runDir)
  return onDisk(path, () => openOwnFile(path, O_RDWR | O_CREAT | O_APPEND))
}

/**
 * The record is the state. The fold is what its lines add up to, up to `#bytes`; the holder of the lock has read all of it,
 * so a number that stands in the record is never given again, and a token that was taken is gone for every process.
 */
export class RunLog {
  readonly path: string
  readonly #runDir: string
  #fd: number
  /** Bytes of the record that the fold covers. */
  #bytes = 0
  #fold = new RunFold()
  #isLoaded = false
  /** What is read from here on is new; the process that wrote it has seen to its checkpoint. */
  #isFollowing = false
  #isLocked = false
  /** All that was counted here is written. */
  #isAppended = false
  /** Bytes up to which a checkpoint is known to have been written. */
  #checkpointed = 0
  readonly #queued: () => readonly QueuedEvent[]

  /** `queued` are events that this process has counted and not written yet. */
  constructor(runDir: string, queued: () => readonly QueuedEvent[] = () => []) {
    this.path = recordPath(runDir)
    this.#runDir = runDir
    this.#queued = queued
    this.#fd = openRecord(runDir)
  }

  /** As of the last time the lock was held here, with what was counted here since. */
  get fold(): RunFold {
    return this.#fold
  }

  /** Bytes of the record when the lock was last held here. */
  get bytes(): number {
    return this.#bytes
  }

  /** Reads most of a long record without its lock, some at a time; true when little is left, or no whole line was found. */
  readAhead(): boolean {
    const { size } = fs.fstatSync(this.#fd)
    this.#load(size)
    const before = this.#bytes
    const end = size - RECORD_TAIL_BYTES
    if (before >= end) return true
    const to = Math.min(end, before + RECORD_TAIL_BYTES)
    this.#readUpTo(to)
    // What is read ends with a whole line, so a little of it may be left even at the end.
    return to === end || this.#bytes === before
  }

  /** Runs `act` with the record locked and read, or returns `undefined` when another process has it. Inside another `locked` it joins it. */
  locked<T>(act: (fold: RunFold) => T): T | undefined {
    if (this.#isLocked) return act(this.#fold)
    if (!tryLock(this.#fd)) return undefined
    const { size, nlink } = fs.fstatSync(this.#fd)
    if (nlink === 0) {
      // The run was pruned while we waited: what would be written to a file without a name is lost.
      unlock(this.#fd)
      // Where this fails, the descriptor stays that of the old record, and the next attempt comes here again.
      const fd = openRecord(this.#runDir)
      this.close()
      this.#fd = fd
      this.#isLoaded = false
      return this.locked(act)
    }
    this.#isLocked = true
    this.#isAppended = false
    try {
      this.#catchUp(size)
      return act(this.#fold)
    } finally {
      this.#isLocked = false
      unlock(this.#fd)
      this.#checkpointNowAndThen()
    }
  }

  /** Reads what others have appended, where that is something and the record is free. */
  refresh(): void {
    const { size, nlink } = fs.fstatSync(this.#fd)
    if (size !== this.#bytes || nlink === 0) this.locked(() => undefined)
  }

  /** Appends the lines, of which `counted` says that the fold has counted them; the lock must be held. */
  append(lines: EventLines, isCounted = false): Buffer {
    if (!this.#isLocked) throw new HeimdallError('INTERNAL', 'a record was written without its lock')
    const { events } = lines
    this.#fold.number(events)
    const bytes = lines.encode()
    try {
      this.#write(bytes)
    } catch (error) {
      throw diskError(this.path, error)
    }
    if (!isCounted) for (const event of events) this.#fold.count(event)
    this.#fold.written(events)
    this.#isAppended = true
    return bytes
  }

  /** Calls `visit` with each event of the record. */
  read(visit: (event: RecordedEvent) => void): void {
    this.#readLines(0, this.#bytes, (event) => {
      visit(event)
      return false
    })
  }

  /** The first event of the record for which `isWanted` is true; nothing after it is read. */
  first<T extends RecordedEvent>(isWanted: (event: RecordedEvent) => event is T): T | undefined {
    let found: T | undefined
    this.#readLines(0, this.#bytes, (event) => {
      if (isWanted(event)) found = event
      return found !== undefined
    })
    return found
  }

  /** Takes the record its name, wherever its folder is by now; the lock must be held. */
  removeAt(runDir: string): void {
    if (!this.#isLocked) throw new HeimdallError('INTERNAL', 'a record was removed without its lock')
    fs.unlinkSync(recordPath(runDir))
  }

  /** The run has ended, and commands that list it shall not have to read its record. */
  checkpoint(): void {
    this.#checkpointed = this.#bytes
    writeCheckpoint(this.#runDir, this.#fd, { bytes: this.#bytes, fold: this.#fold })
  }

  close(): void {
    fs.closeSync(this.#fd)
  }

  /** By the process whose write passes the mark: twenty shims do not write twenty checkpoints. */
  #checkpointNowAndThen(): void {
    if (this.#bytes - this.#checkpointed < CHECKPOINT_EVERY_BYTES) return
    // What this process has counted and not written is in no record.
    if (this.#isAppended || this.#queued().length === 0) this.checkpoint()
  }

  #write(bytes: Buffer): void {
    const start = this.#bytes
    try {
      for (let sent = 0; sent < bytes.length;) sent += fs.writeSync(this.#fd, bytes, sent)
      this.#bytes = start + bytes.length
    } catch (error) {
      // Other processes do not write while the lock is held, so what fitted of a batch can be taken back whole.
      fs.ftruncateSync(this.#fd, start)
      throw error
    }
  }

  #load(size: number): void {
    if (this.#isLoaded && size >= this.#bytes) return
    const checkpoint = readCheckpoint(this.#runDir, this.#fd)
    this.#fold = checkpoint?.fold ?? new RunFold()
    this.#bytes = checkpoint?.bytes ?? 0
    this.#checkpointed = this.#bytes
    this.#isLoaded = true
    this.#isFollowing = false
  }

  #catchUp(size: number): void {
    this.#load(size)
    if (this.#bytes !== size) this.#readUpTo(this.#sealTornTail(size))
    if (this.#isFollowing) return
    this.#isFollowing = true
    for (const event of this.#queued()) this.#fold.count(event)
  }

  #readUpTo(size: number): void {
    this.#bytes = this.#readLines(this.#bytes, size, (event) => {
      this.#fold.enterStored(event)
      return false
    })
    if (!this.#isFollowing) return
    const mark = Math.floor(this.#bytes / CHECKPOINT_EVERY_BYTES) * CHECKPOINT_EVERY_BYTES
    this.#checkpointed = Math.max(this.#checkpointed, mark)
  }

  #sealTornTail(size: number): number {
    const last = Buffer.alloc(1)
    fs.readSync(this.#fd, last, 0, 1, size - 1)
    if (last[0] === NEWLINE) return size
    fs.writeSync(this.#fd, '\n')
    return size + 1
  }

  /** Reads whole lines until `visit` returns true, and returns where the last one ends. A line that is too long to be an event is passed over. */
  #readLines(from: number, to: number, visit: (event: RecordedEvent) => boolean): number {
    const block = Buffer.alloc(Math.min(READ_BYTES, to - from))
    let carry: Buffer[] = []
    let lineStart = from
    for (let at = from; at < to;) {
      const bytes = block.subarray(0, fs.readSync(this.#fd, block, 0, Math.min(block.length, to - at), at))
      if (bytes.length === 0) break
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        const piece = bytes.subarray(start, end)
        start = end + 1
        const isLong = at + end - lineStart > RECORD_LINE_BYTES_MAX
        const line = carry.length === 0 ? piece : Buffer.concat([...carry, piece])
        const event = isLong ? undefined : parseEvent(line.toString())
        carry = []
        lineStart = at + start
        if (event !== undefined && visit(event)) return lineStart
      }
      at += bytes.length
      if (at - lineStart > RECORD_LINE_BYTES_MAX) carry = []
      else if (start < bytes.length) carry.push(Buffer.from(bytes.subarray(start)))
    }
    return lineStart
  }
}
