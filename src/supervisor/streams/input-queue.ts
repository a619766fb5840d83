// Input to the child: complete and in order, however slowly the child reads; bounded, by not reading from the senders.
import type { Clock, Timer } from '../../clock.ts'
import { INPUT_PENDING_BYTES_MAX, TERMINAL_ANSWERS_BYTES_MAX } from '../../limits.ts'

export interface InputSource {
  /** So many more bytes of this source are in the terminal. */
  written(bytes: number): void
  /** So many bytes will never be: the child is gone. */
  refused(bytes: number): void
}

interface Entry {
  readonly source: InputSource
  bytes: Buffer
}

/** The terminal cannot say when it has room again (its descriptor is already polled for reading), so it is tried again. */
const RETRY_MS = { first: 1, last: 20 }

/** Nobody waits to hear that its answers were taken. */
const TERMINAL: InputSource = { written: () => undefined, refused: () => undefined }

export class InputQueue {
  readonly #write: (bytes: Uint8Array) => number | undefined
  readonly #clock: Clock
  readonly #hasRoom: () => void
  readonly #entries: Entry[] = []
  #pendingBytes = 0
  #retryMs = RETRY_MS.first
  #retry: Timer | undefined
  #isTerminalGone = false
  #isClosed = false

  constructor(write: (bytes: Uint8Array) => number | undefined, clock: Clock, hasRoom: () => void) {
    this.#write = write
    this.#clock = clock
    this.#hasRoom = hasRoom
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Senders are to be left unread until `hasRoom` is called. */
  get isFull(): boolean {
    return this.#pendingBytes >= INPUT_PENDING_BYTES_MAX
  }

  /** `bytes` may be changed after the call. */
  push(source: InputSource, bytes: Buffer): void {
    if (this.#isClosed) {
      source.refused(bytes.length)
      return
    }
    const taken = this.#entries.length === 0 ? this.#offer(source, bytes) : 0
    if (taken === bytes.length) return
    this.#entries.push({ source, bytes: Buffer.from(bytes.subarray(taken)) })
    this.#pendingBytes += bytes.length - taken
    if (this.#isTerminalGone) this.close()
    else this.#wait()
  }

  /** What the terminal itself says to the program, in its place among what is typed. It is not kept for a program that never reads. */
  answer(text: string): void {
    if (this.#pendingBytes < TERMINAL_ANSWERS_BYTES_MAX) this.push(TERMINAL, Buffer.from(text))
  }

  /** The child is gone: what it did not take is refused to those who sent it. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#retry?.cancel()
    for (const { source, bytes } of this.#entries.splice(0)) source.refused(bytes.length)
    this.#pendingBytes = 0
    this.#hasRoom()
  }

  #offer(source: InputSource, bytes: Buffer): number {
    let taken = 0
    while (taken < bytes.length) {
      const count = this.#write(bytes.subarray(taken))
      if (count === undefined) this.#isTerminalGone = true
      if (count === undefined || count === 0) break
      taken += count
    }
    if (taken > 0) source.written(taken)
    return taken
  }

  #wait(): void {
    this.#retry ??= this.#clock.after(this.#retryMs, () => {
      this.#retry = undefined
      this.#pump()
    })
  }

  #pump(): void {
    const before = this.#pendingBytes
    let moved = 0
    for (let head = this.#entries[0]; head !== undefined; head = this.#entries[0]) {
      const taken = this.#offer(head.source, head.bytes)
      moved += taken
      this.#pendingBytes = Math.max(0, this.#pendingBytes - taken)
      if (taken < head.bytes.length) {
        head.bytes = head.bytes.subarray(taken)
        break
      }
      this.#entries.shift()
    }
    this.#retryMs = moved > 0 ? RETRY_MS.first : Math.min(RETRY_MS.last, this.#retryMs * 2)
    if (this.#isTerminalGone) {
      this.close()
      return
    }
    if (this.#entries.length > 0) this.#wait()
    if (before >= INPUT_PENDING_BYTES_MAX && !this.isFull) this.#hasRoom()
  }
}
