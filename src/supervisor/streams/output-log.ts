// The output of a session by absolute offset: slabs that the terminal is read into and that clients are sent from, uncopied.
import { advance, type CutState, START_OF_STREAM, isCut, nextCut } from './cut.ts'

const ESC = 0x1b
/**
 * What the kernel gives of a flood at a time. Room for exactly this is filled by one read, and behind a read that filled
 * its room the next one is made at once; a read that did not is followed by a wait for the kernel's word.
 */
export const READ_BYTES = 4_095
/** 32 of them: as many as are made in a row. */
const SLAB_BYTES = 32 * READ_BYTES

interface Slab {
  readonly bytes: Buffer
  readonly start: number
  used: number
  /** Where the stream stood in escape sequences at the slab's first byte. */
  readonly cut: CutState
}

export class OutputLog {
  readonly #keepBytes: number
  readonly #isInFlight: (from: number, to: number) => boolean
  readonly #slabs: Slab[] = []
  /** Memory of a slab that was dropped. One is enough: a slab is dropped for each that begins. */
  #spare: Buffer | undefined
  #end = 0
  #cutAtEnd: CutState = START_OF_STREAM
  /** How far `#cutAtEnd` has been worked out. */
  #cutOffset = 0

  /**
   * `isInFlight`: whether any of these bytes may still be on its way out of this memory. What is dropped and is not, is
   * read into again; by default nothing is.
   */
  constructor(keepBytes: number, isInFlight: (from: number, to: number) => boolean = () => true) {
    this.#keepBytes = keepBytes
    this.#isInFlight = isInFlight
  }

  /** The first byte that is still kept. */
  get start(): number {
    return Math.max(this.#slabs[0]?.start ?? this.#end, this.#end - this.#keepBytes)
  }

  /** The byte after the last one. */
  get end(): number {
    return this.#end
  }

  /** Room for the next read, in the slab that holds the bytes before it where possible. */
  room(): Buffer {
    const last = this.#slabs.at(-1)
    if (last !== undefined && SLAB_BYTES - last.used >= READ_BYTES)
      return last.bytes.subarray(last.used, last.used + READ_BYTES)
    const bytes = this.#spare ?? Buffer.allocUnsafeSlow(SLAB_BYTES)
    this.#spare = undefined
    this.#slabs.push({ bytes, start: this.#end, used: 0, cut: this.#cutState() })
    return bytes.subarray(0, READ_BYTES)
  }

  commit(bytes: number): void {
    const last = this.#slabs.at(-1)
    if (last === undefined) return
    last.used += bytes
    this.#end += bytes
    const oldest = this.#slabs[0]
    if (oldest === undefined || oldest === last) return
    const oldestEnd = oldest.start + oldest.used
    if (oldestEnd > this.#end - this.#keepBytes) return
    this.#slabs.shift()
    if (!this.#isInFlight(oldest.start, oldestEnd)) this.#spare = oldest.bytes
  }

  /** The kept bytes from `from` up to `to`, as views. */
  slices(from: number, to: number): Buffer[] {
    // From the newest back: what is asked for is nearly always the end of a long log.
    const slices: Buffer[] = []
    for (let n = this.#slabs.length - 1; n >= 0; n -= 1) {
      const slab = this.#slabs[n]
      if (slab === undefined || slab.start + slab.used <= from) break
      if (slab.start < to)
        slices.push(slab.bytes.subarray(Math.max(0, from - slab.start), Math.min(slab.used, to - slab.start)))
    }
    return slices.toReversed()
  }

  /**
   * The first offset at or after `from` where neither an escape sequence nor a character is torn;
   * nothing when the stream has not come to such a place yet.
   */
  cutAtOrAfter(from: number): number | undefined {
    if (from >= this.#end) return isCut(this.#cutState()) ? this.#end : undefined
    const first = this.#slabs.findIndex((slab) => slab.start + slab.used > from)
    const slab = this.#slabs[first]
    if (slab === undefined) return undefined
    const at = from - slab.start
    let state = advance(slab.cut, slab.bytes.subarray(0, at))
    if (isCut(state)) return from
    for (const [index, next] of this.#slabs.slice(first).entries()) {
      const bytes = next.bytes.subarray(index === 0 ? at : 0, next.used)
      const cut = nextCut(state, bytes)
      if (cut.found) return next.start + (index === 0 ? at : 0) + cut.length
      state = cut.state
    }
    return undefined
  }

  /** The last such offset at or before `to`; `to` itself when an unfinished sequence goes back further than what is kept. */
  cutAtOrBefore(to: number): number {
    for (let at = to; at > this.start;) {
      const slab = this.#slabs.findLast(({ start }) => start < at)
      if (slab === undefined) break
      const before = slab.bytes.subarray(0, at - slab.start)
      const state = advance(slab.cut, before)
      if (isCut(state)) return at
      // Back to where the sequence or the character began.
      const escape = before.lastIndexOf(ESC)
      at = state.mode === 'text' ? at - 1 : slab.start + Math.max(0, escape)
    }
    return this.start === 0 ? 0 : to
  }

  /** Caught up lazily, a slab at a time: text without escapes costs one native search. */
  #cutState(): CutState {
    for (const bytes of this.slices(this.#cutOffset, this.#end)) this.#cutAtEnd = advance(this.#cutAtEnd, bytes)
    this.#cutOffset = this.#end
    return this.#cutAtEnd
  }
}
