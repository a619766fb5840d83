// The one reader of JSON text: strict, whole or in pieces cut anywhere, each token with its position.
import { isUtf8 } from 'node:buffer'
import { HeimdallError } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../limits.ts'

export type JsonContainer = 'object' | 'array'
export type JsonScalar = 'string' | 'number' | 'true' | 'false' | 'null'

/** A key or a scalar. One object for all tokens of a reader: copy what is needed later. Positions count from the first byte of the text. */
export class JsonToken {
  at = 0
  end = 0
  hasEscape = false
  /** Where its bytes are; undefined when it was cut between pieces and is longer than the limit. */
  buffer: Buffer | undefined
  start = 0
  stop = 0

  /** As it is written, with the quotes of a string. */
  get raw(): string {
    return this.buffer?.toString('utf8', this.start, this.stop) ?? ''
  }

  /** What a string stands for. */
  get text(): string {
    return this.hasEscape ? decodeString(this.raw) : this.raw.slice(1, -1)
  }
}

/** Decodes a string token, quotes included. A lenient reader accepts raw control characters, which JSON.parse rejects. */
export const decodeString = (raw: string): string =>
  JSON.parse(raw.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))) as string

/** Receives the tokens in order. What it throws, the reader throws. */
export interface JsonTokens {
  open(kind: JsonContainer, at: number): void
  close(kind: JsonContainer, end: number): void
  key(token: JsonToken): void
  scalar(kind: JsonScalar, token: JsonToken): void
}

export interface ReaderOptions {
  /** Tokens cut between pieces are joined up to this length. */
  readonly tokenBytesMax?: number
  /** For answers of servers: control characters inside strings, any depth and any encoding pass. */
  readonly isLenient?: boolean
}

// What may come next; every state can be left at any byte. White space is free in the states before STRING.
const VALUE = 0
const FIRST_ITEM = 1
const KEY = 2
const FIRST_KEY = 3
const COLON = 4
const AFTER = 5
const DONE = 6
const STRING = 7
const ESCAPE = 8
const UNICODE = 9
const WORD = 10
const NUMBER = 11
const DEEP = 12
const DEEP_STRING = 13
const DEEP_ESCAPE = 14
const FAILED = 15

const EXPECTED = ['a value', 'a value', 'a key', 'a key', 'a colon', 'a comma or the end', 'the end', 'a character']

// Numbers: the next state by the kind of byte (0, 1 to 9, minus, plus, point, e), -1 where it does not belong to the number.
const NUMBER_BYTE = new Int8Array(256).fill(-1)
for (const [i, bytes] of ['0', '123456789', '-', '+', '.', 'eE'].entries())
  for (const byte of Buffer.from(bytes)) NUMBER_BYTE[byte] = i
const AFTER_MINUS = [1, 2, -1, -1, -1, -1]
const ZERO = [-1, -1, -1, -1, 3, 5]
const INTEGER = [2, 2, -1, -1, 3, 5]
const POINT = [4, 4, -1, -1, -1, -1]
const FRACTION = [4, 4, -1, -1, -1, 5]
const EXPONENT = [7, 7, 6, 6, -1, -1]
const EXPONENT_DIGITS = [7, 7, -1, -1, -1, -1]
const NUMBER_STATES = [AFTER_MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_DIGITS, EXPONENT_DIGITS]
const MAY_END = [false, true, true, false, true, false, false, true]

const NO_BYTES = Buffer.alloc(0)
const IS_ESCAPE = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) IS_ESCAPE[byte] = 1

export class JsonReader {
  readonly #tokens: JsonTokens
  readonly #tokenBytesMax: number
  readonly #isLenient: boolean
  readonly #token = new JsonToken()
  /** What is open, outermost first. */
  readonly #open: JsonContainer[] = []
  #state = VALUE
  /** Of the first byte of the current piece. */
  #offset = 0
  /** Where the current token began, in the text and in the current piece; `#earlier` has what came in earlier pieces. */
  #at = 0
  #start = 0
  #earlier: Buffer[] = []
  #earlierBytes = 0
  #isKey = false
  #hasEscape = false
  #number = 0
  #word: Exclude<JsonScalar, 'string' | 'number'> = 'null'
  /** Characters of the word, hexadecimal digits of the escape, or levels beyond the deepest, that have been read. */
  #count = 0
  /** The beginning of a character that the last piece cut in two. */
  #cut: Buffer | undefined
  #failure: HeimdallError | null = null
  /** A carriage return inside the value: some readers of lines end a line there. */
  hasReturnInside = false

  constructor(tokens: JsonTokens, { tokenBytesMax = Infinity, isLenient = false }: ReaderOptions = {}) {
    this.#tokens = tokens
    this.#tokenBytesMax = tokenBytesMax
    this.#isLenient = isLenient
  }

  reset(): void {
    this.#state = VALUE
    this.#open.length = 0
    this.#offset = 0
    this.#earlier = []
    this.#cut = undefined
    this.#failure = null
    this.hasReturnInside = false
  }

  /** Why the text is not valid, as far as it has been read. */
  get failure(): HeimdallError | null {
    return this.#failure
  }

  /** Reads a piece. Tokens refer to its bytes, which must not change while those are in use. */
  push(piece: Buffer, from = 0, to = piece.length): void {
    if (!this.#isLenient) this.#checkEncoding(piece.subarray(from, to))
    this.#start = from
    this.#offset -= from
    let i = from
    while (i < to) {
      const byte = piece[i] as number
      switch (this.#state) {
        case STRING:
          i = endOfPlain(piece, i, to, this.#isLenient)
          if (i < to) this.#endRun(piece, i)
          break
        case ESCAPE:
          if (byte === 0x75) {
            this.#count = 0
            this.#state = UNICODE
          } else if (IS_ESCAPE[byte] === 1) this.#state = STRING
          else this.#unexpected(byte, i, 'an escape of JSON')
          break
        case UNICODE:
          if (!isHex(byte)) this.#unexpected(byte, i, 'a hexadecimal digit')
          else if (++this.#count === 4) this.#state = STRING
          break
        case WORD:
          if (byte !== this.#word.charCodeAt(this.#count)) this.#unexpected(byte, i, this.#word)
          else if (++this.#count === this.#word.length) this.#scalar(this.#word, piece, i + 1)
          break
        case NUMBER: {
          const next = this.#inNumber(byte)
          if (next >= 0) this.#number = next
          else {
            this.#endNumber(piece, i)
            // The byte is read again, after the number.
            continue
          }
          break
        }
        case DEEP:
          if (byte === 0x22) this.#state = DEEP_STRING
          else if (byte === 0x7b || byte === 0x5b) this.#count += 1
          else if ((byte === 0x7d || byte === 0x5d) && --this.#count === 0) this.#state = AFTER
          break
        case DEEP_STRING:
          i = endOfPlain(piece, i, to, true)
          if (i < to) this.#state = piece[i] === 0x22 ? DEEP : piece[i] === 0x5c ? DEEP_ESCAPE : DEEP_STRING
          break
        case DEEP_ESCAPE:
          this.#state = DEEP_STRING
          break
        case FAILED:
          i = to
          break
        default:
          if (byte === 0x0d && this.#open.length > 0) this.hasReturnInside = true
          else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) this.#structure(byte, i)
      }
      i += 1
    }
    if (this.#state >= STRING && this.#state <= NUMBER) this.#keep(piece, to)
    this.#offset += to
  }

  /** Ends the text. Whether it was one JSON value is told by `failure`. */
  finish(): void {
    this.#start = 0
    if (this.#state === NUMBER) this.#endNumber(NO_BYTES, 0)
    if (this.#state === FAILED) return
    if (this.#cut !== undefined) this.#fail('JSON_MALFORMED', 'the text ends inside a UTF-8 character')
    else if (this.#state !== DONE) this.#fail('JSON_MALFORMED', 'the text ends before its value does')
  }

  #checkEncoding(piece: Buffer): void {
    const bytes = this.#cut === undefined ? piece : Buffer.concat([this.#cut, piece])
    if (isUtf8(bytes)) {
      this.#cut = undefined
      return
    }
    const end = cutCharacter(bytes)
    this.#cut = end === bytes.length ? undefined : Buffer.from(bytes.subarray(end))
    if (!isUtf8(bytes.subarray(0, end))) this.#fail('JSON_MALFORMED', `not UTF-8 after byte ${this.#offset}`)
  }

  /** A token goes on in the next piece. Past the limit its bytes are not needed. */
  #keep(piece: Buffer, to: number): void {
    this.#earlierBytes += to - this.#start
    if (this.#earlierBytes > this.#tokenBytesMax) this.#earlier = []
    else this.#earlier.push(Buffer.from(piece.subarray(this.#start, to)))
  }

  /** What ends a run of plain characters in a string. */
  #endRun(piece: Buffer, i: number): void {
    const byte = piece[i] as number
    if (byte === 0x5c) {
      this.#hasEscape = true
      this.#state = ESCAPE
    } else if (byte !== 0x22) this.#unexpected(byte, i, 'an escape for a control character')
    else if (this.#isKey) {
      this.#state = COLON
      this.#tokens.key(this.#ended(piece, i + 1))
    } else this.#scalar('string', piece, i + 1)
  }

  #structure(byte: number, i: number): void {
    switch (this.#state) {
      case FIRST_ITEM:
        if (byte === 0x5d) this.#close('array', i)
        else this.#value(byte, i)
        return
      case VALUE:
        this.#value(byte, i)
        return
      case FIRST_KEY:
      case KEY:
        if (byte === 0x22) this.#string(i, true)
        else if (byte === 0x7d && this.#state === FIRST_KEY) this.#close('object', i)
        else this.#unexpected(byte, i)
        return
      case COLON:
        if (byte === 0x3a) this.#state = VALUE
        else this.#unexpected(byte, i)
        return
      case AFTER: {
        const isObject = this.#open.at(-1) === 'object'
        if (byte === 0x2c) this.#state = isObject ? KEY : VALUE
        else if (byte === (isObject ? 0x7d : 0x5d)) this.#close(isObject ? 'object' : 'array', i)
        else this.#unexpected(byte, i)
        return
      }
      default:
        this.#unexpected(byte, i)
    }
  }

  #value(byte: number, i: number): void {
    if (byte === 0x22) this.#string(i, false)
    else if (byte === 0x7b) this.#openContainer('object', i)
    else if (byte === 0x5b) this.#openContainer('array', i)
    else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      this.#begin(i, NUMBER)
      this.#number = byte === 0x2d ? 0 : byte === 0x30 ? 1 : 2
    } else {
      const word = byte === 0x74 ? 'true' : byte === 0x66 ? 'false' : byte === 0x6e ? 'null' : undefined
      if (word === undefined) {
        this.#unexpected(byte, i)
        return
      }
      this.#begin(i, WORD)
      this.#word = word
      this.#count = 1
    }
  }

  #begin(i: number, state: number): void {
    this.#state = state
    this.#at = this.#offset + i
    this.#start = i
    this.#earlierBytes = 0
    this.#hasEscape = false
  }

  #string(i: number, isKey: boolean): void {
    this.#begin(i, STRING)
    this.#isKey = isKey
  }

  #openContainer(kind: JsonContainer, i: number): void {
    if (this.#open.length >= JSON_DEPTH_MAX) {
      if (!this.#isLenient) {
        this.#fail('JSON_TOO_DEEP', `nested deeper than ${JSON_DEPTH_MAX} levels`)
        return
      }
      this.#count = 1
      this.#state = DEEP
      return
    }
    this.#open.push(kind)
    this.#state = kind === 'object' ? FIRST_KEY : FIRST_ITEM
    this.#tokens.open(kind, this.#offset + i)
  }

  #close(kind: JsonContainer, i: number): void {
    this.#open.pop()
    this.#state = this.#open.length === 0 ? DONE : AFTER
    this.#tokens.close(kind, this.#offset + i + 1)
  }

  #scalar(kind: JsonScalar, piece: Buffer, end: number): void {
    this.#state = this.#open.length === 0 ? DONE : AFTER
    this.#tokens.scalar(kind, this.#ended(piece, end))
  }

  #endNumber(piece: Buffer, end: number): void {
    if (MAY_END[this.#number] === true) this.#scalar('number', piece, end)
    else if (end < piece.length) this.#unexpected(piece[end] as number, end, 'a digit')
    else this.#fail('JSON_MALFORMED', 'the text ends before its value does')
  }

  #inNumber(byte: number): number {
    const kind = NUMBER_BYTE[byte] as number
    return kind < 0 ? -1 : (NUMBER_STATES[this.#number]?.[kind] ?? -1)
  }

  #ended(piece: Buffer, end: number): JsonToken {
    const token = this.#token
    token.hasEscape = this.#hasEscape
    token.at = this.#at
    token.end = this.#offset + end
    token.buffer = piece
    token.start = this.#start
    token.stop = end
    if (this.#earlierBytes === 0) return token
    const bytes = this.#earlierBytes + end - this.#start
    token.buffer =
      bytes > this.#tokenBytesMax ? undefined : Buffer.concat([...this.#earlier, piece.subarray(this.#start, end)])
    token.start = 0
    token.stop = bytes
    this.#earlier = []
    return token
  }

  #unexpected(byte: number, i: number, expected = EXPECTED[this.#state] ?? 'a value'): void {
    const name =
      byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, '0')}`
    this.#fail('JSON_MALFORMED', `${name} at byte ${this.#offset + i}, expected ${expected}`)
  }

  #fail(code: 'JSON_MALFORMED' | 'JSON_TOO_DEEP', message: string): void {
    this.#failure ??= new HeimdallError(code, message)
    this.#state = FAILED
  }
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

/** First quote, backslash or control character at or after `from`; a lenient reader passes over control characters. */
function endOfPlain(piece: Buffer, from: number, to: number, isLenient: boolean): number {
  let i = from
  for (const near = isLenient ? Math.min(to, from + 192) : to; i < near; i += 1) {
    const byte = piece[i] as number
    if (byte === 0x22 || byte === 0x5c || (byte < 0x20 && !isLenient)) return i
  }
  // Native search, which costs more to begin than most strings are long.
  for (; i < to; i += 65_536) {
    const part = piece.subarray(i, Math.min(to, i + 65_536))
    const quote = part.indexOf(0x22)
    const slash = (quote === -1 ? part : part.subarray(0, quote)).indexOf(0x5c)
    if (slash !== -1) return i + slash
    if (quote !== -1) return i + quote
  }
  return to
}

/** Where a character begins that the end of `bytes` cuts in two, or the end. */
function cutCharacter(bytes: Buffer): number {
  const end = bytes.length
  for (let back = 1; back <= 3 && back <= end; back += 1) {
    const byte = bytes[end - back] as number
    if (byte < 0x80) return end
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? end - back : end
  }
  return end
}
