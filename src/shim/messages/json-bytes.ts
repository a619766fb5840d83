// The small print of JSON at the level of bytes: where a run of plain characters ends, what may follow a backslash, what is a number.

/** First quote or backslash at or after `from`, or a control character that comes soon. */
export function endOfPlainRun(buffer: Buffer, from: number, to: number): number {
  let i = from
  // Short runs are quickest byte by byte; what is still running after that is searched natively.
  for (const near = Math.min(to, from + 192); i < near; i += 1) {
    const byte = buffer[i] as number
    if (byte === 0x22 || byte === 0x5c || byte < 0x20) return i
  }
  while (i < to) {
    const window = buffer.subarray(i, Math.min(to, i + 65_536))
    const quote = window.indexOf(0x22)
    const plain = quote === -1 ? window : window.subarray(0, quote)
    const slash = plain.indexOf(0x5c)
    if (slash !== -1) return i + slash
    if (quote !== -1) return i + quote
    i += window.length
  }
  return i
}

export function isSame(word: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== word.length) return false
  for (let i = 0; i < word.length; i += 1) if (word[i] !== bytes[from + i]) return false
  return true
}

export function isEscapable(byte: number): boolean {
  switch (byte) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true
    default:
      return false
  }
}

export function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

export const NUMBER_STATE = { minus: 0, zero: 1, integer: 2 } as const
const POINT = 3
const FRACTION = 4
const EXPONENT = 5
const EXPONENT_SIGN = 6
const EXPONENT_DIGITS = 7

/** Whether a number may end in this state. */
export const NUMBER_MAY_END: readonly boolean[] = [false, true, true, false, true, false, false, true]

/** The state after one more byte of a number, or -1 when the byte does not belong to it. */
export function nextInNumber(state: number, byte: number): number {
  const isDigit = byte >= 0x30 && byte <= 0x39
  switch (state) {
    case NUMBER_STATE.minus:
      return isDigit ? (byte === 0x30 ? NUMBER_STATE.zero : NUMBER_STATE.integer) : -1
    case NUMBER_STATE.integer:
      if (isDigit) return NUMBER_STATE.integer
      return afterInteger(byte)
    case NUMBER_STATE.zero:
      return afterInteger(byte)
    case POINT:
      return isDigit ? FRACTION : -1
    case FRACTION:
      return isDigit ? FRACTION : byte === 0x65 || byte === 0x45 ? EXPONENT : -1
    case EXPONENT:
      return isDigit ? EXPONENT_DIGITS : byte === 0x2b || byte === 0x2d ? EXPONENT_SIGN : -1
    default:
      return isDigit ? EXPONENT_DIGITS : -1
  }
}

function afterInteger(byte: number): number {
  return byte === 0x2e ? POINT : byte === 0x65 || byte === 0x45 ? EXPONENT : -1
}
