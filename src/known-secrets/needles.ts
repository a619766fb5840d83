// Many byte strings looked for at once, in one pass that skips most of the bytes (Wu and Manber).
import type { Form } from './forms.ts'

/** Bytes of a block, by which it is known how far the search may skip. Two would be in every text: digits and letters. */
const BLOCK = 3
const BLOCKS = 1 << 17
/** Shorter ones would shorten every skip: they are looked for one by one. */
const SKIPPING_MIN = 8

/** Each at least as long as a block. */
export class Needles {
  readonly #short: readonly Form[]
  readonly #byFirstByte: readonly Form[][] = Array.from({ length: 256 }, () => [])
  /** Blocks that one of them begins with. */
  readonly #begins = new Uint8Array(BLOCKS)
  /** All that skip are compared by this many of their first bytes. */
  readonly #window: number
  readonly #skips: Uint8Array
  readonly #byLastBlock = new Map<number, Form[]>()
  readonly longest: number

  constructor(forms: readonly Form[]) {
    const skipping = forms.filter(({ bytes }) => bytes.length >= SKIPPING_MIN)
    this.#short = forms.filter(({ bytes }) => bytes.length < SKIPPING_MIN).flatMap(withCapitals)
    this.longest = Math.max(0, ...forms.map(({ bytes }) => bytes.length))
    for (const form of forms) {
      for (const first of inCases(form.bytes[0] as number, form.ignoresCase)) this.#byFirstByte[first]?.push(form)
      eachBlock(form, BLOCK, (block) => void (this.#begins[block] = 1))
    }
    this.#window = Math.min(255, ...skipping.map(({ bytes }) => bytes.length))
    this.#skips = new Uint8Array(BLOCKS).fill(this.#window - BLOCK + 1)
    for (const form of skipping) this.#addSkips(form)
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
    const { length } = bytes
    for (let at = Math.max(0, length - this.longest + 1); at < length; at += 1) {
      // A glance at a block passes over nearly all; only the last bytes are none.
      if (at + BLOCK <= length && this.#begins[blockAt(bytes, at + BLOCK - 1)] === 0) continue
      for (const form of this.#byFirstByte[bytes[at] as number] as readonly Form[])
        if (form.bytes.length > length - at && agrees(bytes, at, form, length - at)) return length - at
    }
    return 0
  }

  #findSkipping(bytes: Buffer, onFound: (from: number, to: number) => void): void {
    const skips = this.#skips
    const { length } = bytes
    let last = this.#window - 1
    while (last < length) {
      const block = blockAt(bytes, last)
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

  #addSkips(form: Form): void {
    const skips = this.#skips
    for (let end = BLOCK; end <= this.#window; end += 1) {
      const skip = this.#window - end
      eachBlock(form, end, (block) => {
        if (skip < (skips[block] as number)) skips[block] = skip
        if (skip === 0) this.#endsWith(block, form)
      })
    }
  }

  #endsWith(block: number, form: Form): void {
    const forms = this.#byLastBlock.get(block)
    if (forms === undefined) this.#byLastBlock.set(block, [form])
    // Two spellings of one block may share its number.
    else if (forms.at(-1) !== form) forms.push(form)
  }
}

/** Letters of one kind next to each other never share a number; blocks that do only make the search look closer. */
const blockOf = (a: number, b: number, c: number): number => ((a << 10) ^ (b << 5) ^ c) & (BLOCKS - 1)

/** Of the block that ends with this byte. */
const blockAt = (bytes: Buffer, last: number): number =>
  blockOf(bytes[last - 2] as number, bytes[last - 1] as number, bytes[last] as number)

/** The block before `end`, in each of its spellings. By hand: this is done for every byte of every form when a server starts. */
function eachBlock({ bytes, ignoresCase }: Form, end: number, visit: (block: number) => void): void {
  const a = bytes[end - 3] as number
  const b = bytes[end - 2] as number
  const c = bytes[end - 1] as number
  if (!ignoresCase) {
    visit(blockOf(a, b, c))
    return
  }
  for (const first of inCases(a, true))
    for (const second of inCases(b, true)) for (const third of inCases(c, true)) visit(blockOf(first, second, third))
}

/** A short one in mixed case is looked for in small letters and in capitals only. */
function withCapitals(form: Form): readonly Form[] {
  if (!form.ignoresCase) return [form]
  const capitals = { ...form, bytes: Buffer.from(form.bytes.toString('latin1').toUpperCase(), 'latin1') }
  return capitals.bytes.equals(form.bytes) ? [form] : [form, capitals]
}

/** A byte in small letters and in capitals, where it has both. */
const IN_CASES: readonly (readonly number[])[] = Array.from({ length: 256 }, (_, byte) => [
  ...new Set([folded(byte), raised(byte)]),
])

function inCases(byte: number, ignoresCase: boolean): readonly number[] {
  return ignoresCase ? (IN_CASES[byte] as readonly number[]) : [byte]
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

function folded(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}

function raised(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte & ~0x20 : byte
}
