// One escape of a JSON string, read byte by byte: a letter, four hexadecimal digits, or two times four for a surrogate pair.
import { BYTE_OF, hexValue } from './characters.ts'

const LETTER = 0
const DIGITS = 1
const LOW_BACKSLASH = 2
const LOW_U = 3

export class Escape {
  static readonly GOES_ON = -1
  static readonly UNKNOWN = -2
  /** Half of a surrogate pair without the other. */
  static readonly LONE = -3

  #step = LETTER
  #unit = 0
  #digits = 0
  /** The first half of a pair, waiting for the second; 0 when there is none. */
  #high = 0

  /** The backslash has been read. */
  begin(): void {
    this.#step = LETTER
    this.#high = 0
  }

  /** Takes one more byte: the code point that the escape stands for, or one of the negative answers. */
  take(byte: number): number {
    if (this.#step === DIGITS) return this.#takeDigit(byte)
    if (this.#step === LETTER && byte !== 0x75) return BYTE_OF[byte] === 0 ? Escape.UNKNOWN : (BYTE_OF[byte] as number)
    if (this.#step === LOW_BACKSLASH) {
      if (byte !== 0x5c) return Escape.LONE
      this.#step = LOW_U
      return Escape.GOES_ON
    }
    if (byte !== 0x75) return Escape.LONE
    this.#step = DIGITS
    this.#unit = 0
    this.#digits = 0
    return Escape.GOES_ON
  }

  #takeDigit(byte: number): number {
    const digit = hexValue(byte)
    if (digit < 0) return Escape.UNKNOWN
    this.#unit = this.#unit * 16 + digit
    this.#digits += 1
    if (this.#digits < 4) return Escape.GOES_ON
    const unit = this.#unit
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    if (isLow !== (this.#high !== 0)) return Escape.LONE
    if (isLow) return 0x10000 + ((this.#high - 0xd800) << 10) + (unit - 0xdc00)
    if (unit < 0xd800 || unit > 0xdbff) return unit
    this.#high = unit
    this.#step = LOW_BACKSLASH
    return Escape.GOES_ON
  }
}
