// Events on their way to a record: the bytes that will stand there, one line behind the other, and a table of what is where.
import { LineBytes } from './line-bytes.ts'
import { PREVIEW_NONE, PREVIEW_OMITTED } from './preview.ts'

/** Calls by what became of them; a call is in `total` once, in one of the next three once, and in `errors` if it failed. */
export interface CallCounts {
  total: number
  allowed: number
  blocked: number
  throttled: number
  errors: number
}

const COUNTED = ['total', 'allowed', 'blocked', 'throttled', 'errors'] as const satisfies (keyof CallCounts)[]

/** Digits of a call's number; its line is made before the number is known, so the place is kept free. */
export const SEQ_WIDTH = 10

/** What the table says of a line: where it ends, where its number and its preview stand (0: nowhere), what the books count. */
const FIELDS = 5
const END = 0
const SEQ_AT = 1
const PREVIEW_FROM = 2
const PREVIEW_TO = 3
const COUNTS = 4

/** The books as far as lines are entered in them. */
export interface Numbered {
  seq: number
  counts: CallCounts
}

/** Up to where lines stood at some moment. */
export interface Mark {
  readonly clearings: number
  readonly count: number
}

export class EventLines {
  readonly bytes = new LineBytes()
  #table = new Uint32Array(64 * FIELDS)
  #count = 0
  /** A mark from before the last clearing marks nothing any more. */
  #clearings = 0

  get count(): number {
    return this.#count
  }

  get length(): number {
    return this.bytes.length
  }

  /** What was put since the last line is a line. */
  end(counts: keyof CallCounts | null, seqAt = 0, previewFrom = 0, previewTo = 0): void {
    const row = this.#count * FIELDS
    if (row === this.#table.length) {
      const wider = new Uint32Array(this.#table.length * 2)
      wider.set(this.#table)
      this.#table = wider
    }
    this.#table[row + END] = this.bytes.length
    this.#table[row + SEQ_AT] = seqAt
    this.#table[row + PREVIEW_FROM] = previewFrom
    this.#table[row + PREVIEW_TO] = previewTo
    this.#table[row + COUNTS] = counts === null ? 0 : COUNTED.indexOf(counts) + 1
    this.#count += 1
  }

  /** Gives calls their numbers and enters every line in the books. Done again, with other books, it leaves nothing of the first time. */
  enterIn(books: Numbered): void {
    const table = this.#table
    for (let row = 0; row < this.#count * FIELDS; row += FIELDS) {
      const seqAt = table[row + SEQ_AT] as number
      if (seqAt > 0) this.bytes.number(seqAt, SEQ_WIDTH, (books.seq += 1))
      const counts = COUNTED[(table[row + COUNTS] as number) - 1]
      if (counts !== undefined) books.counts[counts] += 1
    }
  }

  mark(): Mark {
    return { clearings: this.#clearings, count: this.#count }
  }

  /** Takes back the lines between two marks; false when they have been written. */
  takeBack(from: Mark, to: Mark): boolean {
    if (from.clearings !== this.#clearings) return false
    const start = this.#endOf(from.count)
    const end = this.#endOf(to.count)
    const removed = end - start
    this.bytes.move(start, end, this.bytes.length)
    this.bytes.cutBack(this.bytes.length - removed)
    const table = this.#table
    table.copyWithin(from.count * FIELDS, to.count * FIELDS, this.#count * FIELDS)
    this.#count -= to.count - from.count
    for (let row = from.count * FIELDS; row < this.#count * FIELDS; row += FIELDS)
      for (const field of [END, SEQ_AT, PREVIEW_FROM, PREVIEW_TO])
        if (table[row + field] !== 0) table[row + field] = (table[row + field] as number) - removed
    return true
  }

  #endOf(count: number): number {
    return count === 0 ? 0 : (this.#table[(count - 1) * FIELDS + END] as number)
  }

  clear(): void {
    this.#count = 0
    this.#clearings += 1
    this.bytes.cutBack(0)
  }

  /** Takes the previews out, to make room for what matters more. */
  strip(): void {
    const { bytes } = this
    const table = this.#table
    let from = 0
    let at = 0
    for (let row = 0; row < this.#count * FIELDS; row += FIELDS) {
      const end = table[row + END] as number
      const previewFrom = table[row + PREVIEW_FROM] as number
      const previewTo = table[row + PREVIEW_TO] as number
      const seqAt = table[row + SEQ_AT] as number
      const start = at
      if (previewTo - previewFrom > PREVIEW_NONE.length) {
        bytes.move(at, from, previewFrom)
        at += previewFrom - from
        bytes.overwrite(at, PREVIEW_OMITTED)
        at += PREVIEW_OMITTED.length
        bytes.move(at, previewTo, end)
        at += end - previewTo
        table[row + PREVIEW_FROM] = table[row + PREVIEW_TO] = 0
      } else {
        bytes.move(at, from, end)
        at += end - from
        if (previewTo > 0) {
          table[row + PREVIEW_FROM] = previewFrom - from + start
          table[row + PREVIEW_TO] = previewTo - from + start
        }
      }
      // A number stands behind the preview, so it has moved with the end of its line.
      if (seqAt > 0) table[row + SEQ_AT] = at - (end - seqAt)
      table[row + END] = at
      from = end
    }
    bytes.cutBack(at)
  }
}
