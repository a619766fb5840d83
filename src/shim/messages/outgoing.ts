// Lines of one turn that may go on to upstream, in the order and the bytes in which they came.

const NO_BYTES: Buffer = Buffer.alloc(0)

/** Lines that stand one behind the other in a chunk go out as one piece. `Call` is what is known of a line that is a call. */
export class Outgoing<Call> {
  // Used again with every turn: lists that are made and dropped a thousand times a second would cost more than what is in them.
  readonly #buffers: Buffer[] = []
  readonly #froms: number[] = []
  readonly #tos: number[] = []
  readonly #calls: (Call | null)[] = []
  #count = 0

  /** `to` is behind the newline. */
  add(buffer: Buffer, from: number, to: number, call: Call | null): void {
    const at = this.#count++
    this.#buffers[at] = buffer
    this.#froms[at] = from
    this.#tos[at] = to
    this.#calls[at] = call
  }

  /** Sends what still `mayGo`, and is empty afterwards. */
  send(write: (bytes: Buffer) => void, mayGo: (call: Call) => boolean): void {
    let buffer = NO_BYTES
    let from = 0
    let to = 0
    for (let i = 0; i < this.#count; i += 1) {
      const call = this.#calls[i] as Call | null
      const next = this.#buffers[i] as Buffer
      // What is kept for the next turn holds on to nothing.
      this.#calls[i] = null
      this.#buffers[i] = NO_BYTES
      if (call !== null && !mayGo(call)) continue
      const start = this.#froms[i] as number
      if (next !== buffer || start !== to) {
        if (to > from) write(buffer.subarray(from, to))
        buffer = next
        from = start
      }
      to = this.#tos[i] as number
    }
    this.#count = 0
    if (to > from) write(buffer.subarray(from, to))
  }
}
