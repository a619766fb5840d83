// Standard output of a command that streams: waits for slow readers, and knows when nobody reads any more.
import { isErrno } from '../../../errors.ts'
import { safeJson } from '../../render/json.ts'

export class TextOut {
  readonly #stream: NodeJS.WriteStream
  #isClosed = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    stream.on('error', (error) => {
      // `hm logs … | head`: the reader has what it wanted.
      if (!isErrno(error, 'EPIPE')) throw error
      this.#isClosed = true
    })
  }

  /** False when the reader has gone. */
  write(text: string | Buffer): Promise<boolean> {
    if (text.length === 0 || this.#isClosed) return Promise.resolve(!this.#isClosed)
    return new Promise((resolve) => {
      this.#stream.write(text, (error) => resolve(error === null || error === undefined))
    })
  }

  /** One object of a stream with `--json`. */
  writeLine(value: unknown): Promise<boolean> {
    return this.write(`${safeJson(value)}\n`)
  }
}
