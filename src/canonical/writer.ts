// JSON text in, canonical JSON text out: one pass over the bytes, in as many pieces as they come.
import { isUtf8 } from 'node:buffer'
import { HeimdallError } from '../errors.ts'
import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from '../limits.ts'
import { IS_CANONICAL_ESCAPE, copyBytes, cutCharacter, writeCharacter } from './characters.ts'
import { Escape } from './escape.ts'
import { Members, compareKeys, orderMembers } from './members.ts'
import { NUMERIC, isCanonicalNumber, numberText } from './number-text.ts'

// What may come next. Every state can be left at any byte and taken up again with the next piece.
// White space is free in the states up to AFTER_VALUE.
const VALUE = 0
const FIRST_VALUE = 1
const KEY = 2
const FIRST_KEY = 3
const COLON = 4
const AFTER_VALUE = 5
const STRING = 6
const ESCAPE = 7
const NUMBER = 8
const WORD = 9

/** Per nesting level: index of its first member, or ARRAY; whether its keys came in order. */
const FRAME = 2
const ARRAY = -1

/** Room for what a piece may leave half written: an escape, a literal. */
const SLACK = 64
const KEEP_BYTES_MAX = 1 << 20

const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]))
const NO_WORD = Buffer.alloc(0)

/** 1 for bytes that stand for themselves inside a string; bytes above 0x7f are known to be good UTF-8 by then. */
const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[0x22] = 0
PLAIN[0x5c] = 0

const EXPECTED = ['a value', 'a value', 'a key', 'a key', 'a colon', 'a comma or the end', 'a string'] as const

export class CanonicalWriter {
  #out: Buffer = Buffer.allocUnsafe(4096)
  #old: Buffer = Buffer.allocUnsafe(512)
  #length = 0
  /** What of the current piece is not yet in the output but may be taken as it stands. */
  #run = 0
  #state = VALUE
  #frames = new Int32Array(64 * FRAME)
  #depth = 0
  #members = new Members()
  /** Where the number or key being read begins in the output. */
  #tokenStart = 0
  #isKey = false
  #word: Buffer = NO_WORD
  #wordLength = 0
  readonly #escape = new Escape()
  #carry: Buffer | null = null
  /** Bytes taken before the current piece, for messages. */
  #taken = 0

  /**
   * The canonical text of a whole source. It is the source itself where that is canonical already, and otherwise this
   * writer's own memory, which the next call changes.
   */
  write(source: Buffer): Buffer {
    this.#reset()
    this.#check(source)
    this.#scan(source)
    if (this.#length === 0 && this.#run === 0 && this.#state === AFTER_VALUE && this.#depth === 0) return source
    this.#flush(source)
    return this.finish()
  }

  push(piece: Buffer): void {
    const source = this.#wholeCharacters(piece)
    this.#check(source)
    this.#scan(source)
    this.#flush(source)
    this.#taken += source.length
  }

  /** The canonical text of all pieces. */
  finish(): Buffer {
    if (this.#carry !== null) throw new HeimdallError('JSON_MALFORMED', 'the text ends inside a UTF-8 character')
    if (this.#state === NUMBER) this.#finishNumber(0)
    if (this.#state !== AFTER_VALUE || this.#depth > 0)
      throw new HeimdallError('JSON_MALFORMED', 'the text ends before its value does')
    return this.#out.subarray(0, this.#length)
  }

  #reset(): void {
    if (this.#out.length > KEEP_BYTES_MAX) this.#out = Buffer.allocUnsafe(4096)
    if (this.#old.length > KEEP_BYTES_MAX) this.#old = Buffer.allocUnsafe(512)
    this.#length = 0
    this.#state = VALUE
    this.#depth = 0
    this.#members.length = 0
  }

  #check(source: Buffer): void {
    if (!isUtf8(source)) throw new HeimdallError('JSON_MALFORMED', `not UTF-8 after byte ${this.#taken}`)
  }

  /** `piece` after what was held back, without a character that it cuts in two. */
  #wholeCharacters(piece: Buffer): Buffer {
    const source = this.#carry === null ? piece : Buffer.concat([this.#carry, piece])
    const cut = cutCharacter(source)
    this.#carry = cut === source.length ? null : Buffer.from(source.subarray(cut))
    return cut === source.length ? source : source.subarray(0, cut)
  }

  #flush(source: Buffer): void {
    this.#length = copyBytes(source, this.#run, source.length, this.#out, this.#length)
    this.#run = source.length
  }

  /**
   * Most text is canonical already and is not copied byte by byte: from `run` on it can be taken as it stands, and it
   * is copied when something has to differ. Offsets into the output count as if it were there: `i - shift`.
   */
  #scan(source: Buffer): void {
    const end = source.length
    this.#reserve(end)
    let out = this.#out
    let o = this.#length
    let state = this.#state
    let inArray = this.#inArray()
    let isKey = this.#isKey
    // An escape is written when it ends, never copied.
    let run = state === ESCAPE ? end : 0
    let shift = -o
    let i = 0
    while (i < end) {
      let byte = source[i] as number
      if (state === STRING) {
        while (PLAIN[byte] === 1 && ++i < end) byte = source[i] as number
        if (i === end) break
        i += 1
        if (byte === 0x22) {
          if (!isKey) {
            state = AFTER_VALUE
            continue
          }
          // A key that was rewritten in part is put wholly into the output, so that a key is never in two places.
          if (this.#tokenStart < o) {
            o = copyBytes(source, run, i, out, o)
            run = i
            shift = i - o
          }
          this.#endKey(source, o, i - 1 - shift, shift)
          state = COLON
        } else if (byte === 0x5c) {
          if (i < end && IS_CANONICAL_ESCAPE[source[i] as number] === 1) {
            i += 1
            continue
          }
          o = copyBytes(source, run, i - 1, out, o)
          run = end
          this.#escape.begin()
          state = ESCAPE
        } else throw this.#unexpected(byte, i - 1, 'an escape for a control character')
        continue
      }
      if (state === NUMBER) {
        while (NUMERIC[byte] === 1 && ++i < end) byte = source[i] as number
        if (i === end) break
        state = AFTER_VALUE
        const from = this.#tokenStart + shift
        if (from >= run && isCanonicalNumber(source, from, i)) continue
        this.#length = copyBytes(source, run, i, out, o)
        this.#finishNumber(end - i)
        out = this.#out
        o = this.#length
        run = i
        shift = i - o
        continue
      }
      if (byte <= 0x20 && state <= AFTER_VALUE) {
        o = copyBytes(source, run, i, out, o)
        while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = source[++i] as number
        run = i
        shift = i - o
        if (i < end && byte < 0x20) throw this.#unexpected(byte, i, EXPECTED[state] ?? 'white space')
        continue
      }
      i += 1
      switch (state) {
        case AFTER_VALUE: {
          if (byte === 0x2c && this.#depth > 0) {
            state = inArray ? VALUE : KEY
          } else if (byte === 0x5d && inArray) {
            this.#depth -= 1
            inArray = this.#inArray()
          } else if (byte === 0x7d && this.#depth > 0 && !inArray) {
            if (this.#frames[this.#depth * FRAME - 1] === 0) {
              o = this.#sortMembers(source, run, i - 1, o)
              run = i - 1
              shift = run - o
            }
            this.#depth -= 1
            this.#members.length = this.#frames[this.#depth * FRAME] as number
            inArray = this.#inArray()
          } else throw this.#unexpected(byte, i - 1, this.#depth > 0 ? EXPECTED[AFTER_VALUE] : 'the end')
          break
        }
        case FIRST_KEY:
        case KEY: {
          if (byte === 0x22) {
            isKey = true
            this.#tokenStart = i - shift
            state = STRING
          } else if (byte === 0x7d && state === FIRST_KEY) {
            this.#depth -= 1
            inArray = this.#inArray()
            state = AFTER_VALUE
          } else throw this.#unexpected(byte, i - 1, EXPECTED[KEY])
          break
        }
        case COLON: {
          if (byte !== 0x3a) throw this.#unexpected(byte, i - 1, EXPECTED[COLON])
          state = VALUE
          break
        }
        case FIRST_VALUE:
        case VALUE: {
          if (byte === 0x22) {
            isKey = false
            state = STRING
          } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
            this.#tokenStart = i - 1 - shift
            state = NUMBER
          } else if (byte === 0x7b) {
            this.#open(this.#members.length)
            inArray = false
            state = FIRST_KEY
          } else if (byte === 0x5b) {
            this.#open(ARRAY)
            inArray = true
            state = FIRST_VALUE
          } else if (byte === 0x5d && state === FIRST_VALUE) {
            this.#depth -= 1
            inArray = this.#inArray()
            state = AFTER_VALUE
          } else {
            this.#word = WORDS.get(byte) ?? NO_WORD
            this.#wordLength = 1
            if (this.#word === NO_WORD) throw this.#unexpected(byte, i - 1, EXPECTED[VALUE])
            state = WORD
          }
          break
        }
        case WORD: {
          if (byte !== this.#word[this.#wordLength]) throw this.#unexpected(byte, i - 1, this.#word.toString())
          this.#wordLength += 1
          if (this.#wordLength === this.#word.length) state = AFTER_VALUE
          break
        }
        default: {
          const point = this.#escape.take(byte)
          if (point === Escape.GOES_ON) break
          if (point === Escape.LONE) throw this.#loneSurrogate(i)
          if (point === Escape.UNKNOWN) throw this.#unexpected(byte, i - 1, 'an escape of JSON')
          o = writeCharacter(out, o, point)
          run = i
          shift = i - o
          state = STRING
        }
      }
    }
    this.#length = o
    this.#run = run
    this.#state = state
    this.#isKey = isKey
  }

  #inArray(): boolean {
    return this.#depth > 0 && this.#frames[(this.#depth - 1) * FRAME] === ARRAY
  }

  #open(base: number): void {
    if (this.#depth >= JSON_DEPTH_MAX)
      throw new HeimdallError('JSON_TOO_DEEP', `nested deeper than ${JSON_DEPTH_MAX} levels`)
    if ((this.#depth + 1) * FRAME > this.#frames.length) {
      const wider = new Int32Array(this.#frames.length * 2)
      wider.set(this.#frames)
      this.#frames = wider
    }
    this.#frames[this.#depth * FRAME] = base
    this.#frames[this.#depth * FRAME + 1] = 1
    this.#depth += 1
  }

  /** A key has ended: notes where it is and whether it comes after the one before. Up to `o` the output is written. */
  #endKey(source: Buffer, o: number, keyEnd: number, shift: number): void {
    const members = this.#members
    const frame = (this.#depth - 1) * FRAME
    const keyStart = this.#tokenStart
    const { length } = members
    if (length > (this.#frames[frame] as number) && this.#frames[frame + 1] === 1) {
      const before = members.offsets[length - 2] as number
      const beforeEnd = members.offsets[length - 1] as number
      const order = compareKeys(
        before < o ? this.#out : source,
        before < o ? before : before + shift,
        before < o ? beforeEnd : beforeEnd + shift,
        keyStart < o ? this.#out : source,
        keyStart < o ? keyStart : keyStart + shift,
        keyStart < o ? keyEnd : keyEnd + shift,
      )
      if (order === 0)
        throw this.#duplicate(keyStart < o ? this.#out : source, keyStart < o ? keyStart : keyStart + shift)
      if (order > 0) this.#frames[frame + 1] = 0
    }
    members.push(keyStart, keyEnd)
  }

  /** Writes the members of the innermost object in order, from the source where they all still stand there. */
  #sortMembers(source: Buffer, run: number, at: number, o: number): number {
    const out = this.#out
    const { offsets, length } = this.#members
    const base = this.#frames[(this.#depth - 1) * FRAME] as number
    const start = (offsets[base] as number) - 1
    const end = o + (at - run)
    let from = source
    let shift = run - o
    if (start < o) {
      copyBytes(source, run, at, out, o)
      from = this.#aside(start, end)
      shift = -start
    } else copyBytes(source, run, start + shift, out, o)
    const twice = orderMembers(from, this.#members, base, shift)
    if (twice !== -1) throw this.#duplicate(from, twice)
    const { order } = this.#members
    const count = (length - base) / 2
    let next = start
    for (let i = 0; i < count; i += 1) {
      const member = order[i] as number
      const memberStart = (offsets[member] as number) - 1
      const memberEnd = member + 2 < length ? (offsets[member + 2] as number) - 2 : end
      if (next > start) out[next++] = 0x2c
      next = copyBytes(from, memberStart + shift, memberEnd + shift, out, next)
    }
    return next
  }

  /** A copy of what is to be put in order, in memory that is kept for the next time. */
  #aside(start: number, end: number): Buffer {
    if (this.#old.length < end - start) this.#old = Buffer.allocUnsafe(2 * (end - start))
    copyBytes(this.#out, start, end, this.#old, 0)
    return this.#old
  }

  /** Replaces the literal at the end of the output by its canonical text; `toCome` bytes of the piece are still unread. */
  #finishNumber(toCome: number): void {
    const start = this.#tokenStart
    this.#state = AFTER_VALUE
    const text = numberText(this.#out.toString('latin1', start, this.#length))
    this.#length = start
    this.#reserve(toCome + text.length)
    this.#length += this.#out.write(text, start, 'latin1')
  }

  /** After this, `bytes` more of source can be written without asking again. */
  #reserve(bytes: number): void {
    const needed = this.#length + bytes + SLACK
    if (needed <= this.#out.length) return
    if (needed > JSON_BYTES_MAX) throw new HeimdallError('JSON_TOO_LARGE', `more than ${JSON_BYTES_MAX} bytes of JSON`)
    const wider = Buffer.allocUnsafe(Math.max(needed, Math.min(this.#out.length * 2, JSON_BYTES_MAX)))
    this.#out.copy(wider, 0, 0, this.#length)
    this.#out = wider
  }

  #unexpected(byte: number, at: number, expected: string): HeimdallError {
    const seen =
      byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, '0')}`
    return new HeimdallError('JSON_MALFORMED', `${seen} at byte ${this.#taken + at}, expected ${expected}`)
  }

  #loneSurrogate(at: number): HeimdallError {
    return new HeimdallError('JSON_LONE_SURROGATE', `half of a surrogate pair before byte ${this.#taken + at}`)
  }

  #duplicate(text: Buffer, keyStart: number): HeimdallError {
    const key = /^(?:[^"\\]|\\.)*/.exec(text.toString('latin1', keyStart, keyStart + 80).replace(/[^ -~]/g, '?'))?.[0]
    return new HeimdallError('JSON_DUPLICATE_KEY', `the key "${key}" stands twice in one object`)
  }
}
