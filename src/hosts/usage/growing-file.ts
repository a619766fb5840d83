// A file of lines that a host writes while it is read: each whole line that has one of some marks, once, in order.
import fs from 'node:fs'
import { isErrno } from '../../errors.ts'
import { TRANSCRIPT_LINE_BYTES_MAX, TRANSCRIPT_READ_BYTES } from '../../limits.ts'
import { onDisk } from '../../storage/faults.ts'

const NEWLINE = 0x0a
/** So much before the place where the next line begins is kept, to see whether it is still the same file. */
const SEAM_BYTES = 64

export interface LineVisitor {
  line(text: string): void
  /** A line longer than anybody keeps: it is passed over. */
  tooLong(): void
}

/**
 * Whoever follows it is told `rewritten` when what was read is no longer there: another file under this name, a shorter
 * one, or other bytes before the place that was reached. What was read before is then told again, and the reader knows
 * by ids what it has had. Of a file that was moved away the rest is read first.
 */
export class GrowingFile {
  readonly #path: string
  readonly #marks: readonly Buffer[]
  #fd: number | undefined
  #offset = 0
  #seam: Buffer = Buffer.alloc(0)
  /** A line that is too long has begun, and its end has not come. */
  #isSkipping = false

  constructor(path: string, marks: readonly string[]) {
    this.#path = path
    this.#marks = marks.map((mark) => Buffer.from(mark))
  }

  /** Reads what is new. */
  read(visitor: LineVisitor): 'read' | 'rewritten' | 'gone' {
    return onDisk(this.#path, () => this.#readNew(visitor))
  }

  /** What has no newline behind it and yet nobody goes on with: the last line of a host that was killed. */
  readRest(visitor: LineVisitor): void {
    onDisk(this.#path, () => {
      if (this.#fd === undefined || this.#isSkipping) return
      const length = Math.min(fs.fstatSync(this.#fd).size - this.#offset, TRANSCRIPT_LINE_BYTES_MAX)
      if (length <= 0) return
      const rest = Buffer.alloc(length)
      fs.readSync(this.#fd, rest, 0, length, this.#offset)
      if (this.#marks.some((mark) => rest.includes(mark))) visitor.line(rest.toString('utf8'))
    })
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd)
    this.#fd = undefined
  }

  #readNew(visitor: LineVisitor): 'read' | 'rewritten' | 'gone' {
    const now = fs.statSync(this.#path, { throwIfNoEntry: false })
    if (this.#fd === undefined) {
      if (now === undefined) return 'gone'
      const opened = this.#open()
      if (!opened) return 'gone'
    }
    const fd = this.#fd as unknown as number
    const held = fs.fstatSync(fd)
    if (held.size < this.#offset || !this.#isSameBefore(fd)) return this.#again()
    if (held.size > this.#offset) this.#readTo(fd, held.size, visitor)
    if (now === undefined) return 'gone'
    return now.ino === held.ino && now.dev === held.dev ? 'read' : this.#again()
  }

  #open(): boolean {
    try {
      this.#fd = fs.openSync(this.#path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return false
      throw error
    }
    // A pipe in place of a file would let us wait for ever.
    if (fs.fstatSync(this.#fd).isFile()) return true
    this.close()
    return false
  }

  #again(): 'rewritten' {
    this.close()
    this.#offset = 0
    this.#seam = Buffer.alloc(0)
    this.#isSkipping = false
    return 'rewritten'
  }

  #isSameBefore(fd: number): boolean {
    if (this.#seam.length === 0) return true
    const bytes = Buffer.alloc(this.#seam.length)
    fs.readSync(fd, bytes, 0, bytes.length, this.#offset - bytes.length)
    return bytes.equals(this.#seam)
  }

  #readTo(fd: number, size: number, visitor: LineVisitor): void {
    let block = Buffer.allocUnsafe(Math.min(TRANSCRIPT_READ_BYTES, size - this.#offset))
    while (this.#offset < size) {
      const bytes = block.subarray(
        0,
        fs.readSync(fd, block, 0, Math.min(block.length, size - this.#offset), this.#offset),
      )
      const end = bytes.lastIndexOf(NEWLINE) + 1
      if (end > 0) {
        const whole = bytes.subarray(0, end)
        this.#visit(this.#isSkipping ? whole.subarray(whole.indexOf(NEWLINE) + 1) : whole, visitor)
        this.#isSkipping = false
        this.#advance(whole)
      } else if (this.#isSkipping) this.#advance(bytes)
      else if (bytes.length < block.length || bytes.length === size - this.#offset) return
      else if (block.length < TRANSCRIPT_LINE_BYTES_MAX) block = Buffer.allocUnsafe(block.length * 2)
      else {
        visitor.tooLong()
        this.#isSkipping = true
      }
    }
  }

  #advance(bytes: Buffer): void {
    this.#offset += bytes.length
    this.#seam = Buffer.from(bytes.subarray(-SEAM_BYTES))
  }

  /** The marks are looked for in the whole block, because nearly all of it are lines that do not matter. */
  #visit(bytes: Buffer, visitor: LineVisitor): void {
    const next = this.#marks.map((mark) => placeOf(bytes, mark, 0))
    for (;;) {
      const at = Math.min(...next)
      if (at === Infinity) return
      const from = bytes.lastIndexOf(NEWLINE, at) + 1
      const end = bytes.indexOf(NEWLINE, at)
      visitor.line(bytes.toString('utf8', from, end))
      for (const [index, mark] of this.#marks.entries())
        if ((next[index] ?? Infinity) <= end) next[index] = placeOf(bytes, mark, end)
    }
  }
}

function placeOf(bytes: Buffer, mark: Buffer, from: number): number {
  const at = bytes.indexOf(mark, from)
  return at === -1 ? Infinity : at
}
