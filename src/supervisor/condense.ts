// What must not be missed of output that the emulator has no time for: what changes modes and colours, and questions. Pure.
import { QUERY } from './terminal-queries.ts'

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
const COLOR_RESET = /^\x1b\[0*m/
const COLORS_MAX = 32

/** The bytes to give the emulator in place of `slices`. */
export function condense(slices: readonly Buffer[]): Buffer {
  const lasting: string[] = []
  let colors: string[] = []
  const bytes = slices.length === 1 && slices[0] !== undefined ? slices[0] : Buffer.concat(slices)
  for (let at = bytes.indexOf(ESC); at >= 0; at = bytes.indexOf(ESC, at + 1)) {
    const isString = STRINGS.includes(bytes[at + 1] ?? 0)
    const text = bytes.toString('latin1', at, at + (isString ? STRING_BYTES : SEQUENCE_BYTES))
    const color = COLOR.exec(text)
    if (color === null) {
      const found = LASTING.exec(text) ?? PALETTE.exec(text) ?? ASKING.exec(text)
      if (found !== null) lasting.push(found[0])
    } else colors = COLOR_RESET.test(color[0]) ? [color[0]] : [...colors, color[0]].slice(-COLORS_MAX)
  }
  return Buffer.from(lasting.join('') + colors.join(''), 'latin1')
}
