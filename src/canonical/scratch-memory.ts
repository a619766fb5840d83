// The memory in which a text is made canonical: output, the piece being read, and what is being put in order, one behind the other.
import { HeimdallError } from '../errors.ts'
import { JSON_BYTES_MAX } from '../limits.ts'
import { moveBytes } from './characters.ts'

/** For what a piece may leave half written: an escape, a literal. */
const SLACK = 64
/** Kept from one text to the next: enough for any message that is looked into. */
const KEEP_BYTES_MAX = 4 << 20
const FIRST_BYTES = 4096

/**
 * One memory for all three, because moving bytes within it takes a quarter of the time of copying them from another:
 * that would make a view of them first.
 */
export class ScratchMemory {
  /** The output from the beginning on; from `base` to `end` the piece; behind it what is being put in order. */
  text: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
  base = 0
  end = 0

  clear(): void {
    if (this.text.length > KEEP_BYTES_MAX) this.text = Buffer.allocUnsafe(FIRST_BYTES)
  }

  /** Puts a piece behind the output so far and the room that its own output may need. */
  take(piece: Buffer, outputBytes: number): void {
    const base = outputBytes + piece.length + SLACK
    refuseLarge(base)
    if (base + piece.length > this.text.length) this.#widen(base + piece.length, outputBytes)
    this.base = base
    this.end = base + piece.copy(this.text, base)
  }

  /** The output needs `bytes` in all: moves the piece back where that is more than its share. */
  makeWay(bytes: number): void {
    const needed = bytes + SLACK
    if (needed <= this.base) return
    refuseLarge(needed)
    const base = Math.max(needed, 2 * this.base)
    const end = base + this.end - this.base
    if (end > this.text.length) this.#widen(end, this.end)
    this.text.copyWithin(base, this.base, this.end)
    this.base = base
    this.end = end
  }

  /** Copies a part of the output to behind the piece, and returns where it stands there. */
  aside(start: number, end: number): number {
    const at = this.end
    if (at + end - start > this.text.length) this.#widen(at + end - start, at)
    moveBytes(this.text, start, end, at)
    return at
  }

  /** More memory; up to `used` it is kept. */
  #widen(bytes: number, used: number): void {
    const wider = Buffer.allocUnsafe(bytes + Math.max(FIRST_BYTES, bytes >> 2))
    this.text.copy(wider, 0, 0, used)
    this.text = wider
  }
}

function refuseLarge(bytes: number): void {
  if (bytes > JSON_BYTES_MAX) throw new HeimdallError('JSON_TOO_LARGE', `more than ${JSON_BYTES_MAX} bytes of JSON`)
}
