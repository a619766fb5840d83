// Where lines of events are put together as bytes: most of a line is copied from parts that are made once, and no string is made of it.

const FIRST_BYTES = 16 << 10
/** A burst may need more; memory past this is given back when the burst is over. */
const KEPT_BYTES = 1 << 20

/** Of what fits 32 bits. */
const DIGITS_MAX = 10

/** What a byte becomes inside a JSON string: 0 stays as it is, 1 gets a backslash, 2 needs a closer look. */
const IN_STRING = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x22 || byte === 0x5c ? 1 : byte >= 0x20 && byte < 0x7f ? 0 : 2,
)

/** A part of a buffer, where a view of it would cost more than what is done with it. */
export interface Piece {
  readonly buffer: Buffer
  readonly from: number
  readonly to: number
}

/** One buffer, used again and again: whoever takes a view of it must be done before the next line is put. */
export class LineBytes {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #at = 0

  /** Bytes put so far. */
  get length(): number {
    return this.#at
  }

  /** Takes back what was put since there were this many bytes. */
  cutBack(length: number): void {
    this.#at = length
    if (length === 0 && this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  }

  put(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  text(text: string): void {
    this.#reserve(text.length * 3)
    this.#at += this.#bytes.write(text, this.#at)
  }

  /** Short text of printable ASCII as the inside of a JSON string, letter by letter: an encoder takes longer to be called. False, with nothing put, for any other. */
  plain(text: string): boolean {
    this.#reserve(text.length)
    const bytes = this.#bytes
    const at = this.#at
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i)
      if (code > 0x7f || IN_STRING[code] !== 0) return false
      bytes[at + i] = code
    }
    this.#at = at + text.length
    return true
  }

  /** A number as JSON has it. */
  value(value: number): void {
    if (value >>> 0 !== value) {
      this.text(String(value))
      return
    }
    this.#reserve(DIGITS_MAX)
    const bytes = this.#bytes
    let end = this.#at + 1
    for (let power = 10; power <= value; power *= 10) end += 1
    this.#at = end
    let left = value
    do {
      const rest = (left / 10) >>> 0
      bytes[(end -= 1)] = 0x30 + left - rest * 10
      left = rest
    } while (left > 0)
  }

  /** The same bytes once more. */
  again(from: number, to: number): void {
    this.#reserve(to - from)
    this.#bytes.copyWithin(this.#at, from, to)
    this.#at += to - from
  }

  /** Moves a part to a place before it. */
  move(to: number, from: number, end: number): void {
    this.#bytes.copyWithin(to, from, end)
  }

  /** Writes over what stands there. */
  overwrite(at: number, bytes: Uint8Array): void {
    this.#bytes.set(bytes, at)
  }

  /** A number at the left of a field, blanks behind it. */
  number(at: number, width: number, value: number): void {
    const bytes = this.#bytes
    const digits = String(value)
    for (let i = 0; i < width; i += 1) bytes[at + i] = i < digits.length ? digits.charCodeAt(i) : 0x20
  }

  /** All bytes; to be used before anything else is put. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const wider = Buffer.allocUnsafeSlow((this.#at + bytes) * 2)
    wider.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = wider
  }
}
