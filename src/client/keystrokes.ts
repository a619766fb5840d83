// Text and keys as a terminal would send them to the program in it, given the modes that the program has switched on.
import { HeimdallError } from '../errors.ts'
import { nearest } from '../suggest.ts'
import type { Info } from '../wire/payloads.ts'

export type Modes = Info['modes']

const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'

/** Bits of the kitty keyboard protocol: only the second of these changes what Enter sends. */
const KITTY_EVENT_TYPES = 2
const KITTY_ALL_AS_ESCAPES = 8

export interface Paste {
  readonly bytes: Buffer
  readonly isBracketed: boolean
}

/**
 * A text as a paste: line breaks become carriage returns, as terminals do. A program that asked for it is told where
 * the paste begins and ends, so that it does not take line breaks for Enter.
 */
export function encodePaste(text: string, modes: Modes): Paste {
  const typed = text.replaceAll(/\r?\n/g, '\r')
  // Nothing is no paste: a program would take the marks for one, and act on it.
  if (modes['bracketed_paste'] !== true || typed === '') return { bytes: Buffer.from(typed), isBracketed: false }
  if (typed.includes(PASTE_END) || typed.includes('\u009b201~'))
    throw new HeimdallError('SEND_UNSAFE', 'the text holds the escape sequence that ends a paste', {
      hint: 'remove ESC [ 2 0 1 ~ from the text',
    })
  return { bytes: Buffer.from(PASTE_START + typed + PASTE_END), isBracketed: true }
}

/**
 * Enter. Under the kitty keyboard protocol it stays a carriage return until a program asks for all keys as escape
 * codes; such a program does not know a bare carriage return as a key.
 */
export function encodeEnter(modes: Modes): string {
  const flags = Number(modes['keyboard_flags'] ?? 0)
  if ((flags & KITTY_ALL_AS_ESCAPES) === 0) return '\r'
  return (flags & KITTY_EVENT_TYPES) === 0 ? '\u001b[13u' : '\u001b[13u\u001b[13;1:3u'
}

const ARROWS = { up: 'A', down: 'B', right: 'C', left: 'D', home: 'H', end: 'F' } as const
const PLAIN = {
  escape: '\u001b',
  tab: '\t',
  'shift-tab': '\u001b[Z',
  space: ' ',
  backspace: '\u007f',
  delete: '\u001b[3~',
  'page-up': '\u001b[5~',
  'page-down': '\u001b[6~',
} as const

export const KEY_NAMES: readonly string[] = ['enter', ...Object.keys(PLAIN), ...Object.keys(ARROWS), 'ctrl-a … ctrl-z']

/** One named key: `enter`, `escape`, `up`, `ctrl-c` … */
export function encodeKey(name: string, modes: Modes): string {
  if (name === 'enter') return encodeEnter(modes)
  if (Object.hasOwn(PLAIN, name)) return PLAIN[name as keyof typeof PLAIN]
  if (Object.hasOwn(ARROWS, name))
    return `\u001b${modes['application_cursor'] === true ? 'O' : '['}${ARROWS[name as keyof typeof ARROWS]}`
  const letter = /^ctrl-([a-z\\[\]^_@])$/.exec(name)?.[1]
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f)
  const close = nearest(name, KEY_NAMES)
  throw new HeimdallError('USAGE', `unknown key ${JSON.stringify(name)}`, {
    hint: close === undefined ? `known keys: ${KEY_NAMES.join(', ')}` : `did you mean ${close}?`,
  })
}
