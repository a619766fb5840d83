// Where a line of events is put together as bytes: most of it is copied from parts that are made once, and no string is made of it.
import type { Suspects } from './suspects.ts'

/** Lines share memory of this size, after the first few; most take less than a kilobyte. */
const SLAB_BYTES = 64 << 10
const FIRST_SLAB_BYTES = 4 << 10

/** What a byte becomes inside a JSON string: 0 stays as it is, 1 gets a backslash, 2 needs a closer look. */
const IN_STRING = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x22 || byte === 0x5c ? 1 : byte >= 0x20 && byte < 0x7f ? 0 : 2,
)

/** A part of a buffer, where a view of it would cost more than what is done with it. */
export interface Piece {
  readonly buffer: Buffer
  readonly from: number
  readonly to: number
}

export class LineBytes {
  #slab = Buffer.allocUnsafeSlow(FIRST_SLAB_BYTES)
  #start = 0
  #at = 0

  begin(): void {
    this.#start = this.#at
  }

  /** Bytes of the line so far. */
  get length(): number {
    return this.#at - this.#start
  }

  /** Takes back what was put since the line had this length. */
  cutBack(length: number): void {
    this.#at = this.#start + length
  }

  put(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#slab.set(bytes, this.#at)
    this.#at += bytes.length
  }

  text(text: string): void {
    this.#reserve(text.length * 3)
    this.#at += this.#slab.write(text, this.#at)
  }

  /** The bytes as the inside of a JSON string; false, with nothing put, when they hold more than printable ASCII or may hold a secret. */
  escaped({ buffer, from, to }: Piece, suspects: Suspects): boolean {
    if (suspects.isEverything) return false
    this.#reserve((to - from) * 2)
    const slab = this.#slab
    const { pairs } = suspects
    let at = this.#at
    let before = 0
    let last = 0
    for (let i = from; i < to; i += 1) {
      const byte = buffer[i] as number
      const becomes = IN_STRING[byte]
      if (becomes !== 0) {
        if (becomes === 2) return false
        slab[at++] = 0x5c
      }
      slab[at++] = byte
      if (pairs[(last << 7) | byte] === 1 && suspects.has(before, last, byte)) return false
      before = last
      last = byte
    }
    this.#at = at
    return true
  }

  /** Ends the line. Its bytes stay as they are for as long as anybody holds the slab. */
  end(): { readonly slab: Buffer; readonly from: number; readonly to: number } {
    return { slab: this.#slab, from: this.#start, to: this.#at }
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#slab.length) return
    const begun = this.#slab.subarray(this.#start, this.#at)
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, (begun.length + bytes) * 2))
    this.#slab.set(begun)
    this.#start = 0
    this.#at = begun.length
  }
}
