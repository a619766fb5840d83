// Many byte strings looked for at once, in one pass that skips most of the bytes (Wu and Manber).
import type { Form } from './forms.ts'

/** Bytes of a block, by which it is known how far the search may skip. Two would be in every text: digits and letters. */
const BLOCK = 3
const BLOCKS = 1 << 18
/** Shorter ones would shorten every skip: they are looked for one by one. */
const SKIPPING_MIN = 8

export class Needles {
  readonly #short: readonly Form[]
  readonly #byFirstByte: readonly (readonly Form[])[]
  /** All that skip are compared by this many of their first bytes. */
  readonly #window: number
  readonly #skips: Uint8Array
  readonly #byLastBlock: ReadonlyMap<number, readonly Form[]>
  readonly longest: number

  constructor(forms: readonly Form[]) {
    const all = forms.flatMap(withCapitals)
    this.#short = all.filter(({ bytes }) => bytes.length < SKIPPING_MIN)
    const skipping = all.filter(({ bytes }) => bytes.length >= SKIPPING_MIN)
    this.longest = Math.max(0, ...forms.map(({ bytes }) => bytes.length))
    this.#byFirstByte = Array.from({ length: 256 }, (_, byte) => all.filter(({ bytes }) => bytes[0] === byte))
    this.#window = Math.min(255, ...skipping.map(({ bytes }) => bytes.length))
    this.#skips = new Uint8Array(BLOCKS).fill(this.#window - BLOCK + 1)
    const byLastBlock = new Map<number, Form[]>()
    for (const form of skipping)
      for (const block of this.#addSkips(form)) byLastBlock.set(block, [...(byLastBlock.get(block) ?? []), form])
    this.#byLastBlock = byLastBlock
  }

  /** Every place where one of them stands, in no particular order. */
  find(bytes: Buffer, onFound: (from: number, to: number) => void): void {
    for (const { bytes: wanted } of this.#short)
      for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1))
        onFound(at, at + wanted.length)
    if (this.#byLastBlock.size > 0) this.#findSkipping(bytes, onFound)
  }

  /** How many of the last bytes could be the beginning of one of them. */
  begun(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.longest + 1); at < bytes.length; at += 1)
      for (const form of this.#byFirstByte[bytes[at] ?? 0] ?? [])
        if (form.bytes.length > bytes.length - at && agrees(bytes, at, form, bytes.length - at))
          return bytes.length - at
    return 0
  }

  #findSkipping(bytes: Buffer, onFound: (from: number, to: number) => void): void {
    const skips = this.#skips
    const { length } = bytes
    let last = this.#window - 1
    while (last < length) {
      const block = blockOf(bytes[last - 2] as number, bytes[last - 1] as number, bytes[last] as number)
      const skip = skips[block] as number
      if (skip > 0) {
        last += skip
        continue
      }
      const at = last - this.#window + 1
      for (const form of this.#byLastBlock.get(block) ?? [])
        if (at + form.bytes.length <= length && agrees(bytes, at, form, form.bytes.length))
          onFound(at, at + form.bytes.length)
      last += 1
    }
  }

  /** Returns the last block of the window, in each of its spellings. */
  #addSkips({ bytes, ignoresCase }: Form): ReadonlySet<number> {
    const lastBlocks = new Set<number>()
    for (let end = BLOCK; end <= this.#window; end += 1) {
      const [first = [], second = [], third = []] = [...bytes.subarray(end - BLOCK, end)].map((byte) =>
        inCases(byte, ignoresCase),
      )
      for (const a of first)
        for (const b of second)
          for (const c of third) {
            const block = blockOf(a, b, c)
            this.#skips[block] = Math.min(this.#skips[block] as number, this.#window - end)
            if (end === this.#window) lastBlocks.add(block)
          }
    }
    return lastBlocks
  }
}

/** Blocks that share a number only make the search look closer. */
const blockOf = (a: number, b: number, c: number): number => ((a & 63) << 12) | ((b & 63) << 6) | (c & 63)

/** A short one in mixed case is looked for in small letters and in capitals only. */
function withCapitals(form: Form): readonly Form[] {
  if (!form.ignoresCase) return [form]
  const capitals = { ...form, bytes: Buffer.from(form.bytes.toString('latin1').toUpperCase(), 'latin1') }
  return capitals.bytes.equals(form.bytes) ? [form] : [form, capitals]
}

function inCases(byte: number, ignoresCase: boolean): readonly number[] {
  return ignoresCase ? [...new Set([folded(byte), raised(byte)])] : [byte]
}

function agrees(bytes: Buffer, at: number, form: Form, count: number): boolean {
  const wanted = form.bytes
  for (let i = 0; i < count; i += 1) {
    const one = bytes[at + i] as number
    const other = wanted[i] as number
    if (one !== other && !(form.ignoresCase && folded(one) === folded(other))) return false
  }
  return true
}

const folded = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte)
const raised = (byte: number): number => (byte >= 0x61 && byte <= 0x7a ? byte & ~0x20 : byte)
