// What a terminal shows of bytes, as one text: escape sequences and control characters taken out, each byte with its place.

interface PlainText {
  readonly bytes: Buffer
  /** Where each byte stood in what was given. */
  readonly places: Uint32Array
  /** From here on an escape sequence is not finished. */
  readonly unfinishedFrom: number
}

const ESC = 0x1b
const BEL = 0x07
const BACKSLASH = 0x5c
/** Sequences that go on until they are told to end: DCS, SOS, OSC, PM, APC. */
const STRINGS: ReadonlySet<number> = new Set([0x50, 0x58, 0x5d, 0x5e, 0x5f])
const CSI = 0x5b

/**
 * Ends of lines go as well: a program that is out of columns goes on in the next line, and to whoever reads the screen
 * that is the same word.
 */
export function plainText(given: Buffer): PlainText {
  const bytes = Buffer.allocUnsafe(given.length)
  const places = new Uint32Array(given.length)
  let count = 0
  let unfinishedFrom = given.length
  for (let at = 0; at < given.length;) {
    const byte = given[at] as number
    if (byte === ESC) {
      const end = endOfSequence(given, at + 1)
      if (end === -1) {
        unfinishedFrom = at
        break
      }
      at = end
      continue
    }
    if (!isControl(byte)) {
      bytes[count] = byte
      places[count] = at
      count += 1
    }
    at += 1
  }
  return { bytes: bytes.subarray(0, count), places: places.subarray(0, count), unfinishedFrom }
}

export const isControl = (byte: number): boolean => byte < 0x20 || byte === 0x7f

/** The place behind a sequence whose escape character stands before `from`, or -1 when its end is yet to come. */
function endOfSequence(bytes: Buffer, from: number): number {
  const kind = bytes[from]
  if (kind === undefined) return -1
  if (STRINGS.has(kind)) return endOfString(bytes, from + 1)
  let at = kind === CSI ? from + 1 : from
  const isInside = kind === CSI ? isParameter : isIntermediate
  while (at < bytes.length && isInside(bytes[at] as number)) at += 1
  if (at === bytes.length) return -1
  // What cannot end a sequence breaks it off, and is looked at by itself.
  return isControl(bytes[at] as number) ? at : at + 1
}

const isIntermediate = (byte: number): boolean => byte >= 0x20 && byte < 0x30
const isParameter = (byte: number): boolean => byte >= 0x20 && byte < 0x40

function endOfString(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === BEL) return at + 1
    if (byte !== ESC) continue
    if (at + 1 === bytes.length) return -1
    return bytes[at + 1] === BACKSLASH ? at + 2 : at
  }
  return -1
}
