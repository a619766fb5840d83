// Terminal output as plain text: without escape sequences, control characters and bidi marks.
import { StringDecoder } from 'node:string_decoder'
import { SEQUENCE_BYTES_MAX } from '../limits.ts'
import { isJoiner, joinerBefore, withJoiner } from './joiners.ts'
import { RedrawnLine } from './redrawn-line.ts'

type State = 'text' | 'escape' | 'escape-more' | 'csi' | 'string' | 'string-escape'

const ESC = 0x1b
/** U+0090 DCS, U+0098 SOS, U+009d OSC, U+009e PM, U+009f APC; after ESC they are P X ] ^ _. */
const STRING_C1 = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f])
const STRING_AFTER_ESC = new Set(['P', 'X', ']', '^', '_'].map((c) => c.charCodeAt(0)))
/** Finals of CSI that move the cursor to another line or column: what comes next is not part of the same line. */
const MOVES = new Set(['A', 'B', 'E', 'F', 'H', 'f', 'd'].map((c) => c.charCodeAt(0)))
const ERASES = new Set(['J', 'K', 'X', 'P'].map((c) => c.charCodeAt(0)))
/** One column on, and to a column. */
const FORWARD = 'C'.charCodeAt(0)
const TO_COLUMN = new Set(['G', '`'].map((c) => c.charCodeAt(0)))
const SPACES_MAX = 200

/** Bytes in any pieces, text out. Sequences and characters may be split anywhere. */
export class PlainText {
  readonly #decoder = new StringDecoder('utf8')
  #state: State = 'text'
  #sequenceChars = 0
  #parameters = ''
  #isLineEmpty = true
  /** The cursor is back in the line: what comes is the same again, or begins the next line. */
  #hasReturn = false
  /** It is back by single steps: what is not the same again goes on in this line, as spinners and corrected words do. */
  #isSteppedBack = false
  readonly #line = new RedrawnLine()
  /** The character just written, and a joiner behind it that waits for what it joins. */
  #tail = ''

  push(chunk: Buffer | string): string {
    let out = ''
    for (const char of typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)) out += this.#take(char)
    return out
  }

  end(): string {
    const out = this.push(this.#decoder.end())
    this.#state = 'text'
    return out
  }

  #take(char: string): string {
    const code = char.codePointAt(0) ?? 0
    switch (this.#state) {
      case 'text':
        return this.#text(char, code)
      case 'escape':
        return this.#escape(code)
      case 'escape-more':
        if (code >= 0x20 && code <= 0x2f) return ''
        return this.#leave(char, code, code >= 0x30 && code <= 0x7e)
      case 'csi':
        return this.#csi(char, code)
      case 'string':
      case 'string-escape':
      default:
        return this.#string(code)
    }
  }

  #text(char: string, code: number): string {
    const tail = this.#tail
    this.#tail = ''
    if (code === ESC) return this.#enter('escape')
    if (code === 0x9b) return this.#enter('csi')
    if (STRING_C1.has(code)) return this.#enter('string')
    if (char === '\n') {
      this.#atEnd()
      this.#isLineEmpty = true
      this.#line.back(0)
      this.#line.next()
      return '\n'
    }
    if (char === '\r') {
      this.#hasReturn = true
      this.#isSteppedBack = false
      this.#line.back(0)
      return ''
    }
    if (char === '\b') {
      this.#line.left(!this.#hasReturn)
      this.#isSteppedBack ||= !this.#hasReturn
      this.#hasReturn = true
      return ''
    }
    if (isJoiner(char)) this.#tail = withJoiner(tail, char)
    if (char !== '\t' && !isPrintable(code)) return ''
    this.#tail = char
    const place = this.#hasReturn ? this.#line.rewrite(char) : 'new'
    if (place === 'end') this.#atEnd()
    if (place !== 'new') return ''
    const lead = this.#hasReturn ? this.#newLine() : joinerBefore(char, tail)
    this.#line.add(char)
    this.#isLineEmpty = false
    return lead + (code >= 0xd800 && code <= 0xdfff ? '\ufffd' : char)
  }

  /** A carriage return alone starts the line again; text has no place to write over, so it starts the next one. */
  #newLine(): string {
    const isSteppedBack = this.#isSteppedBack
    this.#atEnd()
    if (isSteppedBack) return this.#line.giveUp()
    const same = this.#line.next()
    if (this.#isLineEmpty) return ''
    this.#isLineEmpty = true
    return `\n${same}`
  }

  /** The cursor is behind all that was written in the line. */
  #atEnd(): void {
    this.#hasReturn = false
    this.#isSteppedBack = false
  }

  #enter(state: State): string {
    this.#state = state
    this.#sequenceChars = 0
    this.#parameters = ''
    return ''
  }

  #escape(code: number): string {
    if (code === ESC) return ''
    if (code === 0x5b) return this.#enter('csi')
    if (STRING_AFTER_ESC.has(code)) return this.#enter('string')
    if (code >= 0x20 && code <= 0x2f) return this.#enter('escape-more')
    return this.#leave(String.fromCodePoint(code), code, code >= 0x30 && code <= 0x7e)
  }

  #csi(char: string, code: number): string {
    this.#sequenceChars += 1
    if (code >= 0x20 && code <= 0x3f && this.#sequenceChars < SEQUENCE_BYTES_MAX) {
      if (this.#parameters.length < 16) this.#parameters += char
      return ''
    }
    // Controls inside a sequence act at once and the sequence goes on, as in a terminal.
    if (code < 0x20 && code !== ESC && code !== 0x18 && code !== 0x1a) return this.#text(char, code)
    const isFinal = code >= 0x40 && code <= 0x7e
    if (isFinal && MOVES.has(code)) {
      this.#hasReturn = true
      this.#isSteppedBack = false
    }
    // At the end of the line there is nothing to erase behind the cursor.
    const isErased = ERASES.has(code) && (this.#hasReturn || this.#parameters !== '')
    if (isFinal && (MOVES.has(code) || isErased)) this.#line.forget()
    const spaces = isFinal ? this.#stepOver(code) : ''
    return spaces + this.#leave(char, code, isFinal)
  }

  /** Programs step over blanks instead of writing them; without these, words would run together. */
  #stepOver(code: number): string {
    const given = Math.max(1, Number.parseInt(this.#parameters, 10) || 1)
    const count = code === FORWARD ? given : TO_COLUMN.has(code) ? given - 1 - this.#line.width : 0
    // Back in the line: there is no place to write over, as after a carriage return.
    if (count < 0 || (this.#hasReturn && TO_COLUMN.has(code))) {
      this.#hasReturn = true
      this.#isSteppedBack = false
      this.#line.back(given - 1)
      return ''
    }
    const spaces = Math.min(SPACES_MAX, count)
    const wasBack = this.#hasReturn
    if (wasBack) this.#line.step(spaces)
    if (this.#isSteppedBack && this.#line.isAtEnd) this.#atEnd()
    if (this.#hasReturn || wasBack || this.#isLineEmpty) return ''
    for (let i = 0; i < spaces; i += 1) this.#line.add(' ')
    return ' '.repeat(spaces)
  }

  #string(code: number): string {
    this.#sequenceChars += 1
    const isOver = this.#sequenceChars >= SEQUENCE_BYTES_MAX
    if (this.#state === 'string-escape') {
      if (code === 0x5c || isOver) return this.#enter('text')
      // ESC inside a string ends it and begins another sequence.
      this.#enter('escape')
      return this.#escape(code)
    }
    if (code === ESC) this.#state = 'string-escape'
    else if (code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a || isOver) this.#enter('text')
    return ''
  }

  /** Back to text. A character that cannot end the sequence breaks it off and counts for itself. */
  #leave(char: string, code: number, isEnd: boolean): string {
    this.#state = 'text'
    return isEnd || code === 0x18 || code === 0x1a ? '' : this.#text(char, code)
  }
}

function isPrintable(code: number): boolean {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false
  return !isFormat(code)
}

/** Characters that change how others are shown, or that cannot be seen: bidi, zero width, tags, annotations. */
function isFormat(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x61c ||
    code === 0x180e ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0xfeff ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xe0000 && code <= 0xe007f)
  )
}

/** A name, title or piece of evidence for one line of output. */
export function inlineText(text: string): string {
  return new PlainText()
    .push(text)
    .replaceAll(/[\n\t]+/g, ' ')
    .trim()
}
