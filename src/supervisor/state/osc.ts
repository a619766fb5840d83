// Operating system commands in a terminal stream: found in any chunking, with bounded memory, at the cost of one search.

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a
const OPENING = Buffer.from([ESC, 0x5d])
/** Notifications are short; a longer command (a clipboard, an image) is none and is let go. */
const COMMAND_BYTES_MAX = 8 << 10
const EMPTY = Buffer.alloc(0)

export class OscScanner {
  readonly #found: (code: number, text: string) => void
  /** A command that has begun and not ended, or a lone ESC. */
  #open: Buffer = EMPTY

  constructor(found: (code: number, text: string) => void) {
    this.#found = found
  }

  scan(chunk: Buffer): void {
    const bytes = this.#open.length === 0 ? chunk : Buffer.concat([this.#open, chunk])
    this.#open = EMPTY
    let at = bytes.indexOf(OPENING)
    while (at >= 0) {
      const end = endOf(bytes, at + OPENING.length)
      if (end === undefined) {
        if (bytes.length - at <= COMMAND_BYTES_MAX) this.#open = Buffer.from(bytes.subarray(at))
        return
      }
      this.#emit(bytes.subarray(at + OPENING.length, end))
      at = bytes.indexOf(OPENING, end)
    }
    if (bytes.at(-1) === ESC) this.#open = Buffer.of(ESC)
  }

  #emit(command: Buffer): void {
    if (command.length >= COMMAND_BYTES_MAX) return
    const text = command.toString('utf8')
    const code = /^(\d{1,5})(?:;|$)/.exec(text)
    if (code?.[1] !== undefined) this.#found(Number(code[1]), text.slice(code[0].length))
  }
}

function endOf(bytes: Buffer, from: number): number | undefined {
  for (let at = from; at < bytes.length && at - from <= COMMAND_BYTES_MAX; at += 1) {
    const byte = bytes[at]
    if (byte === BEL || byte === ESC || byte === CAN || byte === SUB) return at
  }
  // Too long to be of interest: its end is not waited for.
  return bytes.length - from > COMMAND_BYTES_MAX ? from + COMMAND_BYTES_MAX : undefined
}
