// Bytes as whoever reads them sees them: percent signs and the escapes of JSON taken out, each byte with its place.

export interface Unescaped {
  readonly bytes: Buffer
  /** Where a byte began in what was given; of the one behind the last, where all of it ends. */
  readonly placeOf: (at: number) => number
  /** From here on an escape is not finished. */
  readonly unfinishedFrom: number
}

export const PERCENT = 0x25
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const SLASH = 0x2f
/** By the letter behind the backslash. */
const SHORT_ESCAPES = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' }).map(
    ([name, char]) => [name.charCodeAt(0), char.charCodeAt(0)],
  ),
)

/**
 * Tells whether the escapes of JSON in some bytes can hide one of these texts. In most bytes they cannot: a value of
 * letters and digits is never escaped, unless by number. Escaped slashes are among the forms.
 */
export function jsonEscapesThatMatter(texts: readonly string[]): (bytes: Buffer) => boolean {
  const signs = [...SHORT_ESCAPES]
    .filter(([name, char]) => name !== SLASH && texts.some((text) => text.includes(String.fromCharCode(char))))
    .map(([name]) => Buffer.from([BACKSLASH, name]))
  signs.push(Buffer.from([BACKSLASH, LETTER_U]))
  return (bytes) =>
    bytes.includes(BACKSLASH) &&
    // At the very end the letter is yet to come.
    (bytes.at(-1) === BACKSLASH || signs.some((sign) => bytes.includes(sign)))
}

/** `%41` is `A`. */
export function withoutPercents(bytes: Buffer): Unescaped {
  return unescape(bytes, PERCENT, (at, out) => {
    if (at + 3 > bytes.length) return isHexUntilEnd(bytes, at + 1) ? 'unfinished' : 0
    const value = hexAt(bytes, at + 1, 2)
    if (value === undefined) return 0
    out(value)
    return 3
  })
}

/** `\n`, `\"` and `\u0041` are one character each. */
export function withoutJsonEscapes(bytes: Buffer): Unescaped {
  return unescape(bytes, BACKSLASH, (at, out) => {
    if (at + 1 === bytes.length) return 'unfinished'
    const name = bytes[at + 1] as number
    const short = SHORT_ESCAPES.get(name)
    if (short !== undefined) {
      out(short)
      return 2
    }
    if (name !== LETTER_U) return 0
    if (at + 6 > bytes.length) return isHexUntilEnd(bytes, at + 2) ? 'unfinished' : 0
    const unit = hexAt(bytes, at + 2, 4)
    if (unit === undefined) return 0
    const low = isHighSurrogate(unit) ? lowSurrogate(bytes, at + 6) : undefined
    if (low === 'unfinished') return low
    const text = low === undefined ? String.fromCharCode(unit) : String.fromCharCode(unit, low)
    for (const byte of Buffer.from(text)) out(byte)
    return low === undefined ? 6 : 12
  })
}

/** Between two lines, or at an end that may be one: as it is or as JSON escapes it, any number of times; indented or not. */
const LINE_BREAK = /(?:\\+[rn]|[\r\n])+[ \t]*(?=[\w+/=-])|(?:\\+[rn]|[\r\n])*[ \t]*\\*$/g
const OF_BASE64 = /[\w+/=-]/

/** Base64 as it is written in lines, by `base64` and in mail, put together again. */
export function withoutLineBreaks(bytes: Buffer): Unescaped {
  const text = bytes.toString('latin1')
  const plain = Buffer.allocUnsafe(bytes.length)
  const places = new Places()
  let length = 0
  let at = 0
  for (const { 0: found, index } of text.matchAll(LINE_BREAK)) {
    if (found === '' || !OF_BASE64.test(text[index - 1] ?? '')) continue
    places.add(length, at, 'run')
    length += bytes.copy(plain, length, at, index)
    at = index + found.length
  }
  places.add(length, at, 'run')
  length += bytes.copy(plain, length, at)
  return { bytes: plain.subarray(0, length), placeOf: (index) => places.of(index), unfinishedFrom: bytes.length }
}

/** `read` gives out what an escape stands for and says how long it is, 0 for what is none. */
function unescape(
  bytes: Buffer,
  sign: number,
  read: (at: number, out: (byte: number) => void) => number | 'unfinished',
): Unescaped {
  const plain = Buffer.allocUnsafe(bytes.length)
  const places = new Places()
  let length = 0
  const out = (byte: number): void => {
    plain[length] = byte
    length += 1
  }
  let at = 0
  for (;;) {
    const next = bytes.indexOf(sign, at)
    const end = next === -1 ? bytes.length : next
    places.add(length, at, 'run')
    length += bytes.copy(plain, length, at, end)
    at = end
    if (next === -1) break
    const start = length
    const taken = read(at, out)
    if (taken === 'unfinished') break
    if (taken === 0) out(sign)
    places.add(start, at, 'escape')
    at += Math.max(1, taken)
  }
  places.add(length, at, 'run')
  return { bytes: plain.subarray(0, length), placeOf: (index) => places.of(index), unfinishedFrom: at }
}

/** Where stretches of the outcome came from. */
class Places {
  readonly #starts: number[] = []
  readonly #origins: number[] = []
  readonly #isEscape: boolean[] = []

  add(start: number, origin: number, kind: 'run' | 'escape'): void {
    this.#starts.push(start)
    this.#origins.push(origin)
    this.#isEscape.push(kind === 'escape')
  }

  of(at: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] as number) <= at) low = middle
      else high = middle - 1
    }
    const origin = this.#origins[low] as number
    return this.#isEscape[low] === true ? origin : origin + at - (this.#starts[low] as number)
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

function lowSurrogate(bytes: Buffer, at: number): number | undefined | 'unfinished' {
  const start = bytes.toString('latin1', at, at + 2)
  if (at + 6 > bytes.length && '\\u'.startsWith(start) && isHexUntilEnd(bytes, at + 2)) return 'unfinished'
  const unit = start === '\\u' ? hexAt(bytes, at + 2, 4) : undefined
  return unit !== undefined && unit >= 0xdc00 && unit <= 0xdfff ? unit : undefined
}

function hexAt(bytes: Buffer, at: number, digits: number): number | undefined {
  let value = 0
  for (let i = at; i < at + digits; i += 1) {
    const digit = hexDigit(bytes[i])
    if (digit === undefined) return undefined
    value = value * 16 + digit
  }
  return value
}

function isHexUntilEnd(bytes: Buffer, from: number): boolean {
  for (let i = from; i < bytes.length; i += 1) if (hexDigit(bytes[i]) === undefined) return false
  return true
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
