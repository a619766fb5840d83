// Lines as they go into a record, in memory that the next batch uses again.
import type { EventLine } from './event-text.ts'

const NO_BYTES = Buffer.alloc(0)
/** Digits of the largest number of a call, two braces and the newline. */
const END_BYTES = 24

export class Batch {
  #bytes = Buffer.allocUnsafeSlow(4_096)
  #at = 0
  /** Lines that stand one behind the other in their slab are copied as one. */
  #slab: Buffer = NO_BYTES
  #from = 0
  #to = 0

  clear(): void {
    this.#at = 0
    this.#from = this.#to = 0
    this.#slab = NO_BYTES
  }

  /** `seq` is for lines that are numbered. */
  add({ slab, from, to, isNumbered }: EventLine, seq: number): void {
    if (slab !== this.#slab || from !== this.#to) {
      this.#copy()
      this.#slab = slab
      this.#from = from
    }
    this.#to = to
    if (!isNumbered) return
    this.#copy()
    this.#reserve(END_BYTES)
    this.#at += this.#bytes.write(`${seq}}}\n`, this.#at, 'latin1')
  }

  /** All lines that were added; to be used before the next `clear`. */
  bytes(): Buffer {
    this.#copy()
    return this.#bytes.subarray(0, this.#at)
  }

  #copy(): void {
    const length = this.#to - this.#from
    if (length === 0) return
    this.#reserve(length)
    this.#slab.copy(this.#bytes, this.#at, this.#from, this.#to)
    this.#at += length
    this.#slab = NO_BYTES
    this.#from = 0
    this.#to = 0
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const wider = Buffer.allocUnsafeSlow((this.#at + bytes) * 2)
    wider.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = wider
  }
}
