// The one writer to stderr: events and messages of ours, and what upstream says there. Nobody waits for a slow reader.
import type { Writable } from 'node:stream'
import { EVENT_STREAM_BYTES_MAX, STDERR_RELAY_BYTES_MAX } from '../limits.ts'

const NEWLINE = 0x0a
/** An unfinished line of upstream's is kept back this long; then it goes out as it is. */
const LINE_BYTES_MAX = 64 << 10

export class StderrOut {
  readonly #stream: Writable
  /** Events are lines of a protocol here, so that upstream may not write into the middle of one. */
  readonly #hasEvents: boolean
  #partial: Buffer[] = []
  #partialBytes = 0
  #dropped = 0

  constructor(stream: Writable, options: { readonly hasEvents: boolean }) {
    this.#stream = stream
    this.#hasEvents = options.hasEvents
    // A reader that went away is no reason to stop: what it would have read is lost, as in any pipeline.
    stream.on('error', () => {})
  }

  /** Lines of events. False when the reader is too far behind to take them now; of no lines at all, while it has not taken those before. */
  events(lines: Buffer): boolean {
    if (this.#stream.destroyed) return true
    if (lines.length === 0) return this.#stream.writableLength === 0
    if (this.#stream.writableLength > EVENT_STREAM_BYTES_MAX) return false
    // A copy: the stream may keep it for a while, and the lines stand in memory that is used again.
    this.#stream.write(Buffer.from(lines))
    return true
  }

  note(line: string): void {
    if (this.#stream.writableLength <= EVENT_STREAM_BYTES_MAX) this.#stream.write(`heimdall shim: ${line}\n`)
  }

  /** Upstream's stderr is always drained; past the bound it is dropped here, and upstream never stops for it. */
  relay(chunk: Buffer): void {
    if (this.#stream.writableLength > STDERR_RELAY_BYTES_MAX) {
      this.#dropped += chunk.length
      return
    }
    if (this.#dropped > 0) {
      this.#stream.write(`heimdall shim: ${this.#dropped} bytes of stderr were dropped, nobody read them\n`)
      this.#dropped = 0
    }
    if (this.#hasEvents) this.#relayLines(chunk)
    else this.#stream.write(chunk)
  }

  #relayLines(chunk: Buffer): void {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      this.#stream.write(Buffer.concat([...this.#partial, chunk.subarray(0, end)]))
      this.#partial = []
      this.#partialBytes = 0
    }
    if (end === chunk.length) return
    this.#partial.push(chunk.subarray(end))
    this.#partialBytes += chunk.length - end
    if (this.#partialBytes > LINE_BYTES_MAX) this.relayEnded()
  }

  /** Resolves when the reader has taken everything, or is gone. */
  async drained(): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableLength === 0) return
    await new Promise<void>((resolve) => {
      this.#stream.once('close', resolve)
      this.#stream.write('', () => resolve())
    })
  }

  relayEnded(): void {
    if (this.#partialBytes === 0) return
    this.#stream.write(Buffer.concat([...this.#partial, Buffer.of(NEWLINE)]))
    this.#partial = []
    this.#partialBytes = 0
  }
}
