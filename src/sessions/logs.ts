// Prints the output of a session as plain text, raw bytes or JSON lines: all of it, or its last lines.
import { PlainText } from '../cells/plain-text.ts'
import type { SessionEvent } from '../client/events.ts'
import { LOGS_REPLAY_BYTES_KEPT } from '../limits.ts'
import type { ReachedSession } from './locate.ts'

/** Both return false when the reader has gone. */
export interface LogOut {
  write(text: string | Buffer): Promise<boolean>
  writeLine(value: unknown): Promise<boolean>
}

/** Prints the kept output and, with `follows`, new output until the session ends. */
export async function printLogs(
  reached: ReachedSession,
  out: LogOut,
  options: PrintOptions & { readonly follows: boolean },
): Promise<void> {
  const printer = new LogPrinter(out, options)
  if (reached.connection === undefined) {
    const { kept, located } = reached
    await printer.print({ type: 'output', bytes: kept.bytes, offset: kept.offset })
    await printer.print({ type: 'replay-end', offset: kept.offset + kept.bytes.length })
    if (located.exit !== undefined) await printer.print({ type: 'exit', code: located.exit.exit_code })
    return
  }
  const { connection } = reached
  try {
    const events = connection.subscribe({ from: 'scrollback', readOnly: true, gaps: true, replayEnd: true })
    for await (const event of events) {
      const isDone = event.type === 'replay-end' && !options.follows
      if (!(await printer.print(event)) || isDone) break
    }
  } finally {
    connection.close()
  }
}

export interface PrintOptions {
  readonly isJson: boolean
  readonly isRaw: boolean
  readonly tail: number | undefined
  readonly note: (line: string) => void
}

class LogPrinter {
  readonly #out: LogOut
  readonly #options: PrintOptions
  readonly #plain = new PlainText()
  /** With `tail`: the replayed output, until its end. */
  #replay: Buffer[] | undefined

  constructor(out: LogOut, options: PrintOptions) {
    this.#out = out
    this.#options = options
    this.#replay = options.tail === undefined ? undefined : []
  }

  /** False when the reader has gone. */
  async print(event: SessionEvent): Promise<boolean> {
    const { isJson, note } = this.#options
    switch (event.type) {
      case 'output':
        if (this.#replay === undefined) return await this.#write(event.bytes, event.offset)
        this.#replay = [...this.#replay, event.bytes]
        this.#trim()
        return true
      case 'replay-end':
        return await this.#endReplay()
      case 'gap':
        if (isJson) return await this.#out.writeLine({ type: 'gap', dropped_bytes: event.droppedBytes })
        note(`[${event.droppedBytes} bytes were dropped here]`)
        return true
      case 'exit':
        // Flushes a character or line end that was cut off.
        await this.#endReplay()
        if (isJson) return await this.#out.writeLine({ type: 'exit', code: event.code })
        return await this.#out.write(this.#options.isRaw ? '' : this.#plain.end())
      case 'snapshot':
      case 'state':
      case 'ack':
      case 'activity':
      case 'error':
      default:
        return true
    }
  }

  /** Drops what cannot be among the last lines. */
  #trim(): void {
    const parts = this.#replay ?? []
    if (parts.reduce((sum, { length }) => sum + length, 0) < LOGS_REPLAY_BYTES_KEPT) return
    this.#replay = [Buffer.from(lastLines(Buffer.concat(parts), this.#options.tail ?? 0))]
  }

  async #endReplay(): Promise<boolean> {
    if (this.#replay === undefined) return true
    const bytes = Buffer.concat(this.#replay)
    this.#replay = undefined
    return await this.#write(lastLines(bytes, this.#options.tail ?? 0), undefined)
  }

  async #write(bytes: Buffer, offset: number | undefined): Promise<boolean> {
    const { isJson, isRaw } = this.#options
    if (isRaw && !isJson) return await this.#out.write(bytes)
    const text = isRaw ? bytes.toString('utf8') : this.#plain.push(bytes)
    if (!isJson) return await this.#out.write(text)
    return await this.#out.writeLine({ type: 'output', ...(offset === undefined ? {} : { offset }), text })
  }
}

/** The last `count` lines; a final line break ends the last line, it does not begin another. */
function lastLines(bytes: Buffer, count: number): Buffer {
  let end = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length
  for (let i = 0; i < count && end > 0; i += 1) end = bytes.lastIndexOf(0x0a, end - 1)
  return count === 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1)
}
