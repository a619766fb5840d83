// A stream of server-sent events, read alongside: where each message begins and ends, whatever the chunks and line ends.

/** Takes the pieces of one message after the other. */
export interface MessagePieces {
  piece(buffer: Buffer, from: number, to: number): void
  /** The message is complete. */
  end(): void
  /** It was none. */
  drop(): void
}

const NEWLINE = 0x0a
const RETURN = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const LINE_BREAK = Buffer.of(NEWLINE)
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf)
/** Longer than every field that means something here, and than the one type of event that is a message. */
const NAME_BYTES_MAX = 16
const MESSAGE = Buffer.from('message')
/** Fields as nearly all servers write them, known at one look where they are whole in a chunk. */
const USUAL = ['data', 'event', 'id'].map((name) => ({ name, bytes: Buffer.from(`${name}: `) }))

type Within = 'name' | 'space' | 'data' | 'value'

export class SseMessages {
  readonly #pieces: MessagePieces
  #within: Within = 'name'
  /** The name of the field that is being read, then the beginning of its value where that matters. */
  #name = ''
  #value = ''
  #hasData = false
  #type = ''
  /** A line ended with a carriage return; a newline behind it belongs to it. */
  #isAfterReturn = false
  #isBlank = true
  /** Bytes of a mark that the stream may begin with; -1 once that is over. */
  #markBytes = 0
  #hasEventId = false

  constructor(pieces: MessagePieces) {
    this.#pieces = pieces
  }

  /** An event has had an id: the client may come back for what follows it. */
  get hasEventId(): boolean {
    return this.#hasEventId
  }

  /** Between two events. */
  get isBetween(): boolean {
    return this.#isBlank && !this.#hasData && this.#type === ''
  }

  push(chunk: Buffer): void {
    let at = this.#markBytes === -1 ? 0 : this.#skipMark(chunk)
    // Looked for once, not once a line: most streams have none.
    let nextReturn = chunk.indexOf(RETURN)
    while (at < chunk.length) {
      const byte = chunk[at] as number
      if (this.#isAfterReturn) {
        this.#isAfterReturn = false
        if (byte === NEWLINE) {
          at += 1
          continue
        }
      }
      if (byte === NEWLINE || byte === RETURN) {
        this.#isAfterReturn = byte === RETURN
        this.#endLine()
        at += 1
      } else if (this.#within === 'data' || this.#within === 'value') {
        if (nextReturn !== -1 && nextReturn < at) nextReturn = chunk.indexOf(RETURN, at)
        const newline = chunk.indexOf(NEWLINE, at)
        let end = newline === -1 ? chunk.length : newline
        if (nextReturn !== -1 && nextReturn < end) end = nextReturn
        if (this.#within === 'data') this.#pieces.piece(chunk, at, end)
        else this.#keepValue(chunk, at, end)
        at = end
      } else if (this.#within === 'space') {
        this.#within = this.#name === 'data' ? 'data' : 'value'
        if (byte === SPACE) at += 1
      } else if (this.#isBlank && this.#beginUsual(chunk, at)) at += this.#name.length + 2
      else {
        this.#isBlank = false
        if (byte === COLON) this.#beginValue()
        else if (this.#name.length < NAME_BYTES_MAX) this.#name += String.fromCharCode(byte)
        at += 1
      }
    }
  }

  /** A mark of byte order at the very beginning means nothing. Returns where the text begins. */
  #skipMark(chunk: Buffer): number {
    let at = 0
    while (at < chunk.length && chunk[at] === BYTE_ORDER_MARK[this.#markBytes]) {
      at += 1
      this.#markBytes += 1
    }
    if (at < chunk.length) this.#markBytes = -1
    return at
  }

  /** Returns whether the line begins with a usual field, and then is in its value. */
  #beginUsual(chunk: Buffer, at: number): boolean {
    for (const { name, bytes } of USUAL)
      if (at + bytes.length <= chunk.length && isSame(bytes, chunk, at, at + bytes.length)) {
        this.#isBlank = false
        this.#name = name
        this.#beginValue()
        this.#within = name === 'data' ? 'data' : 'value'
        return true
      }
    return false
  }

  #beginValue(): void {
    this.#within = 'space'
    if (this.#name === 'data') this.#beginData()
  }

  #beginData(): void {
    if (this.#hasData) this.#pieces.piece(LINE_BREAK, 0, 1)
    this.#hasData = true
  }

  #keepValue(chunk: Buffer, from: number, to: number): void {
    if (this.#value === '' && isSame(MESSAGE, chunk, from, to)) this.#value = 'message'
    else if (this.#value.length < NAME_BYTES_MAX)
      this.#value += chunk.toString('latin1', from, Math.min(to, from + NAME_BYTES_MAX))
  }

  #endLine(): void {
    const isBlank = this.#isBlank
    const name = this.#name
    const value = this.#value
    // A field without a colon has an empty value.
    if (name === 'data' && this.#within === 'name') this.#beginData()
    this.#within = 'name'
    this.#isBlank = true
    this.#name = ''
    this.#value = ''
    if (isBlank) this.#endEvent()
    else if (name === 'id' && value !== '') this.#hasEventId = true
    else if (name === 'event') this.#type = value
  }

  #endEvent(): void {
    if (this.#hasData && (this.#type === '' || this.#type === 'message')) this.#pieces.end()
    else this.#pieces.drop()
    this.#hasData = false
    this.#type = ''
  }
}

function isSame(word: Buffer, chunk: Buffer, from: number, to: number): boolean {
  return to - from === word.length && word.compare(chunk, from, to) === 0
}
