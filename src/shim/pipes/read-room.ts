// Memory of our own that a pipe is read into, used again where nobody has kept what was read.
import { READ_BYTES_MAX, READ_ROOM_BYTES, READ_ROOMS_KEPT } from '../../limits.ts'

interface Slab {
  readonly bytes: Buffer
  /** Chunks of it that were taken and have not come back. */
  out: number
}

/**
 * Node takes new memory for each read, for the engine to collect. Memory that was never touched costs the kernel as long
 * as the bytes themselves, and the engine finds out late that it is free. What is given back here is read into again.
 * What is not given back is nobody's to use again, and goes with whoever has kept it.
 */
export class ReadRoom {
  #slab = newSlab(0)
  #at = 0
  #next: Buffer = this.#slab.bytes
  readonly #free: Slab[] = []
  /** By the memory of a chunk: whatever is kept of it finds its slab, and a slab that nobody has goes. */
  readonly #slabs = new WeakMap<ArrayBufferLike, Slab>()

  /** Where the next bytes are to be read to. */
  next(): Buffer {
    if (this.#slab.out === 0) this.#at = 0
    if (this.#slab.bytes.length - this.#at < READ_BYTES_MAX) {
      this.#slab = this.#free.pop() ?? newSlab(READ_ROOM_BYTES)
      this.#slabs.set(this.#slab.bytes.buffer, this.#slab)
      this.#at = 0
    }
    this.#next = this.#slab.bytes.subarray(this.#at, this.#at + READ_BYTES_MAX)
    return this.#next
  }

  /** So many bytes have been read. */
  take(bytes: number): Buffer {
    const chunk = this.#next.subarray(0, bytes)
    this.#at = chunk.byteOffset + bytes
    this.#slab.out += 1
    return chunk
  }

  /** Nobody has kept any of a chunk that was taken here; said once. */
  giveBack(chunk: Buffer): void {
    const slab = this.#slabs.get(chunk.buffer)
    if (slab === undefined) return
    slab.out -= 1
    if (slab.out === 0 && slab !== this.#slab && this.#free.length < READ_ROOMS_KEPT) this.#free.push(slab)
  }
}

// Memory of its own: chunks are found by it.
const newSlab = (bytes: number): Slab => ({ bytes: Buffer.allocUnsafeSlow(bytes), out: 0 })
