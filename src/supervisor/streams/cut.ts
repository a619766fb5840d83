// Where a terminal stream may be cut: between escape sequences and between characters. Pure; one native search per chunk.
import { SEQUENCE_BYTES_MAX } from '../../limits.ts'

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a

/**
 * `text`: outside of sequences. `escape`: after ESC. `intermediate`: as in ESC ( B. `control`: CSI up to its final byte.
 * `command`: OSC, ended by BEL or ESC \. `string`: DCS, SOS, PM and APC, ended by ESC \ alone.
 */
type Mode = 'text' | 'escape' | 'intermediate' | 'control' | 'command' | 'string'

export interface CutState {
  readonly mode: Mode
  /** Bytes since the sequence began. */
  readonly sequenceBytes: number
  /** Continuation bytes that the last character still lacks. */
  readonly characterBytes: number
}

const TEXT: CutState = { mode: 'text', sequenceBytes: 0, characterBytes: 0 }
export const START_OF_STREAM = TEXT

/** A sequence past the limit counts as cuttable: its end may never come. */
export function isCut(state: CutState): boolean {
  return (state.mode === 'text' || state.sequenceBytes > SEQUENCE_BYTES_MAX) && state.characterBytes === 0
}

/** The state after `bytes`. Any ESC starts anew, whatever came before, so only what follows the last one is looked at. */
export function advance(state: CutState, bytes: Buffer): CutState {
  const escape = bytes.lastIndexOf(ESC)
  if (escape < 0) return run(state, bytes).state
  // A string goes on behind an ESC that is not its end only as a new sequence, so nothing before it matters.
  return run({ mode: 'escape', sequenceBytes: 1, characterBytes: 0 }, bytes.subarray(escape + 1)).state
}

export type NextCut =
  | { readonly found: true; readonly length: number }
  | { readonly found: false; readonly state: CutState }

/** How many of `bytes` must follow an uncuttable state until it is cuttable. */
export function nextCut(state: CutState, bytes: Buffer): NextCut {
  let now = state
  for (let at = 0; at < bytes.length; at += 1) {
    if (isCut(now)) return { found: true, length: at }
    now = step(now, bytes[at] ?? 0)
  }
  return isCut(now) ? { found: true, length: bytes.length } : { found: false, state: now }
}

/** Bytes without ESC: once in text, only the last character matters. */
function run(state: CutState, bytes: Buffer): { state: CutState } {
  let now = state
  let at = 0
  while (at < bytes.length && now.mode !== 'text') {
    if (now.mode === 'command' || now.mode === 'string') {
      const end = endOfString(now.mode, bytes, at)
      if (end < 0) return { state: { ...now, sequenceBytes: now.sequenceBytes + bytes.length - at } }
      now = TEXT
      at = end + 1
    } else {
      now = step(now, bytes[at] ?? 0)
      at += 1
    }
  }
  if (at >= bytes.length) return { state: now }
  return { state: { ...TEXT, characterBytes: missing(now.characterBytes, bytes, at) } }
}

function endOfString(mode: 'command' | 'string', bytes: Buffer, from: number): number {
  const ends = [CAN, SUB, ...(mode === 'command' ? [BEL] : [])]
  return ends.map((byte) => bytes.indexOf(byte, from)).reduce((a, b) => (a < 0 ? b : b < 0 ? a : Math.min(a, b)))
}

/** Continuation bytes that are still to come after `bytes[from..]`, given those owed before. */
function missing(owed: number, bytes: Buffer, from: number): number {
  for (let back = 1; back <= 3 && bytes.length - back >= from; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return Math.max(0, lengthOf(byte) - back)
  }
  const count = bytes.length - from
  return count < 3 && owed > count ? owed - count : 0
}

const lengthOf = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2)

function step(state: CutState, byte: number): CutState {
  if (byte === ESC) return { mode: 'escape', sequenceBytes: 1, characterBytes: 0 }
  if (state.mode === 'text') return { ...TEXT, characterBytes: owed(state.characterBytes, byte) }
  if (byte === CAN || byte === SUB) return TEXT
  const mode = nextMode(state.mode, byte)
  return mode === 'text' ? TEXT : { mode, sequenceBytes: state.sequenceBytes + 1, characterBytes: 0 }
}

function owed(before: number, byte: number): number {
  if (byte >= 0xc0) return lengthOf(byte) - 1
  return byte >= 0x80 && before > 0 ? before - 1 : 0
}

function nextMode(mode: Exclude<Mode, 'text'>, byte: number): Mode {
  if (mode === 'command') return byte === BEL ? 'text' : 'command'
  if (mode === 'string') return 'string'
  if (mode === 'control') return byte >= 0x40 && byte !== 0x7f ? 'text' : 'control'
  // Controls are carried out in place, intermediates go on, the rest chooses or ends.
  if (byte < 0x20) return mode
  if (byte < 0x30) return 'intermediate'
  if (mode === 'intermediate') return 'text'
  if (byte === 0x5b) return 'control'
  if (byte === 0x5d) return 'command'
  return byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f ? 'string' : 'text'
}
