// JSON text in, canonical JSON text out: one pass over the bytes, in as many pieces as they come.
import { isUtf8 } from 'node:buffer'
import { HeimdallError } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../limits.ts'
import { IS_CANONICAL_ESCAPE, cutCharacter, isSpace, moveBytes, nameOf, writeCharacter } from './characters.ts'
import { Escape } from './escape.ts'
import { Members, compareKeys, keyText, orderMembers } from './members.ts'
import { NUMERIC, isCanonicalNumber, numberText } from './number-text.ts'
import { ScratchMemory } from './scratch-memory.ts'
import { NO_WORD, wordOf } from './words.ts'

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

/** Read at a time: a loop over all of a large text would be compiled while it runs, for what it has met so far. */
const BLOCK = 64 << 10

const EXPECTED = ['a value', 'a value', 'a key', 'a key', 'a colon', 'a comma or the end', 'a string'] as const

export class CanonicalWriter {
  readonly #memory = new ScratchMemory()
  /** Of the output. */
  #length = 0
  /** What of the current piece has been read. */
  #at = 0
  /** From here on the current piece is not yet in the output but may be taken as it stands. */
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
    this.#take(source)
    const isAsItWas = this.#length === 0 && this.#run === this.#memory.base
    if (isAsItWas && this.#state === AFTER_VALUE && this.#depth === 0) return source
    this.#flush()
    return this.finish()
  }

  push(piece: Buffer): void {
    const source = this.#wholeCharacters(piece)
    this.#check(source)
    this.#take(source)
    this.#flush()
    this.#taken += source.length
  }

  /** The canonical text of all pieces. */
  finish(): Buffer {
    if (this.#carry !== null) throw new HeimdallError('JSON_MALFORMED', 'the text ends inside a UTF-8 character')
    if (this.#state === NUMBER) this.#finishNumber(0)
    if (this.#state !== AFTER_VALUE || this.#depth > 0)
      throw new HeimdallError('JSON_MALFORMED', 'the text ends before its value does')
    return this.#memory.text.subarray(0, this.#length)
  }

  #reset(): void {
    this.#memory.clear()
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

  #flush(): void {
    this.#length = moveBytes(this.#memory.text, this.#run, this.#memory.end, this.#length)
    this.#run = this.#memory.end
  }

  /**
   * Most text is canonical already and is not copied byte by byte: from `run` on it can be taken as it stands, and it
   * is copied when something has to differ. Offsets into the output count as if it were there: `i - shift`.
   */
  #scan(bytes: number): void {
    let text = this.#memory.text
    let i = this.#at
    let end = Math.min(i + bytes, this.#memory.end)
    let o = this.#length
    let state = this.#state
    let inArray = this.#inArray()
    let isKey = this.#isKey
    let run = this.#run
    let shift = run - o
    while (i < end) {
      let byte = text[i] as number
      if (state === STRING) {
        for (;;) {
          while (byte !== 0x22 && byte !== 0x5c && byte >= 0x20 && ++i < end) byte = text[i] as number
          if (byte !== 0x5c || i + 2 >= end || IS_CANONICAL_ESCAPE[text[i + 1] as number] !== 1) break
          i += 2
          byte = text[i] as number
        }
        if (i === end) break
        i += 1
        if (byte === 0x22) {
          if (!isKey) {
            state = AFTER_VALUE
            continue
          }
          // A key that was rewritten in part is put wholly into the output, so that a key is never in two places.
          if (this.#tokenStart < o) {
            o = moveBytes(text, run, i, o)
            run = i
            shift = i - o
          }
          this.#endKey(o, i - 1 - shift, shift)
          state = COLON
          if (i < end && text[i] === 0x3a) {
            i += 1
            state = VALUE
          }
        } else if (byte === 0x5c) {
          if (i < end && IS_CANONICAL_ESCAPE[text[i] as number] === 1) {
            i += 1
            continue
          }
          o = moveBytes(text, run, i - 1, o)
          // An escape is written when it ends, never copied.
          run = this.#memory.end
          this.#escape.begin()
          state = ESCAPE
        } else throw this.#unexpected(byte, i - 1, 'an escape for a control character')
        continue
      }
      if (state === NUMBER) {
        while (NUMERIC[byte] === 1 && ++i < end) byte = text[i] as number
        if (i === end) break
        state = AFTER_VALUE
        const from = this.#tokenStart + shift
        if (from >= run && isCanonicalNumber(text, from, i)) continue
        this.#length = moveBytes(text, run, i, o)
        const before = this.#memory.base
        this.#finishNumber(this.#memory.end - i)
        // A number may become longer, and the piece have made way for it.
        i += this.#memory.base - before
        end += this.#memory.base - before
        text = this.#memory.text
        o = this.#length
        run = i
        shift = i - o
        continue
      }
      if (byte <= 0x20 && state <= AFTER_VALUE) {
        o = moveBytes(text, run, i, o)
        while (isSpace(byte) && ++i < end) byte = text[i] as number
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
            if (!inArray && i < end && text[i] === 0x22) {
              i += 1
              isKey = true
              this.#tokenStart = i - shift
              state = STRING
            }
          } else if (byte === 0x5d && inArray) {
            this.#depth -= 1
            inArray = this.#inArray()
          } else if (byte === 0x7d && this.#depth > 0 && !inArray) {
            if (this.#frames[this.#depth * FRAME - 1] === 0) {
              o = this.#sortMembers(run, i - 1, o)
              text = this.#memory.text
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
            const first = i - 1
            if (byte > 0x30) while (i < end && (text[i] as number) >= 0x30 && (text[i] as number) <= 0x39) i += 1
            // A short integer is its own text; anything else is looked at when it has ended.
            if (byte > 0x30 && i < end && i - first < 16 && NUMERIC[text[i] as number] === 0) state = AFTER_VALUE
            else {
              this.#tokenStart = first - shift
              state = NUMBER
            }
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
            const word = wordOf(byte)
            if (word === NO_WORD) throw this.#unexpected(byte, i - 1, EXPECTED[VALUE])
            let length = 1
            while (i < end && length < word.length && text[i] === word[length]) {
              i += 1
              length += 1
            }
            this.#word = word
            this.#wordLength = length
            state = length === word.length ? AFTER_VALUE : WORD
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
          if (point === Escape.LONE) {
            const where = this.#taken + i - this.#memory.base
            throw new HeimdallError('JSON_LONE_SURROGATE', `half of a surrogate pair before byte ${where}`)
          }
          if (point === Escape.UNKNOWN) throw this.#unexpected(byte, i - 1, 'an escape of JSON')
          o = writeCharacter(text, o, point)
          run = i
          shift = i - o
          state = STRING
        }
      }
    }
    this.#at = i
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
  #endKey(o: number, keyEnd: number, shift: number): void {
    const members = this.#members
    const frame = (this.#depth - 1) * FRAME
    const keyStart = this.#tokenStart
    const { length } = members
    if (length > (this.#frames[frame] as number) && this.#frames[frame + 1] === 1) {
      const before = members.offsets[length - 2] as number
      const beforeShift = before < o ? 0 : shift
      const keyShift = keyStart < o ? 0 : shift
      const order = compareKeys(
        this.#memory.text,
        before + beforeShift,
        (members.offsets[length - 1] as number) + beforeShift,
        keyStart + keyShift,
        keyEnd + keyShift,
      )
      if (order === 0) throw this.#duplicate(keyStart + keyShift)
      if (order > 0) this.#frames[frame + 1] = 0
    }
    members.push(keyStart, keyEnd)
  }

  /** Writes the members of the innermost object in order, from the piece where they all still stand there. */
  #sortMembers(run: number, at: number, o: number): number {
    const { offsets, length } = this.#members
    const base = this.#frames[(this.#depth - 1) * FRAME] as number
    const start = (offsets[base] as number) - 1
    const end = o + (at - run)
    let shift = run - o
    if (start < o) {
      moveBytes(this.#memory.text, run, at, o)
      shift = this.#memory.aside(start, end) - start
    } else moveBytes(this.#memory.text, run, start + shift, o)
    const text = this.#memory.text
    const twice = orderMembers(text, this.#members, base, shift)
    if (twice !== -1) throw this.#duplicate(twice)
    let next = start
    for (let i = 0; i < (length - base) / 2; i += 1) {
      const member = this.#members.order[i] as number
      const memberStart = (offsets[member] as number) - 1
      const memberEnd = member + 2 < length ? (offsets[member + 2] as number) - 2 : end
      if (next > start) text[next++] = 0x2c
      next = moveBytes(text, memberStart + shift, memberEnd + shift, next)
    }
    return next
  }

  /** Replaces the literal at the end of the output by its canonical text; `toCome` bytes of the piece are still unread. */
  #finishNumber(toCome: number): void {
    const start = this.#tokenStart
    this.#state = AFTER_VALUE
    const text = numberText(this.#memory.text.toString('latin1', start, this.#length))
    this.#memory.makeWay(start + text.length + toCome)
    this.#length = start + this.#memory.text.write(text, start, 'latin1')
  }

  #take(piece: Buffer): void {
    const memory = this.#memory
    memory.take(piece, this.#length)
    this.#at = memory.base
    this.#run = this.#state === ESCAPE ? memory.end : memory.base
    while (this.#at < memory.end) this.#scan(BLOCK)
  }

  #unexpected(byte: number, at: number, expected: string): HeimdallError {
    const where = this.#taken + at - this.#memory.base
    return new HeimdallError('JSON_MALFORMED', `${nameOf(byte)} at byte ${where}, expected ${expected}`)
  }

  #duplicate(keyStart: number): HeimdallError {
    const key = keyText(this.#memory.text, keyStart)
    return new HeimdallError('JSON_DUPLICATE_KEY', `the key "${key}" stands twice in one object`)
  }
}
