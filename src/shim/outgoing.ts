// Lines of one turn that may go on to upstream, in the order and the bytes in which they came.

/** Lines that stand one behind the other in a chunk go out as one piece. `Call` is what is known of a line that is a call. */
export class Outgoing<Call> {
  readonly #buffers: Buffer[] = []
  readonly #froms: number[] = []
  readonly #tos: number[] = []
  readonly #calls: (Call | null)[] = []

  /** `to` is behind the newline. */
  add(buffer: Buffer, from: number, to: number, call: Call | null): void {
    this.#buffers.push(buffer)
    this.#froms.push(from)
    this.#tos.push(to)
    this.#calls.push(call)
  }

  /** Sends what still `mayGo`, and is empty afterwards. */
  send(write: (bytes: Buffer) => void, mayGo: (call: Call) => boolean): void {
    let buffer: Buffer | null = null
    let from = 0
    let to = 0
    for (let i = 0; i < this.#buffers.length; i += 1) {
      const call = this.#calls[i] as Call | null
      if (call !== null && !mayGo(call)) continue
      const start = this.#froms[i] as number
      if (buffer !== null && (buffer !== this.#buffers[i] || start !== to)) {
        write(buffer.subarray(from, to))
        buffer = null
      }
      if (buffer === null) {
        buffer = this.#buffers[i] as Buffer
        from = start
      }
      to = this.#tos[i] as number
    }
    this.clear()
    if (buffer !== null) write(buffer.subarray(from, to))
  }

  clear(): void {
    this.#buffers.length = 0
    this.#froms.length = 0
    this.#tos.length = 0
    this.#calls.length = 0
  }
}
