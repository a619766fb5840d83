// Members of the objects being written: where each key stands in the output, and how to put them in order.
import { BYTE_OF, hexValue } from './characters.ts'

/** Offsets into the output, two for each key of every object that is still open: first byte and end, without the quotes. */
export class Members {
  offsets = new Int32Array(256)
  /** Entries in use; always even. */
  length = 0

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
export function compareKeys(
  aText: Uint8Array,
  a: number,
  aEnd: number,
  bText: Uint8Array,
  b: number,
  bEnd: number,
): number {
  while (a < aEnd && b < bEnd) {
    let x = aText[a++] as number
    let y = bText[b++] as number
    if (x === BACKSLASH) {
      x = unescaped(aText, a)
      a += aText[a] === LETTER_U ? 5 : 1
    }
    if (y === BACKSLASH) {
      y = unescaped(bText, b)
      b += bText[b] === LETTER_U ? 5 : 1
    }
    if (x !== y) return x - y
  }
  return aEnd - a - (bEnd - b)
}

const BACKSLASH = 0x5c
const LETTER_U = 0x75

/** The byte that the canonical escape whose letter is at `at` stands for. */
function unescaped(text: Uint8Array, at: number): number {
  const letter = text[at] as number
  if (letter !== LETTER_U) return BYTE_OF[letter] as number
  return hexValue(text[at + 3] as number) * 16 + hexValue(text[at + 4] as number)
}

/**
 * The members from `base` on as indexes in key order, or where in `text` a key begins that is there twice. `text` has
 * them `shift` bytes after their offsets. Objects are small, so a handful is sorted by insertion.
 */
export function orderMembers(text: Uint8Array, members: Members, base: number, shift: number): number[] | number {
  const { offsets, length } = members
  const order: number[] = []
  for (let at = base; at < length; at += 2) order.push(at)
  const compare = (a: number, b: number): number =>
    compareKeys(
      text,
      (offsets[a] as number) + shift,
      (offsets[a + 1] as number) + shift,
      text,
      (offsets[b] as number) + shift,
      (offsets[b + 1] as number) + shift,
    )
  if (order.length > 12) order.sort(compare)
  else insertionSort(order, compare)
  for (let i = 1; i < order.length; i += 1)
    if (compare(order[i - 1] as number, order[i] as number) === 0)
      return (offsets[order[i] as number] as number) + shift
  return order
}

function insertionSort(order: number[], compare: (a: number, b: number) => number): void {
  for (let i = 1; i < order.length; i += 1) {
    const moving = order[i] as number
    let j = i
    while (j > 0 && compare(order[j - 1] as number, moving) > 0) {
      order[j] = order[j - 1] as number
      j -= 1
    }
    order[j] = moving
  }
}
