// Canonical JSON and its hash (seed 004 §1.9): one text for each JSON value, made from source text or from a value in memory.
import { hash } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from '../limits.ts'
import { type JsonContainer, type JsonTokens, JsonReader, type JsonScalar, type JsonToken } from './json-reader.ts'
import { numberText } from './number-text.ts'

/** The canonical text of `source` as UTF-8. Throws JSON_* where the source has none. */
export function canonicalBytes(source: string | Uint8Array): Buffer {
  // Encoding would turn half a surrogate pair into U+FFFD, and two texts into one.
  if (typeof source === 'string') refuseLoneSurrogates(source)
  shared.reset()
  shared.push(typeof source === 'string' ? Buffer.from(source) : viewOf(source))
  return shared.finish()
}

/** SHA-256 over the canonical text, lowercase hex: `args_hash` of the event stream. */
export function canonicalHash(source: string | Uint8Array): string {
  return hash('sha256', canonicalBytes(source), 'hex')
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * The same for input that comes in pieces, cut anywhere. Malformed input is refused with the piece that shows it.
 * Memory grows with the canonical text, not with the source: the first key of an object may turn up last.
 */
export class IncrementalCanonical {
  readonly #text = new CanonicalText()

  push(piece: Uint8Array): void {
    this.#text.push(viewOf(piece))
  }

  /** Ends the input. To be called once, this or `digest`. */
  bytes(): Buffer {
    return this.#text.finish()
  }

  digest(): string {
    return hash('sha256', this.#text.finish(), 'hex')
  }
}

/**
 * Text is put together as byte strings: UTF-8 with one character for each byte. They sort by code point, and no part of
 * the source has to be decoded.
 */
type ByteString = string

/** An array or object whose end has not been read. */
interface Frame {
  /** Of an array. */
  readonly items: ByteString[]
  readonly members: Member[] | null
}

interface Member {
  readonly key: ByteString
  /** The key as JSON, then a colon, then the value. */
  text: ByteString
}

class CanonicalText implements JsonTokens {
  readonly #reader = new JsonReader(this)
  readonly #open: Frame[] = []
  #piece: Buffer | undefined
  #pieceText: ByteString = ''
  #result: ByteString = ''
  #bytes = 0

  reset(): void {
    this.#reader.reset()
    this.#open.length = 0
    this.#bytes = 0
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes > JSON_BYTES_MAX)
      throw new HeimdallError('JSON_TOO_LARGE', `more than ${JSON_BYTES_MAX} bytes of JSON`)
    this.#piece = piece
    this.#pieceText = piece.toString('latin1')
    this.#reader.push(piece)
    if (this.#reader.failure !== null) throw this.#reader.failure
  }

  finish(): Buffer {
    this.#reader.finish()
    this.#piece = undefined
    this.#pieceText = ''
    if (this.#reader.failure !== null) throw this.#reader.failure
    return Buffer.from(this.#result, 'latin1')
  }

  open(kind: JsonContainer): void {
    this.#open.push({ items: [], members: kind === 'object' ? [] : null })
  }

  close(): void {
    const { items, members } = this.#open.pop() as Frame
    this.#put(members === null ? `[${items.join(',')}]` : objectText(members))
  }

  key(token: JsonToken): void {
    const name = this.#stringText(token)
    // The order of keys is that of what they stand for.
    const key = token.hasEscape ? bytesOf(token.text) : name.slice(1, -1)
    this.#open.at(-1)?.members?.push({ key, text: `${name}:` })
  }

  scalar(kind: JsonScalar, token: JsonToken): void {
    if (kind === 'string') this.#put(this.#stringText(token))
    else this.#put(kind === 'number' ? numberText(this.#raw(token)) : kind)
  }

  #stringText(token: JsonToken): ByteString {
    const raw = this.#raw(token)
    // Apart from these two escapes a string is as it must be.
    if (!token.hasEscape || !/\\[u/]/.test(raw)) return raw
    const { text } = token
    refuseLoneSurrogates(text, ` before byte ${token.end}`)
    return bytesOf(JSON.stringify(text))
  }

  #raw({ buffer, start, stop }: JsonToken): ByteString {
    return buffer === this.#piece ? this.#pieceText.slice(start, stop) : (buffer?.toString('latin1', start, stop) ?? '')
  }

  #put(text: ByteString): void {
    const frame = this.#open.at(-1)
    if (frame === undefined) this.#result = text
    else if (frame.members === null) frame.items.push(text)
    else (frame.members.at(-1) as Member).text += text
  }
}

const shared = new CanonicalText()

const ASCII = /^[\0-\x7f]*$/

function bytesOf(text: string): ByteString {
  return ASCII.test(text) ? text : Buffer.from(text).toString('latin1')
}

/** Canonical JSON of a value in memory. Only plain data is taken: what JSON.stringify would drop or convert (undefined, dates, NaN) is refused. */
export function canonicalJson(value: unknown): string {
  const text = textOf(value, 0)
  return ASCII.test(text) ? text : textFrom(text)
}

function textOf(value: unknown, depth: number): ByteString {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') {
    refuseLoneSurrogates(value)
    return bytesOf(JSON.stringify(value))
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new HeimdallError('JSON_NUMBER_RANGE', `${value} is not a JSON number`)
    return String(value === 0 ? 0 : value)
  }
  if (typeof value !== 'object') throw new HeimdallError('JSON_MALFORMED', `${typeof value} is not a JSON value`)
  if (depth >= JSON_DEPTH_MAX) throw new HeimdallError('JSON_TOO_DEEP', `nested deeper than ${JSON_DEPTH_MAX} levels`)
  if (Array.isArray(value)) return `[${value.map((item: unknown) => textOf(item, depth + 1)).join(',')}]`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw new HeimdallError('JSON_MALFORMED', 'an object with a class is not a JSON value')
  const members = Object.entries(value).map(([key, member]) => {
    const name = textOf(key, depth)
    return { key: bytesOf(key), text: `${name}:${textOf(member, depth + 1)}` }
  })
  return objectText(members)
}

/** Sorts the members in place. */
function objectText(members: Member[]): ByteString {
  if (!members.every(({ key }, i) => i === 0 || (members[i - 1] as Member).key < key))
    members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const twice = members.find(({ key }, i) => i > 0 && (members[i - 1] as Member).key === key)
  if (twice !== undefined)
    throw new HeimdallError('JSON_DUPLICATE_KEY', `duplicate key ${shownKey(twice.key)} in one object`)
  return `{${members.map(({ text }) => text).join(',')}}`
}

const shownKey = (key: ByteString): string => JSON.stringify(textFrom(key).slice(0, 80))

const textFrom = (bytes: ByteString): string => Buffer.from(bytes, 'latin1').toString()

function refuseLoneSurrogates(text: string, where = ''): void {
  if (/\p{Surrogate}/u.test(text)) throw new HeimdallError('JSON_LONE_SURROGATE', `half of a surrogate pair${where}`)
}
