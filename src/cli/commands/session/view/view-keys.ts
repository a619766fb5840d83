// What a person at a viewer's terminal does that may concern the viewer: keys by name, the mouse, and bytes for the program.
import { MOUSE_MOTION, type MouseReport } from '../../../../cells/mouse.ts'

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
  // Of the buttons the left one selects; the others are the terminal's or nobody's.
  if ((button & 3) !== 0) return { ...at, does: 'other' }
  if (isRelease) return { ...at, does: 'release' }
  return { ...at, does: (button & MOUSE_MOTION) === 0 ? 'press' : 'drag' }
}

const SHIFT = 1
const CONTROL = 4
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
