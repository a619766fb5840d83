// How many cells characters take, by the rule of terminals that cluster graphemes: the one place for both emulators. Pure.
import { RUNS, UNICODE_VERSION } from './width-table.ts'

export const ZWJ = 0x200d
const EMOJI_STYLE = 0xfe0f
/** Skin colours, and the letters that make flags in pairs. */
export const isSkin = (code: number): boolean => code >= 0x1f3fb && code <= 0x1f3ff
const isRegional = (code: number): boolean => code >= 0x1f1e6 && code <= 0x1f1ff
export const isFlag = (codes: readonly number[]): boolean => codes.length === 2 && codes.every(isRegional)

const WIDTH = 3
const PICTOGRAPHIC = 4
const TAKES_SKIN = 8
const SHOWN_AS_TEXT = 16
/** Only of what came before, not of a character: joined to the next pictograph; half a flag. */
const JOINS_NEXT = 32
const HALF_FLAG = 64

const PLANES_0_AND_1 = 0x2_0000

function readRuns(): Uint8Array {
  const made = new Uint8Array(PLANES_0_AND_1)
  let filled = 0
  for (const run of RUNS.split(' ')) {
    const count = Number.parseInt(run.slice(1), 36)
    made.fill(Number.parseInt(run.slice(0, 1), 36), filled, filled + count)
    filled += count
  }
  return made
}

/** Made with the first character that is asked for: much of what may draw never does. */
let classes: Uint8Array | undefined

function classOf(code: number): number {
  if (code < PLANES_0_AND_1) return (classes ??= readRuns())[code] ?? 1
  // Ideographs; tags and variation selectors; private use.
  return code < 0x4_0000 ? 2 : code >= 0xe_0000 && code < 0xe_1000 ? 0 : 1
}

/** As the emulator packs it: whether the character joins the cell before it, the width of that cell then, and a state. */
type Properties = number

const packed = (state: number, width: number, joins: boolean): Properties =>
  (state << 3) | (width << 1) | (joins ? 1 : 0)

/** What `code` does behind `before`, which is 0 at the start of a text. */
function propertiesOf(code: number, before: Properties): Properties {
  const is = classOf(code)
  const width = is & WIDTH
  const state = before >> 3
  const widthBefore = (before >> 1) & 3
  if (width === 0) {
    if (code === ZWJ) return packed(state & PICTOGRAPHIC && state | JOINS_NEXT, widthBefore, true)
    if (code !== EMOJI_STYLE) return packed(state & PICTOGRAPHIC, widthBefore, true)
    return packed(state & ~SHOWN_AS_TEXT, state & SHOWN_AS_TEXT ? 2 : widthBefore, true)
  }
  if (state & JOINS_NEXT && is & PICTOGRAPHIC) return packed(is & ~WIDTH, widthBefore, true)
  if (state & TAKES_SKIN && isSkin(code)) return packed(PICTOGRAPHIC, 2, true)
  if (isRegional(code)) return state & HALF_FLAG ? packed(0, 2, true) : packed(HALF_FLAG, width, false)
  return packed(is & ~WIDTH, width, false)
}

/** Cells that a character takes by itself. */
export const widthOf = (code: number): 0 | 1 | 2 => (classOf(code) & WIDTH) as 0 | 1 | 2

/** The widths as a version of the emulator's own interface for them. */
export const widthVersion = {
  version: `${UNICODE_VERSION}-clusters`,
  wcwidth: widthOf,
  charProperties: propertiesOf,
}

/** Cells that a text without controls takes. */
export function cellsOf(text: string): number {
  let cells = 0
  let before = 0
  for (const char of text) {
    const now = propertiesOf(char.codePointAt(0) ?? 0, before)
    cells += ((now >> 1) & 3) - (now & 1 ? (before >> 1) & 3 : 0)
    before = now
  }
  return cells
}
