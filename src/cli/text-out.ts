// Standard output of a command that streams: waits for slow readers, and reports when the reader has gone.
import { isErrno, outputUnwritable } from '../errors.ts'
import { safeJson } from './render/json.ts'

export class TextOut {
  readonly #stream: NodeJS.WriteStream
  #isClosed = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    // The failing write reports the reason.
    stream.on('error', () => (this.#isClosed = true))
  }

  /** False when the reader has gone. */
  write(text: string | Buffer): Promise<boolean> {
    if (text.length === 0 || this.#isClosed) return Promise.resolve(!this.#isClosed)
    return new Promise((resolve, reject) => {
      this.#stream.write(text, (error) => {
        if (error === null || error === undefined) resolve(true)
        // `hm logs … | head`: the reader has closed the pipe.
        else if (this.#isClosed || isErrno(error, 'EPIPE', 'ERR_STREAM_DESTROYED')) resolve(false)
        // For a terminal EIO means that it was closed, for a file a disk error.
        else if (this.#stream.isTTY && isErrno(error, 'EIO')) resolve(false)
        else reject(outputUnwritable(error))
      })
    })
  }

  /** One object of a stream with `--json`. */
  writeLine(value: unknown): Promise<boolean> {
    return this.write(`${safeJson(value)}\n`)
  }
}
