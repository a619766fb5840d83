// What a scan has seen of a message: which members it has that matter, where they stand, and what they say.
import { decodeString, type JsonContainer, type JsonScalar } from '../../canonical/json-reader.ts'

/** Members that something depends on, each with a slot of its own. */
const SLOTS = 13
export const PARAMS = 3
const ARGUMENTS = 7

/** Every number of so many digits is a double of its own. */
const EXACT_DIGITS = 15

export type ValueKind = 'none' | JsonContainer | JsonScalar

/** A value that was seen. `from` and `to` count from the first byte of the message. */
export class Seen {
  kind: ValueKind = 'none'
  from = 0
  to = 0
  /** Where the bytes of a string, with its quotes, or of a number are; undefined when they are longer than the cap. */
  buffer: Buffer | undefined
  start = 0
  end = 0

  /** The bytes as they stand; null when there are none or too many. */
  get raw(): string | null {
    return this.buffer === undefined ? null : this.buffer.toString('utf8', this.start, this.end)
  }

  /** What a string stands for; null for everything else. */
  get text(): string | null {
    const { kind, raw } = this
    if (kind !== 'string' || raw === null) return null
    return raw.includes('\\') ? decodeString(raw) : raw.slice(1, -1)
  }

  /** What an integer stands for that has one spelling and is exact to every reader; -1 for everything else. */
  get integer(): number {
    const { buffer, start, end } = this
    if (this.kind !== 'number' || buffer === undefined || end - start > EXACT_DIGITS) return -1
    let value = 0
    for (let i = start; i < end; i += 1) {
      const digit = (buffer[i] as number) - 0x30
      if (digit < 0 || digit > 9) return -1
      value = value * 10 + digit
    }
    return value
  }
}

/** Where a message that is there in one piece begins. */
export interface Whole {
  readonly buffer: Buffer
  readonly from: number
}

/** What one message is. The object belongs to the scan and is overwritten by the next message. */
export class Scanned {
  /** False: not one JSON text in UTF-8, or nested beyond the limit. */
  valid = false
  top: ValueKind = 'none'
  /** A member that another parser could read differently: named twice, or a case variant of one that matters. */
  ambiguous: string | null = null
  /** A member of the message or of `params` whose name has characters that nobody sees; empty when it is too long to be read. */
  veiled: string | null = null
  readonly slots: readonly Seen[] = Array.from({ length: SLOTS }, () => new Seen())

  readonly id = this.slots[1] as Seen
  readonly method = this.slots[2] as Seen
  readonly params = this.slots[PARAMS] as Seen
  readonly result = this.slots[4] as Seen
  readonly error = this.slots[5] as Seen
  readonly name = this.slots[6] as Seen
  readonly args = this.slots[ARGUMENTS] as Seen
  readonly meta = this.slots[8] as Seen
  readonly requestId = this.slots[9] as Seen
  readonly isError = this.slots[10] as Seen
  readonly errorCode = this.slots[11] as Seen
  readonly errorMessage = this.slots[12] as Seen

  clear(): void {
    this.valid = false
    this.top = 'none'
    this.ambiguous = null
    this.veiled = null
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const seen = this.slots[slot] as Seen
      seen.kind = 'none'
      seen.buffer = undefined
    }
  }
}
