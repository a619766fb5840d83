// One pass over a JSON-RPC message: is it valid, which members has it, and which of them could mislead a reader.
import {
  type JsonContainer,
  JsonReader,
  type JsonTokens,
  type JsonScalar,
  type JsonToken,
} from '../../canonical/json-reader.ts'
import { SCAN_TOKEN_BYTES_MAX } from '../../limits.ts'
import { fold, hasUnseen } from '../../policy/bundle/likeness.ts'
import { PARAMS, Scanned, type Seen, type ValueKind } from './scanned.ts'

type Slots = ReadonlyMap<string, number>

const slots = (names: Readonly<Record<string, number>>): Slots => new Map(Object.entries(names))

/** Members of a message, and of its `params`, `result` and `error`, that something depends on: their slots. */
const TOP = slots({ jsonrpc: 0, id: 1, method: 2, params: 3, result: 4, error: 5 })
const INNER: Readonly<Record<number, Slots | undefined>> = {
  3: slots({ name: 6, arguments: 7, _meta: 8, requestId: 9 }),
  4: slots({ isError: 10 }),
  5: slots({ code: 11, message: 12 }),
}
const NAMES: readonly string[] = [TOP, ...Object.values(INNER)].flatMap((known) => [...(known?.keys() ?? [])])
const FOLDED = new Map([TOP, INNER[PARAMS] as Slots].map((known) => [known, new Set([...known.keys()].map(fold))]))

/**
 * Takes complete messages and pieces alike, in constant memory. A case variant matters even alone: Go's decoder takes
 * `Method` for `method`, and the two letters outside ASCII that fold to `s` and `k` as well.
 */
export class MessageScan implements JsonTokens {
  readonly #isStrict: boolean
  readonly #reader: JsonReader
  readonly #result = new Scanned()
  #depth = 0
  /** Slots of the member that is being read, -1 where nothing depends on it. */
  #topSlot = -1
  #innerSlot = -1
  readonly #valueAt = [0, 0, 0]

  /** `strict`: as a decision needs it. Otherwise control characters, any depth and any encoding pass, as in answers that go on anyway. */
  constructor({ strict }: { readonly strict: boolean }) {
    this.#isStrict = strict
    this.#reader = new JsonReader(this, { tokenBytesMax: SCAN_TOKEN_BYTES_MAX, isLenient: !strict })
  }

  reset(): void {
    this.#reader.reset()
    this.#result.clear()
    this.#depth = 0
    this.#topSlot = -1
    this.#innerSlot = -1
  }

  /** Reads a piece. It may be referred to until `finish`, so its bytes must not change before. */
  push(buffer: Buffer, from: number, to: number): void {
    this.#reader.push(buffer, from, to)
  }

  finish(): Scanned {
    this.#reader.finish()
    // Readers with universal newlines, such as Python's, end a line at a carriage return: what follows is a message of its own to them.
    this.#result.valid = this.#reader.failure === null && !(this.#isStrict && this.#reader.hasReturnInside)
    return this.#result
  }

  open(_kind: JsonContainer, at: number): void {
    if (this.#depth <= 2) this.#valueAt[this.#depth] = at
    this.#depth += 1
  }

  close(kind: JsonContainer, end: number): void {
    this.#depth -= 1
    if (this.#depth > 2) return
    if (this.#depth === 1) this.#innerSlot = -1
    this.#value(kind, this.#valueAt[this.#depth] as number, end)
  }

  key(token: JsonToken): void {
    if (this.#depth === 1) {
      this.#topSlot = this.#slotOf(TOP, token)
      this.#innerSlot = -1
    } else if (this.#depth === 2) {
      const known = INNER[this.#topSlot]
      this.#innerSlot = known === undefined ? -1 : this.#slotOf(known, token)
    }
  }

  scalar(kind: JsonScalar, token: JsonToken): void {
    if (this.#depth > 2) return
    const seen = this.#value(kind, token.at, token.end)
    if (seen === undefined || (kind !== 'string' && kind !== 'number')) return
    if (token.buffer === undefined || token.stop - token.start > SCAN_TOKEN_BYTES_MAX) return
    seen.buffer = token.buffer
    seen.start = token.start
    seen.end = token.stop
  }

  /** The slot of a key that matters, -1 of any other. A name that readers may take for one that matters is ambiguous. */
  #slotOf(known: Slots, token: JsonToken): number {
    // Variants and repetitions matter where a reader looks: in the message itself and in `params`.
    const folded = FOLDED.get(known)
    if (token.buffer === undefined || token.stop - token.start - 2 > SCAN_TOKEN_BYTES_MAX) {
      if (folded !== undefined) this.#result.veiled ??= ''
      return -1
    }
    const key = token.text
    const slot = known.get(key)
    if (slot !== undefined || folded === undefined) return slot ?? -1
    if (folded.has(fold(key))) this.#result.ambiguous ??= key
    if (hasUnseen(key)) this.#result.veiled ??= key
    return -1
  }

  #value(kind: ValueKind, from: number, to: number): Seen | undefined {
    if (this.#depth === 0) this.#result.top = kind
    const slot = this.#depth === 1 ? this.#topSlot : this.#depth === 2 ? this.#innerSlot : -1
    if (slot < 0) return undefined
    const seen = this.#result.slots[slot] as Seen
    const isRead = this.#depth === 1 || this.#topSlot === PARAMS
    if (seen.kind !== 'none' && isRead) this.#result.ambiguous ??= NAMES[slot] ?? ''
    seen.kind = kind
    seen.from = from
    seen.to = to
    seen.buffer = undefined
    return seen
  }
}
