// Characters of JSON strings as bytes: escapes both ways, UTF-8, and where a piece of input cuts one in two.

/** The escape letter of a control character that has a short form. */
const LETTER_OF = new Uint8Array(32)
/** What an escape letter stands for; 0 for letters that no escape has. */
export const BYTE_OF = new Uint8Array(256)
for (const [letter, byte] of [
  ['b', 8],
  ['t', 9],
  ['n', 10],
  ['f', 12],
  ['r', 13],
] as const) {
  LETTER_OF[byte] = letter.charCodeAt(0)
  BYTE_OF[letter.charCodeAt(0)] = byte
}
for (const byte of Buffer.from('"\\/')) BYTE_OF[byte] = byte

/** 1 for letters whose escape is how the canonical text writes that character too. */
export const IS_CANONICAL_ESCAPE = new Uint8Array(256)
for (const byte of Buffer.from('btnfr"\\')) IS_CANONICAL_ESCAPE[byte] = 1

/** Moves bytes within one memory and returns their new end. For a few of them a loop beats the call into the runtime. */
export function moveBytes(text: Buffer, start: number, end: number, at: number): number {
  if (end - start > 12) {
    text.copyWithin(at, start, end)
    return at + (end - start)
  }
  for (let i = start; i < end; i += 1) text[at++] = text[i] as number
  return at
}

/** The value of a hexadecimal digit, or -1. */
export function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Writes one character that was escaped in the source: escaped again where it must be, as UTF-8 where not. */
export function writeCharacter(out: Buffer, o: number, point: number): number {
  if (point < 0x20) {
    out[o++] = 0x5c
    const letter = LETTER_OF[point] as number
    if (letter === 0) return o + out.write(`u00${point < 16 ? '0' : '1'}${(point & 15).toString(16)}`, o, 'latin1')
    out[o++] = letter
  } else if (point < 0x80) {
    if (point === 0x22 || point === 0x5c) out[o++] = 0x5c
    out[o++] = point
  } else if (point < 0x800) {
    out[o++] = 0xc0 | (point >> 6)
    out[o++] = 0x80 | (point & 63)
  } else if (point < 0x10000) {
    out[o++] = 0xe0 | (point >> 12)
    out[o++] = 0x80 | ((point >> 6) & 63)
    out[o++] = 0x80 | (point & 63)
  } else {
    out[o++] = 0xf0 | (point >> 18)
    out[o++] = 0x80 | ((point >> 12) & 63)
    out[o++] = 0x80 | ((point >> 6) & 63)
    out[o++] = 0x80 | (point & 63)
  }
  return o
}

/** Where a character begins that the end of `src` cuts in two, or the end. */
export function cutCharacter(src: Buffer): number {
  const end = src.length
  for (let back = 1; back <= 3 && back <= end; back += 1) {
    const byte = src[end - back] as number
    if (byte < 0x80) return end
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? end - back : end
  }
  return end
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** How a message speaks of a byte. */
export function nameOf(byte: number): string {
  if (byte > 0x20 && byte < 0x7f) return `"${String.fromCharCode(byte)}"`
  return `byte 0x${byte.toString(16).padStart(2, '0')}`
}
