// What must not be missed of output that the emulator has no time for: what changes modes and colours, and questions. Pure.
import { QUERY } from '../../cells/terminal-queries.ts'

const ESC = 0x1b
/** Long enough for any control sequence; a longer one is no sequence. */
const SEQUENCE_BYTES = 64
/** Long enough for a palette that is set in one command; a longer one is text in an unfinished string. */
const STRING_BYTES = 8 << 10
/** `]` and `P`, behind ESC. */
const STRINGS = [0x5d, 0x50]
/** Modes, margins, cursor shape, keyboard, resets, character sets, saved cursor, keypad. Positions and text are not kept. */
const LASTING = /^\x1b(?:\[[<=>?]?[\d;:]*[ !]?[hlrqpu]|\[>[\d;]*m|[78c=>]|[()*+][0-9A-Za-z])/
/** Colours of the palette, of text, background and cursor: set, or as they were. */
const PALETTE = /^\x1b\](?:104(?:;[\d;]*)?|11[0-2]|(?:4|1[0-2]);[^\x07\x1b]*)(?:\x07|\x1b\\)/
/** Whoever asked waits for an answer, however fast the rest went by. */
const ASKING = new RegExp(`^(?:${QUERY.source})`)
const COLOR = /^\x1b\[[\d;:]*m/
const COLORS_MAX = 32
/** Sequences that place the cursor or change cells: nine of ten in a screen that is redrawn, and nothing is left of them. */
const PASSING = new Set(Buffer.from('@ABCDEFGHJKLMPSTXdf'))
const CSI = 0x5b
const COLOR_FINAL = 0x6d
const ZERO = 0x30

/** The bytes to give the emulator in place of `slices`. */
export function condense(slices: readonly Buffer[]): Buffer {
  const lasting: string[] = []
  const colors = new LastColors()
  for (const [index, bytes] of slices.entries())
    for (let at = bytes.indexOf(ESC); at >= 0; at = bytes.indexOf(ESC, at + 1)) {
      const final = finalOf(bytes, at)
      if (final > 0 && PASSING.has(bytes[final] ?? 0)) continue
      if (final > 0 && bytes[final] === COLOR_FINAL) {
        colors.add(bytes, at, final + 1)
        continue
      }
      const isString = STRINGS.includes(byteAt(slices, index, at + 1))
      const text = textAt(slices, index, at, isString ? STRING_BYTES : SEQUENCE_BYTES)
      const color = COLOR.exec(text)
      if (color !== null) colors.add(Buffer.from(color[0], 'latin1'), 0, color[0].length)
      else {
        const found = LASTING.exec(text) ?? PALETTE.exec(text) ?? ASKING.exec(text)
        if (found !== null) lasting.push(found[0])
      }
    }
  return Buffer.concat([Buffer.from(lasting.join(''), 'latin1'), ...colors.kept()])
}

interface Place {
  bytes: Buffer
  from: number
  to: number
}

/** What the text would be coloured with: the last of all that came since the last reset. Makes no garbage: there may be thousands. */
class LastColors {
  readonly #ring: Place[] = []
  #count = 0

  add(bytes: Buffer, from: number, to: number): void {
    if (isReset(bytes, from, to)) this.#count = 0
    const place = (this.#ring[this.#count % COLORS_MAX] ??= { bytes, from, to })
    place.bytes = bytes
    place.from = from
    place.to = to
    this.#count += 1
  }

  kept(): Buffer[] {
    const length = Math.min(this.#count, COLORS_MAX)
    return Array.from({ length }, (_, n) => this.#ring[(this.#count - length + n) % COLORS_MAX]).flatMap((place) =>
      place === undefined ? [] : [place.bytes.subarray(place.from, place.to)],
    )
  }
}

/** Only zeros, or nothing, between the bracket and the m. */
function isReset(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from + 2; at < to - 1; at += 1) if (bytes[at] !== ZERO) return false
  return true
}

/** Where a control sequence with nothing but numbers in it ends; 0 for any other, and for one that goes on elsewhere. */
function finalOf(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== CSI) return 0
  const to = Math.min(bytes.length, at + SEQUENCE_BYTES)
  for (let n = at + 2; n < to; n += 1) {
    const byte = bytes[n] ?? 0
    if (byte < 0x30 || byte > 0x3b) return byte >= 0x40 && byte <= 0x7e ? n : 0
  }
  return 0
}

function byteAt(slices: readonly Buffer[], index: number, at: number): number {
  const here = slices[index]
  if (here === undefined) return 0
  return at < here.length ? (here[at] ?? 0) : byteAt(slices, index + 1, at - here.length)
}

/** `bytes` from a place on, wherever one slice ends and the next begins. */
function textAt(slices: readonly Buffer[], index: number, at: number, bytes: number): string {
  const here = slices[index]?.toString('latin1', at, at + bytes) ?? ''
  return here.length >= bytes || index + 1 >= slices.length
    ? here
    : here + textAt(slices, index + 1, 0, bytes - here.length)
}
