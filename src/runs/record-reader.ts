// Reads a record that others are writing: from an offset on, each line that is there to stay, once.
import fs from 'node:fs'
import { dirname } from 'node:path'
import { isErrno } from '../errors.ts'
import { checkOwnFolder } from '../own-folder.ts'
import { RECORD_LINE_BYTES_MAX } from '../limits.ts'
import { openOwnFile } from '../storage/plain-file.ts'
import { trySharedLock, unlock } from '../storage/kernel-lock.ts'
import { parseEvent, type TypedEvent } from './recorded-event.ts'
import { recordPath } from './run-log.ts'

const NEWLINE = 0x0a
/** How often the lock is tried before a reader says that the record is busy. */
const LOCK_TRIES = 100
/** And how often a busy record is read before a command goes on with what it has. */
const BUSY_READS = 50

export interface RecordLine {
  readonly event: TypedEvent
  readonly text: string
  /** Where the line ends, and a reader that has dealt with it begins the next time. */
  readonly end: number
  /** Its length in the record, with its newline. */
  readonly bytes: number
}

/** A line that is no event. */
export interface PassedOver {
  readonly at: number
  readonly bytes: number
}

/**
 * A writer that meets a full disk takes back what it has written of a batch, so not all that can be read is there to
 * stay. When no process holds the record's lock all of it is, since only the holder of the lock cuts. What was torn by a
 * kill, or is no event, is passed over.
 */
export class RecordReader {
  readonly #path: string
  readonly #isOwn: boolean
  #fd: number | null = null
  #offset: number
  #isBusy = false
  /** Where a line began that is too long to be an event, and whose end has not come yet. */
  #longSince: number | null = null

  constructor(runDir: string, from = 0, file?: string) {
    this.#path = file ?? recordPath(runDir)
    this.#isOwn = file === undefined
    this.#offset = from
  }

  /** A file of events outside all runs: what a shim was told to write to, or a copy. */
  static ofFile(path: string): RecordReader {
    return new RecordReader('', 0, path)
  }

  /** Up to here everything was seen. */
  get offset(): number {
    return this.#longSince ?? this.#offset
  }

  /** There is more in the record, of which nobody can tell yet whether it stays: somebody is writing. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /**
   * The next lines, some at a time; none when there is nothing new. `gone` when this record is no more: removed, or cut
   * below the offset. `onPassedOver` hears of each line that is no event.
   */
  read(onPassedOver?: (line: PassedOver) => void): readonly RecordLine[] | 'gone' {
    const stays = this.#bytesThatStay()
    if (stays === undefined) return 'gone'
    const lines: RecordLine[] = []
    while (lines.length === 0 && this.#offset < stays) if (!this.#readBlock(stays, lines, onPassedOver)) break
    return lines
  }

  /** All that stands there now. */
  *rest(): Generator<RecordLine> {
    for (let tries = BUSY_READS; tries > 0;) {
      const lines = this.read()
      if (lines === 'gone') return
      yield* lines
      if (lines.length > 0) continue
      if (!this.#isBusy) return
      tries -= 1
    }
  }

  close(): void {
    if (this.#fd !== null) fs.closeSync(this.#fd)
    this.#fd = null
  }

  /** False when the rest is a line that has no end yet. */
  #readBlock(stays: number, lines: RecordLine[], onPassedOver?: (line: PassedOver) => void): boolean {
    const length = Math.min(stays - this.#offset, RECORD_LINE_BYTES_MAX)
    const block = Buffer.alloc(length)
    const bytes = block.subarray(0, fs.readSync(this.#fd as number, block, 0, length, this.#offset))
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      const at = this.#longSince ?? this.#offset + from
      const next = this.#offset + end + 1
      const text = this.#longSince === null ? bytes.toString('utf8', from, end) : undefined
      const event = text === undefined ? undefined : parseEvent(text)
      if (text !== undefined && typeof event?.type === 'string')
        lines.push({ event: event as RecordLine['event'], text, end: next, bytes: next - at })
      // A torn tail that two writers have closed leaves an empty line, which is nothing lost.
      else if (text !== '') onPassedOver?.({ at, bytes: next - at })
      this.#longSince = null
      from = end + 1
    }
    if (from === 0 && bytes.length < RECORD_LINE_BYTES_MAX && this.#longSince === null) return false
    if (from === 0) {
      this.#longSince ??= this.#offset
      from = bytes.length
    }
    this.#offset += from
    return from > 0
  }

  #bytesThatStay(): number | undefined {
    const path = this.#path
    try {
      this.#fd ??= this.#opened()
      const { ino } = fs.statSync(path)
      if (fs.fstatSync(this.#fd).ino !== ino) return undefined
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    const size = fs.fstatSync(this.#fd).size
    if (size < this.#offset) return undefined
    if (size === this.#offset) {
      this.#isBusy = false
      return size
    }
    this.#isBusy = !this.#hasLock(this.#fd)
    if (this.#isBusy) return this.#offset
    try {
      return fs.fstatSync(this.#fd).size
    } finally {
      unlock(this.#fd)
    }
  }

  /** A writer is done in some hundred microseconds. */
  #hasLock(fd: number): boolean {
    for (let tries = LOCK_TRIES; tries > 0; tries -= 1) if (trySharedLock(fd)) return true
    return false
  }

  /** A record of a run is its user's alone; a file that was named may be anyone's. */
  #opened(): number {
    if (!this.#isOwn) return fs.openSync(this.#path, 'r')
    checkOwnFolder(dirname(this.#path))
    return openOwnFile(this.#path, fs.constants.O_RDONLY)
  }
}
