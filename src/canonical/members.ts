// Members of the objects being written: where each key stands in the output, and how to put them in order.
import { BYTE_OF, hexValue } from './characters.ts'

/** Offsets into the output, two for each key of every object that is still open: first byte and end, without the quotes. */
export class Members {
  offsets = new Int32Array(256)
  /** Entries in use; always even. */
  length = 0
  /** The result of `orderMembers`: indexes into `offsets`. */
  order = new Int32Array(16)

  push(keyStart: number, keyEnd: number): void {
    if (this.length + 2 > this.offsets.length) {
      const wider = new Int32Array(this.offsets.length * 2)
      wider.set(this.offsets)
      this.offsets = wider
    }
    this.offsets[this.length] = keyStart
    this.offsets[this.length + 1] = keyEnd
    this.length += 2
  }
}

/**
 * Orders two keys of canonical text by code point, which is the order of their UTF-8 bytes once escapes are undone.
 * The canonical escapes all stand for one byte, so they are undone on the way.
 */
export function compareKeys(text: Uint8Array, a: number, aEnd: number, b: number, bEnd: number): number {
  while (a < aEnd && b < bEnd) {
    let x = text[a++] as number
    let y = text[b++] as number
    if (x === BACKSLASH) {
      x = unescaped(text, a)
      a += text[a] === LETTER_U ? 5 : 1
    }
    if (y === BACKSLASH) {
      y = unescaped(text, b)
      b += text[b] === LETTER_U ? 5 : 1
    }
    if (x !== y) return x - y
  }
  return aEnd - a - (bEnd - b)
}

const BACKSLASH = 0x5c
const LETTER_U = 0x75

/** The key that begins here, as far as a message needs it. */
export function keyText(text: Buffer, start: number): string {
  const shown = text.toString('latin1', start, start + 80).replace(/[^ -~]/g, '?')
  return /^(?:[^"\\]|\\.)*/.exec(shown)?.[0] ?? ''
}

/** The byte that the canonical escape whose letter is at `at` stands for. */
function unescaped(text: Uint8Array, at: number): number {
  const letter = text[at] as number
  if (letter !== LETTER_U) return BYTE_OF[letter] as number
  return hexValue(text[at + 3] as number) * 16 + hexValue(text[at + 4] as number)
}

/**
 * Puts the members from `base` on into `members.order`, by key; `text` has them `shift` bytes after their offsets. Returns
 * where in `text` a key begins that is there twice, or -1. Objects are small, so a handful is sorted by insertion.
 */
export function orderMembers(text: Uint8Array, members: Members, base: number, shift: number): number {
  const count = (members.length - base) / 2
  if (members.order.length < count) members.order = new Int32Array(count * 2)
  const { offsets, order } = members
  if (count > INSERTION_MAX) {
    const sorted = Array.from({ length: count }, (_, i) => base + 2 * i).sort((a, b) =>
      compareAt(text, offsets, a, b, shift),
    )
    order.set(sorted)
    for (let i = 1; i < count; i += 1)
      if (compareAt(text, offsets, sorted[i - 1] as number, sorted[i] as number, shift) === 0)
        return (offsets[sorted[i] as number] as number) + shift
    return -1
  }
  for (let i = 0; i < count; i += 1) {
    const moving = base + 2 * i
    let j = i
    for (; j > 0; j -= 1) {
      const compared = compareAt(text, offsets, order[j - 1] as number, moving, shift)
      if (compared === 0) return (offsets[moving] as number) + shift
      if (compared < 0) break
      order[j] = order[j - 1] as number
    }
    order[j] = moving
  }
  return -1
}

const INSERTION_MAX = 12

function compareAt(text: Uint8Array, offsets: Int32Array, a: number, b: number, shift: number): number {
  return compareKeys(
    text,
    (offsets[a] as number) + shift,
    (offsets[a + 1] as number) + shift,
    (offsets[b] as number) + shift,
    (offsets[b + 1] as number) + shift,
  )
}
