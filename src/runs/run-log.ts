// The record of a run that several processes write: each batch is appended under a kernel lock, where calls get their numbers.
import fs from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { checkOwnFolder } from '../own-folder.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { diskError, onDisk } from '../storage/faults.ts'
import { tryLock, unlock } from '../storage/kernel-lock.ts'
import { openOwnFile } from '../storage/plain-file.ts'
import type { EventLines } from '../events/event-lines.ts'
import { emptyBooks, enterQueued, enterStored, parseObject, type RunBooks } from './run-books.ts'

const NEWLINE = 0x0a
/** The books are one line of this length, rewritten in place: small enough to be written whole or not at all. */
const BOOKS_BYTES = 1_024
const READ_BYTES = 1 << 20
/** The books may be so far behind the record: whoever comes next reads that much, and no batch has to pay for them. */
const BOOKS_BEHIND_BYTES = 64 << 10

export const recordPath = (runDir: string): string => join(runDir, 'events.jsonl')

export const booksPath = (runDir: string): string => join(runDir, 'books.json')

function openFiles(runDir: string): { readonly record: number; readonly books: number } {
  const { O_APPEND } = fs.constants
  ensureFolder(runDir)
  checkOwnFolder(runDir)
  const record = openPlain(recordPath(runDir), O_APPEND)
  try {
    return { record, books: openPlain(booksPath(runDir), 0) }
  } catch (error) {
    fs.closeSync(record)
    throw error
  }
}

const openPlain = (path: string, flags: number): number =>
  onDisk(path, () => openOwnFile(path, fs.constants.O_RDWR | fs.constants.O_CREAT | flags))

/** The books as they were last saved; nothing when they are not whole. */
export function readBooks(fd: number): RunBooks | undefined {
  const bytes = Buffer.alloc(BOOKS_BYTES)
  const count = fs.readSync(fd, bytes, 0, BOOKS_BYTES, 0)
  if (count !== BOOKS_BYTES || bytes[BOOKS_BYTES - 1] !== NEWLINE) return undefined
  const books: Partial<RunBooks> | undefined = parseObject(bytes.toString())
  const isWhole = typeof books?.bytes === 'number' && typeof books.segment === 'number' && books.counts !== undefined
  return isWhole ? (books as RunBooks) : undefined
}

/**
 * The record is the truth, the books beside it a shortcut. Books that do not cover the whole record were left by a writer
 * that died between the two writes; whoever comes next reads the rest of the record and goes on from there. So a number
 * that stands in the record is never given again, and one that does not was never given.
 */
export class RunLog {
  readonly path: string
  readonly #runDir: string
  #fd: number
  #booksFd: number
  /** As they were when the lock was last held here, with what was written here since. */
  #books: RunBooks = emptyBooks()
  /** Bytes of the record that the stored books covered then. */
  #storedBytes = 0
  #isLocked = false

  constructor(runDir: string) {
    this.path = recordPath(runDir)
    this.#runDir = runDir
    const { record, books } = openFiles(runDir)
    this.#fd = record
    this.#booksFd = books
  }

  /** Runs `act` with the record locked, or returns `undefined` when another process has it. Inside another `locked` it joins it. */
  locked<T>(act: (books: RunBooks) => T): T | undefined {
    if (this.#isLocked) return act(this.#books)
    if (!tryLock(this.#fd)) return undefined
    const { size, nlink } = fs.fstatSync(this.#fd)
    if (nlink === 0) {
      // The run was pruned while we waited: what would be written to a file without a name is lost.
      this.close()
      const { record, books } = openFiles(this.#runDir)
      this.#fd = record
      this.#booksFd = books
      this.#books = emptyBooks()
      return this.locked(act)
    }
    this.#isLocked = true
    try {
      this.#catchUp(size)
      return act(this.#books)
    } finally {
      this.#isLocked = false
      unlock(this.#fd)
    }
  }

  /**
   * Appends lines of calls when nobody else has written since this was the last to write, and says nothing when that is
   * not so: numbers go on from ours, and the books can wait.
   */
  appendNext(lines: EventLines): Buffer | undefined {
    const { bytes, segment } = this.#books
    if (segment === 0 || bytes - this.#storedBytes >= BOOKS_BEHIND_BYTES || !tryLock(this.#fd)) return undefined
    try {
      return fs.fstatSync(this.#fd).size === bytes ? this.#enter(lines) : undefined
    } finally {
      unlock(this.#fd)
    }
  }

  /** Appends the lines with their numbers; the lock must be held. */
  append(lines: EventLines): Buffer {
    if (!this.#isLocked) throw new HeimdallError('INTERNAL', 'a record was written without its lock')
    const bytes = this.#enter(lines)
    this.saveBooks()
    return bytes
  }

  #enter(lines: EventLines): Buffer {
    const books = this.#books
    const before = { ...books, counts: { ...books.counts } }
    enterQueued(books, lines.events)
    const bytes = lines.encode()
    try {
      this.#write(bytes, books)
    } catch (error) {
      this.#books = before
      throw diskError(this.path, error)
    }
    return bytes
  }

  /** Writes the books. On a full disk they stay behind the record, and the next writer catches up. */
  saveBooks(): void {
    const text = JSON.stringify(this.#books)
    try {
      fs.writeSync(this.#booksFd, `${text.padEnd(BOOKS_BYTES - 1)}\n`, 0)
      this.#storedBytes = this.#books.bytes
    } catch (error) {
      if (!isErrno(error, 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO')) throw error
    }
  }

  /** Calls `visit` with each line of the record until it says false. */
  read(visit: (text: string) => boolean): void {
    this.#readFrom(0, visit)
  }

  /** Takes the record its name, wherever its folder is by now; the lock must be held. */
  removeAt(runDir: string): void {
    if (!this.#isLocked) throw new HeimdallError('INTERNAL', 'a record was removed without its lock')
    fs.unlinkSync(recordPath(runDir))
  }

  close(): void {
    fs.closeSync(this.#fd)
    fs.closeSync(this.#booksFd)
  }

  #write(bytes: Buffer, books: RunBooks): void {
    const start = books.bytes
    try {
      for (let sent = 0; sent < bytes.length;) sent += fs.writeSync(this.#fd, bytes, sent)
      books.bytes = start + bytes.length
    } catch (error) {
      // Nobody else writes while the lock is held, so what fitted of a batch can be taken back whole.
      fs.ftruncateSync(this.#fd, start)
      throw error
    }
  }

  #catchUp(size: number): void {
    const stored = readBooks(this.#booksFd)
    const { bytes, seq, counts } = this.#books
    // Nobody else has written: what is behind in the books are lines of our own, which need not be read again.
    const isOurs = stored !== undefined && stored.bytes === this.#storedBytes && bytes === size
    this.#books = stored !== undefined && stored.bytes <= size ? stored : emptyBooks()
    this.#storedBytes = this.#books.bytes
    if (isOurs) Object.assign(this.#books, { bytes, seq, counts })
    if (this.#books.bytes === size) return
    this.#sealTornTail(size)
    this.#readFrom(this.#books.bytes, (text) => {
      enterStored(this.#books, text)
      return true
    })
    this.#books.bytes = fs.fstatSync(this.#fd).size
    this.saveBooks()
  }

  #sealTornTail(size: number): void {
    if (size === 0) return
    const last = Buffer.alloc(1)
    fs.readSync(this.#fd, last, 0, 1, size - 1)
    if (last[0] !== NEWLINE) fs.writeSync(this.#fd, '\n')
  }

  #readFrom(position: number, visit: (text: string) => boolean): void {
    const block = Buffer.alloc(READ_BYTES)
    let carry: Buffer = Buffer.alloc(0)
    for (let at = position; ;) {
      const count = fs.readSync(this.#fd, block, 0, READ_BYTES, at)
      if (count === 0) return
      at += count
      const bytes = Buffer.concat([carry, block.subarray(0, count)])
      let from = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
        if (!visit(bytes.toString('utf8', from, end))) return
        from = end + 1
      }
      carry = bytes.subarray(from)
    }
  }
}
