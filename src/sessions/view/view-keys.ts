// Parses the input of a terminal: keys by name, mouse reports, the detach key, whether an answer was typed, and bytes for the program.
import { MOUSE_MOTION, type MouseReport } from '../../cells/mouse.ts'
import { NEXT_SETTLE_MS } from '../../limits.ts'

/** Its cell is one of the terminal. */
export interface Mouse extends MouseReport {
  readonly is: 'mouse'
  readonly does: 'wheel-up' | 'wheel-down' | 'press' | 'drag' | 'release' | 'other'
}

export interface Key {
  readonly is: 'key'
  readonly name: string
}

export type Act = Mouse | Key

/** In the order they came; all `bytes` together are what came. */
export interface InputPiece {
  readonly bytes: Buffer
  /** An act of its own; nothing for text and for what is neither a key nor the mouse. */
  readonly act: Act | undefined
  /** Typed, so that each character may be a key; not from a paste. */
  readonly isText: boolean
}

/** A paste mark, a mouse report, a key with a number, a key with a letter, any other sequence, the ESC key, text. */
const PIECE =
  /\u001b\[20([01])~|\u001b\[<(\d+);(\d+);(\d+)([Mm])|\u001b\[(\d+)(?::\d*)*(?:;(\d+)(?::(\d))?)?(?:;[\d:]+)?([~u])|\u001b[[O](?:1;(\d+)(?::(\d))?)?([A-H])|\u001b\[[\d;:<=>?]*[ -/]*[@-~]|\u001b|[^\u001b]+/g
/** Mouse reports and keys that a read has cut; nothing that a person types by itself looks so. */
const TORN = /\u001b\[(?:<[\d;]*|\d[\d;:]*)$/

const NUMBERED: Readonly<Record<string, string>> = {
  1: 'home',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
}
const LETTERED: Readonly<Record<string, string>> = { A: 'up', B: 'down', C: 'right', D: 'left', F: 'end', H: 'home' }
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u001b': 'escape',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
}

/** Splits what a terminal sends. Inside a paste nothing is a key. */
export class ViewKeys {
  #torn = ''
  #isPaste = false

  read(chunk: Buffer): InputPiece[] {
    const text = this.#torn + chunk.toString('latin1')
    this.#torn = TORN.exec(text)?.[0] ?? ''
    const whole = text.slice(0, text.length - this.#torn.length)
    return Array.from(whole.matchAll(PIECE), (match) => this.#piece(match))
  }

  get isHolding(): boolean {
    return this.#torn !== ''
  }

  /** A sequence whose rest did not come was typed, as Alt+[ and a digit are. */
  flush(): InputPiece[] {
    const bytes = Buffer.from(this.#torn, 'latin1')
    this.#torn = ''
    return bytes.length === 0 ? [] : [{ bytes, act: undefined, isText: false }]
  }

  #piece(match: RegExpMatchArray): InputPiece {
    const [whole, paste, button, x, y, end] = match
    const bytes = Buffer.from(whole, 'latin1')
    const wasPaste = this.#isPaste
    if (paste !== undefined) this.#isPaste = paste === '0'
    if (paste !== undefined || wasPaste) return { bytes, act: undefined, isText: false }
    if (button !== undefined)
      return { bytes, act: mouse(Number(button), Number(x), Number(y), end === 'm'), isText: false }
    const isText = !whole.startsWith('\u001b')
    return { bytes, act: isText ? undefined : key(match), isText }
  }
}

/** Each character of a text as the key that types it. */
export function keysOf(bytes: Buffer): Key[] {
  return Array.from(bytes.toString('utf8'), (char) => ({ is: 'key', name: CONTROLS[char] ?? char }))
}

const WHEEL = 64

function mouse(button: number, x: number, y: number, isRelease: boolean): Mouse {
  const at = { is: 'mouse', button, isRelease, x: x - 1, y: y - 1 } as const
  if ((button & WHEEL) !== 0)
    return { ...at, does: (button & 3) === 0 ? 'wheel-up' : (button & 3) === 1 ? 'wheel-down' : 'other' }
  // The left button selects; the others are not ours.
  if ((button & 3) !== 0) return { ...at, does: 'other' }
  if (isRelease) return { ...at, does: 'release' }
  return { ...at, does: (button & MOUSE_MOTION) === 0 ? 'press' : 'drag' }
}

/** Modifier bits of the kitty protocol. */
const SHIFT = 1
const CONTROL = 4
/** Caps Lock and Num Lock. */
const LOCKS = 64 | 128
const RELEASED = '3'

/** The same name for a key in every way that terminals write it; nothing for one that was let go. */
function key([
  whole = '',
  ,
  ,
  ,
  ,
  ,
  number,
  modifiers,
  event,
  final,
  letterModifiers,
  letterEvent,
  letter,
]: RegExpMatchArray): Key | undefined {
  if (event === RELEASED || letterEvent === RELEASED) return undefined
  const bits = (Number(modifiers ?? letterModifiers ?? 1) - 1) & ~LOCKS
  if (letter !== undefined) return named(LETTERED[letter], bits)
  if (number === undefined) return named(CONTROLS[whole], 0)
  if (final === '~') return named(NUMBERED[number], bits)
  const char = String.fromCodePoint(Math.min(Number(number), 0x10_ffff))
  if ((bits & CONTROL) !== 0) return char === 'c' ? { is: 'key', name: 'ctrl-c' } : undefined
  return { is: 'key', name: CONTROLS[char] ?? ((bits & SHIFT) === 0 ? char : char.toUpperCase()) }
}

function named(name: string | undefined, bits: number): Key | undefined {
  if (name === undefined) return undefined
  return { is: 'key', name: bits === SHIFT ? `shift-${name}` : name }
}

const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'
/** Longest form looked for is a key of the kitty protocol with all its fields. */
const RECENT_CHARS = 24

/** `CSI 92;5u` of the kitty protocol, and `CSI 27;5;92~` of xterm's modifyOtherKeys. */
const FORMS = [/\u001b\[(?<key>\d+)(?::\d*)*;(?<modifiers>\d+)(?::1)?u$/, /\u001b\[27;(?<modifiers>\d+);(?<key>\d+)~$/]

export interface Typed {
  /** What goes to the session. */
  readonly bytes: Buffer
  readonly isDetach: boolean
}

export class DetachKey {
  readonly #byte: number
  /** The key without Control, as terminals name it that write keys as numbers. */
  readonly #letter: number
  #recent = ''
  #isPaste = false

  /** 0 turns the key off. */
  constructor(byte: number) {
    this.#byte = byte
    this.#letter = byte >= 1 && byte <= 26 ? byte + 96 : byte + 64
  }

  take(chunk: Buffer): Typed {
    if (this.#byte === 0) return { bytes: chunk, isDetach: false }
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0
      if (byte === this.#byte && !this.#isPaste) return { bytes: chunk.subarray(0, at), isDetach: true }
      this.#recent = (this.#recent + String.fromCharCode(byte)).slice(-RECENT_CHARS)
      if (this.#recent.endsWith(PASTE_START)) this.#isPaste = true
      else if (this.#recent.endsWith(PASTE_END)) this.#isPaste = false
      const sequence = (byte === 0x75 || byte === 0x7e) && !this.#isPaste ? this.#writtenKey() : 0
      if (sequence > 0) return { bytes: chunk.subarray(0, Math.max(0, at + 1 - sequence)), isDetach: true }
    }
    return { bytes: chunk, isDetach: false }
  }

  /** Length of the escape sequence that ends here and is the detach key pressed; 0 when it is another one. */
  #writtenKey(): number {
    for (const form of FORMS) {
      const found = form.exec(this.#recent)
      const { key, modifiers } = found?.groups ?? {}
      if (found === null || Number(key) !== this.#letter) continue
      if (((Number(modifiers) - 1) & ~LOCKS) === CONTROL) return found[0].length
    }
    return 0
  }
}

/** Keys that end an answer. Others with a name of their own lead to one, as arrows in a menu do. */
const ENDS = ['enter', 'escape']

/**
 * Fed with what the view types into the program. Whatever comes with it is told apart by keys and not by reads: on a busy
 * machine an answer stands in one read with what the terminal says by itself.
 */
export class TypedAnswer {
  readonly #keys = new ViewKeys()
  #typed = 0
  #isLineOpen = false
  #lastMs = Number.POSITIVE_INFINITY

  take(bytes: Buffer, nowMs: number): void {
    const keys = this.#keys.read(bytes).flatMap(typedKeys)
    const last = keys.at(-1)
    if (last === undefined) return
    this.#typed += keys.length
    this.#isLineOpen = !ENDS.includes(last.name)
    this.#lastMs = nowMs
  }

  /** An unfinished line is not an answer, and neither is one that is still being typed. */
  isWhole(nowMs: number): boolean {
    return this.#typed > 0 && nowMs - this.#lastMs >= NEXT_SETTLE_MS && (!this.#isLineOpen || this.#typed === 1)
  }
}

function typedKeys({ act, bytes, isText }: InputPiece): readonly Key[] {
  if (isText) return keysOf(bytes)
  // A paste has no keys, and its text is typed all the same; its marks, and what is no key, are not.
  if (act === undefined) return bytes[0] === 0x1b ? [] : keysOf(bytes)
  return act.is === 'key' && (ENDS.includes(act.name) || act.name.length === 1) ? [act] : []
}
