// A request too large to look into: held until it is known what it is, the first part in memory, the rest on disk.
import { createHash } from 'node:crypto'
import { closeSync, readSync, writeSync } from 'node:fs'
import { isSystemError } from '../../errors.ts'
import { REPLAY_CHUNK_BYTES } from '../../limits.ts'
import { openUnlinked } from '../../storage/unlinked-file.ts'
import { MessageScan } from './message-scan.ts'
import type { Scanned } from './scanned.ts'

export class HeldRequest {
  readonly #scan = new MessageScan({ strict: true })
  readonly #hash = createHash('sha256')
  readonly #inMemory: readonly Buffer[]
  readonly #folder: string
  #fd: number | undefined
  #fileBytes = 0
  #bytes = 0
  #failure: Error | null = null

  constructor(head: readonly Buffer[], folder: string) {
    this.#inMemory = head
    this.#folder = folder
    for (const piece of head) this.#read(piece)
  }

  push(piece: Buffer): void {
    this.#read(piece)
    if (this.#failure !== null || piece.length === 0) return
    try {
      this.#fd ??= openUnlinked(this.#folder)
      for (let sent = 0; sent < piece.length;) sent += writeSync(this.#fd, piece, sent)
      this.#fileBytes += piece.length
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.#failure = error
    }
  }

  #read(piece: Buffer): void {
    this.#bytes += piece.length
    this.#hash.update(piece)
    this.#scan.push(piece, 0, piece.length)
  }

  /** Bytes of the message without its newline. */
  get bytes(): number {
    return this.#bytes
  }

  /** The rest did not fit on the disk; such a request cannot be sent on. */
  get failure(): Error | null {
    return this.#failure
  }

  finish(): { readonly scanned: Scanned; readonly streamHash: string } {
    return { scanned: this.#scan.finish(), streamHash: this.#hash.digest('hex') }
  }

  /** Gives the original bytes again, piece by piece; `write` resolves when it can take the next. */
  async replay(write: (piece: Buffer) => Promise<void>): Promise<void> {
    for (const piece of this.#inMemory) await write(piece)
    for (let at = 0; this.#fd !== undefined && at < this.#fileBytes;) {
      const piece = Buffer.allocUnsafe(Math.min(REPLAY_CHUNK_BYTES, this.#fileBytes - at))
      const count = readSync(this.#fd, piece, 0, piece.length, at)
      if (count === 0) throw new Error(`a held request ended at ${at} of ${this.#fileBytes} bytes`)
      at += count
      await write(piece.subarray(0, count))
    }
  }

  drop(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}
