// One pass over the bytes of a JSON-RPC message: is it JSON, which members has it, and which of them could mislead a reader.
import { JSON_DEPTH_MAX, SCAN_TOKEN_BYTES_MAX } from '../../limits.ts'
import { fold, hasUnseen } from '../../policy/bundle/likeness.ts'
import { endOfPlainRun, isEscapable, isHex, isSame, nextInNumber, NUMBER_MAY_END, NUMBER_STATE } from './json-bytes.ts'
import { decode, PARAMS, Scanned, type Seen, type ValueKind } from './scanned.ts'

// The reader's state between two bytes.
const VALUE = 0
const FIRST_KEY = 1
const KEY = 2
const COLON = 3
const AFTER = 4
const FIRST_ITEM = 5
const STRING = 6
const ESCAPE = 7
const UNICODE = 8
const LITERAL = 9
const NUMBER = 10
const DONE = 11
const BROKEN = 12
const DEEP = 13
const DEEP_STRING = 14
const DEEP_ESCAPE = 15

/** Members of a message, and of its `params`, `result` and `error`, that something depends on: their slots. */
const TOP = members({ jsonrpc: 0, id: 1, method: 2, params: 3, result: 4, error: 5 })
const INNER = [
  undefined,
  undefined,
  undefined,
  members({ name: 6, arguments: 7, _meta: 8, requestId: 9 }),
  members({ isError: 10 }),
  members({ code: 11, message: 12 }),
] as const

interface Member {
  readonly name: string
  readonly bytes: Buffer
  /** Its letters as a reader that does not tell their case has them. */
  readonly folded: Buffer
  readonly slot: number
}

function members(slots: Readonly<Record<string, number>>): readonly Member[] {
  return Object.entries(slots).map(([name, slot]) => ({
    name,
    bytes: Buffer.from(name),
    folded: Buffer.from(fold(name)),
    slot,
  }))
}

/**
 * Works on complete lines and on pieces alike, in constant memory. A case variant matters even alone: Go's decoder takes
 * `Method` for `method`, and the two letters outside ASCII that fold to `s` and `k` as well.
 */
export class MessageScan {
  /** Refuse control characters in strings, as JSON does; a scan that no decision waits for need not look that closely. */
  private readonly isStrict: boolean
  private state = VALUE
  private depth = 0
  private readonly isObject = new Uint8Array(JSON_DEPTH_MAX + 2)
  private offset = 0
  private numberState = 0
  private literal = ''
  private literalAt = 0
  private unicodeLeft = 0
  /** Levels below the deepest that is understood. */
  private deepLevels = 0
  private isKey = false
  private hasEscape = false
  /** Where the token that is being read began in the current piece; what came in earlier pieces is in `spill`. */
  private tokenStart = 0
  private spill: Buffer | undefined
  /** Slots of the member that is being read, -1 where it is none that matters. */
  private topSlot = -1
  private innerSlot = -1
  private readonly valueFrom = [0, 0, 0]
  private readonly result = new Scanned()

  constructor(options: { readonly strict: boolean }) {
    this.isStrict = options.strict
  }

  reset(): void {
    this.state = VALUE
    this.depth = 0
    this.offset = 0
    this.topSlot = -1
    this.innerSlot = -1
    this.spill = undefined
    this.result.clear()
  }

  /** Reads a piece. It may be referred to until `finish`, so its bytes must not change before. */
  push(buffer: Buffer, from: number, to: number): void {
    const base = this.offset - from
    this.tokenStart = from
    let i = from
    while (i < to) {
      const byte = buffer[i] as number
      switch (this.state) {
        case STRING: {
          if (this.isStrict) {
            let all = 0
            // By hand: most strings are short, and every byte has to be looked at anyway.
            for (; i < to; i += 1) {
              const plain = buffer[i] as number
              if (plain === 0x22 || plain === 0x5c || plain < 0x20) break
              all |= plain
            }
            if (all >= 0x80) this.result.isAscii = false
          } else i = endOfPlainRun(buffer, i, to)
          if (i >= to) break
          const stop = buffer[i] as number
          i += 1
          if (stop === 0x22) this.endString(buffer, i, base)
          else if (stop === 0x5c) {
            this.hasEscape = true
            this.state = ESCAPE
          } else this.state = BROKEN
          break
        }
        case ESCAPE:
          if (byte === 0x75) {
            this.unicodeLeft = 4
            this.state = UNICODE
          } else this.state = isEscapable(byte) ? STRING : BROKEN
          i += 1
          break
        case UNICODE:
          this.unicodeLeft -= 1
          if (!isHex(byte)) this.state = BROKEN
          else if (this.unicodeLeft === 0) this.state = STRING
          i += 1
          break
        case LITERAL:
          if (byte !== this.literal.charCodeAt(this.literalAt)) this.state = BROKEN
          else if (++this.literalAt === this.literal.length) this.endValue(this.literal as ValueKind, base + i + 1)
          i += 1
          break
        case NUMBER: {
          const next = nextInNumber(this.numberState, byte)
          if (next < 0) this.endNumber(buffer, i, base) // The byte is looked at again, in the state after the number.
          else {
            this.numberState = next
            i += 1
          }
          break
        }
        case DEEP:
          if (byte === 0x22) this.state = DEEP_STRING
          else if (byte === 0x7b || byte === 0x5b) this.deepLevels += 1
          else if ((byte === 0x7d || byte === 0x5d) && --this.deepLevels === 0) this.state = AFTER
          i += 1
          break
        case DEEP_STRING:
          i = endOfPlainRun(buffer, i, to)
          if (i >= to) break
          this.state = buffer[i] === 0x22 ? DEEP : buffer[i] === 0x5c ? DEEP_ESCAPE : DEEP_STRING
          i += 1
          break
        case DEEP_ESCAPE:
          this.state = DEEP_STRING
          i += 1
          break
        case BROKEN:
          i = to
          break
        default:
          if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) this.structure(byte, i, base)
          // Readers with universal newlines, such as Python's, end a line here: what follows is a message of its own to them.
          else if (byte === 0x0d && this.isStrict && this.depth > 0) this.state = BROKEN
          i += 1
      }
    }
    if (this.state >= STRING && this.state <= NUMBER) this.keep(buffer, to)
    this.offset += to - from
  }

  finish(): Scanned {
    if (this.state === NUMBER) {
      const rest = this.spill ?? Buffer.alloc(0)
      this.spill = undefined
      this.tokenStart = 0
      this.endNumber(rest, rest.length, this.offset - rest.length)
    }
    this.result.valid = this.state === DONE
    return this.result
  }

  /** A token goes on in the next piece: its bytes so far are copied, up to the cap, past which nobody wants them. */
  private keep(buffer: Buffer, to: number): void {
    const before = this.spill
    if (before !== undefined && before.length > SCAN_TOKEN_BYTES_MAX) return
    const piece = buffer.subarray(this.tokenStart, Math.min(to, this.tokenStart + SCAN_TOKEN_BYTES_MAX + 1))
    this.spill = before === undefined ? Buffer.from(piece) : Buffer.concat([before, piece])
  }

  private structure(byte: number, i: number, base: number): void {
    switch (this.state) {
      case VALUE:
        this.beginValue(byte, i, base)
        return
      case FIRST_ITEM:
        if (byte === 0x5d) this.close(base + i + 1, 0)
        else this.beginValue(byte, i, base)
        return
      case FIRST_KEY:
      case KEY:
        if (byte === 0x22) this.beginString(i, true)
        else if (byte === 0x7d && this.state === FIRST_KEY) this.close(base + i + 1, 1)
        else this.state = BROKEN
        return
      case COLON:
        this.state = byte === 0x3a ? VALUE : BROKEN
        return
      case AFTER:
        if (byte === 0x2c) this.state = this.isObject[this.depth] === 1 ? KEY : VALUE
        else if (byte === 0x7d) this.close(base + i + 1, 1)
        else if (byte === 0x5d) this.close(base + i + 1, 0)
        else this.state = BROKEN
        return
      default:
        this.state = BROKEN
    }
  }

  private beginValue(byte: number, i: number, base: number): void {
    const { depth } = this
    if (depth <= 2) this.valueFrom[depth] = base + i
    if (byte === 0x7b || byte === 0x5b) {
      if (depth >= JSON_DEPTH_MAX) {
        // Nobody has to understand what an answer holds so deep inside, only where it ends.
        this.deepLevels = 1
        this.state = this.isStrict ? BROKEN : DEEP
        return
      }
      this.depth = depth + 1
      this.isObject[depth + 1] = byte === 0x7b ? 1 : 0
      this.state = byte === 0x7b ? FIRST_KEY : FIRST_ITEM
    } else if (byte === 0x22) this.beginString(i, false)
    else if (byte === 0x74) this.beginLiteral('true')
    else if (byte === 0x66) this.beginLiteral('false')
    else if (byte === 0x6e) this.beginLiteral('null')
    else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      this.state = NUMBER
      this.numberState = byte === 0x2d ? NUMBER_STATE.minus : byte === 0x30 ? NUMBER_STATE.zero : NUMBER_STATE.integer
      this.tokenStart = i
      this.spill = undefined
    } else this.state = BROKEN
  }

  private beginLiteral(word: string): void {
    this.state = LITERAL
    this.literal = word
    this.literalAt = 1
  }

  private beginString(i: number, isKey: boolean): void {
    this.state = STRING
    this.isKey = isKey
    this.hasEscape = false
    this.tokenStart = i
    this.spill = undefined
  }

  private slot(): number {
    return this.depth === 1 ? this.topSlot : this.depth === 2 ? this.innerSlot : -1
  }

  private endString(buffer: Buffer, i: number, base: number): void {
    if (!this.isKey) {
      this.endToken('string', buffer, i, base)
      return
    }
    this.state = COLON
    if (this.depth > 2) return
    const known = this.depth === 1 ? TOP : INNER[this.topSlot]
    const slot = known === undefined ? -1 : this.slotOfKey(known, buffer, i)
    if (this.depth === 1) {
      this.topSlot = slot
      this.innerSlot = -1
    } else this.innerSlot = slot
  }

  /** The slot of a key that matters, -1 of any other; a variant of one that matters is marked as ambiguous. */
  private slotOfKey(known: readonly Member[], buffer: Buffer, end: number): number {
    let bytes = buffer
    let from = this.tokenStart + 1
    let to = end - 1
    if (this.spill !== undefined) {
      bytes = Buffer.concat([this.spill, buffer.subarray(this.tokenStart, end)])
      from = 1
      to = bytes.length - 1
    }
    for (const member of known) if (isSame(member.bytes, bytes, from, to)) return this.hasEscape ? -1 : member.slot
    if (to - from > SCAN_TOKEN_BYTES_MAX) {
      if (this.isRead()) this.result.veiled ??= ''
      return -1
    }
    // Not one of them byte for byte. Escapes and letter case may still make it one for somebody.
    if (!this.hasEscape && (!this.isRead() || isFarFrom(known, bytes, from, to))) return -1
    const key = decode(bytes.toString('utf8', from - 1, to + 1))
    const exact = known.find(({ name }) => name === key)
    if (exact !== undefined) return exact.slot
    if (!this.isRead()) return -1
    const folded = fold(key)
    if (known.some(({ name }) => fold(name) === folded)) this.result.ambiguous ??= key
    if (hasUnseen(key)) this.result.veiled ??= key
    return -1
  }

  /** Variants and repetitions matter where a reader looks: in the message itself and in `params`. */
  private isRead(): boolean {
    return this.depth === 1 || this.topSlot === PARAMS
  }

  private endNumber(buffer: Buffer, i: number, base: number): void {
    if (NUMBER_MAY_END[this.numberState] === true) this.endToken('number', buffer, i, base)
    else this.state = BROKEN
  }

  private endToken(kind: 'string' | 'number', buffer: Buffer, i: number, base: number): void {
    const seen = this.endValue(kind, base + i)
    if (seen === undefined) return
    if (this.spill !== undefined) {
      const whole = Buffer.concat([this.spill, buffer.subarray(this.tokenStart, i)])
      this.spill = undefined
      if (whole.length <= SCAN_TOKEN_BYTES_MAX) setBytes(seen, whole, 0, whole.length)
    } else if (i - this.tokenStart <= SCAN_TOKEN_BYTES_MAX) setBytes(seen, buffer, this.tokenStart, i)
  }

  private endValue(kind: ValueKind, at: number): Seen | undefined {
    this.state = this.depth === 0 ? DONE : AFTER
    if (this.depth === 0) this.result.top = kind
    const slot = this.slot()
    if (slot < 0) return undefined
    const seen = this.result.slots[slot] as Seen
    if (seen.kind !== 'none' && this.isRead()) this.result.ambiguous ??= nameOf(slot)
    seen.kind = kind
    seen.from = this.valueFrom[this.depth] as number
    seen.to = at
    seen.buffer = undefined
    return seen
  }

  private close(at: number, isObject: 0 | 1): void {
    if (this.depth === 0 || this.isObject[this.depth] !== isObject) {
      this.state = BROKEN
      return
    }
    this.depth -= 1
    if (this.depth === 1) this.innerSlot = -1
    this.endValue(isObject === 1 ? 'object' : 'array', at)
  }
}

/** Told without making a text of the key, as most are: it says all that a reader sees of it, and is no variant. */
function isFarFrom(known: readonly Member[], bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) {
    const byte = bytes[i] as number
    if (byte < 0x20 || byte > 0x7e || (byte >= 0x41 && byte <= 0x5a)) return false
  }
  for (const { folded } of known) if (isSame(folded, bytes, from, to)) return false
  return true
}

function setBytes(seen: Seen, buffer: Buffer, start: number, end: number): void {
  seen.buffer = buffer
  seen.start = start
  seen.end = end
}

function nameOf(slot: number): string {
  return [...TOP, ...INNER.flatMap((known) => known ?? [])].find((member) => member.slot === slot)?.name ?? ''
}
