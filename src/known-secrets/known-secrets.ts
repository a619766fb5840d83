// Secrets whose values are known, found in bytes in whatever form they stand there, also when the bytes come in pieces.
import { formsOf } from './forms.ts'
import { Needles } from './needles.ts'
import {
  jsonEscapesThatMatter,
  PERCENT,
  type Unescaped,
  withoutJsonEscapes,
  withoutLineBreaks,
  withoutPercents,
} from './unescaped.ts'

interface Range {
  readonly from: number
  readonly to: number
}

interface Look {
  /** In order, none touching another. */
  readonly found: readonly Range[]
  /** From here on something may have begun that the next bytes complete. */
  readonly openFrom: number
}

/** How often what is looked for may have been escaped: a result is JSON, the text in it may be, and so may what that quotes. */
const DEPTH_MAX = 6
/** From here on a value is more than a line of base64. */
const WRAPPED_BYTES_MIN = 45

export class KnownSecrets {
  readonly #values: readonly string[]
  #prepared: Needles | undefined
  readonly #isEscaped: (bytes: Buffer) => boolean
  readonly #mayBeWrapped: boolean

  constructor(values: readonly string[]) {
    this.#mayBeWrapped = values.some((value) => Buffer.byteLength(value) >= WRAPPED_BYTES_MIN)
    this.#values = values
    this.#isEscaped = jsonEscapesThatMatter(values)
  }

  /** Prepared with the first look: a server that is being started need not wait for it. */
  get #needles(): Needles {
    return (this.#prepared ??= new Needles([...new Set(this.#values)].flatMap(formsOf)))
  }

  look(bytes: Buffer): Look {
    const views = this.#viewsOf(bytes)
    const found: Range[] = []
    let openFrom = bytes.length
    for (const { bytes: seen, placeOf, unfinishedFrom } of views) {
      this.#needles.find(seen, (from, to) => found.push({ from: placeOf(from), to: placeOf(to) }))
      openFrom = Math.min(openFrom, unfinishedFrom, placeOf(seen.length - this.#needles.begun(seen)))
    }
    const wrapped = this.#wrappedIn(bytes)
    return {
      found: joined([...found, ...wrapped.found]),
      openFrom: wholeEscape(views, Math.min(openFrom, wrapped.openFrom)),
    }
  }

  /** What goes over the end of a line: it is nowhere else found, and all others are. */
  #wrappedIn(bytes: Buffer): Look {
    const found: Range[] = []
    const { bytes: seen, placeOf } = this.#mayBeWrapped ? withoutLineBreaks(bytes) : { bytes, placeOf: Number }
    if (seen.length === bytes.length) return { found, openFrom: bytes.length }
    this.#needles.find(seen, (from, to) => {
      const range = { from: placeOf(from), to: placeOf(to - 1) + 1 }
      if (range.to - range.from > to - from) found.push(range)
    })
    return { found, openFrom: placeOf(seen.length - this.#needles.begun(seen)) }
  }

  /** Whether one of them stands in the bytes. */
  isIn(bytes: Buffer): boolean {
    let isFound = this.#wrappedIn(bytes).found.length > 0
    for (const { bytes: seen } of this.#viewsOf(bytes)) this.#needles.find(seen, () => void (isFound = true))
    return isFound
  }

  #viewsOf(bytes: Buffer): readonly Unescaped[] {
    const raw: Unescaped = { bytes, placeOf: (at) => at, unfinishedFrom: bytes.length }
    const views = [raw]
    let inJson = raw
    for (let depth = 0; depth < DEPTH_MAX && this.#isEscaped(inJson.bytes); depth += 1) {
      inJson = through(inJson, withoutJsonEscapes)
      views.push(inJson)
      if (inJson.bytes.includes(PERCENT)) views.push(through(inJson, withoutPercents))
    }
    let inAddress = raw
    for (let depth = 0; depth < DEPTH_MAX && inAddress.bytes.includes(PERCENT); depth += 1) {
      inAddress = through(inAddress, withoutPercents)
      views.push(inAddress)
      if (this.#isEscaped(inAddress.bytes)) views.push(through(inAddress, withoutJsonEscapes))
    }
    return views
  }
}

function through(outer: Unescaped, unescape: (bytes: Buffer) => Unescaped): Unescaped {
  const { bytes, placeOf, unfinishedFrom } = unescape(outer.bytes)
  return {
    bytes,
    placeOf: (at) => outer.placeOf(placeOf(at)),
    unfinishedFrom: Math.min(outer.unfinishedFrom, outer.placeOf(unfinishedFrom)),
  }
}

/** The place, or the beginning of the escape that it lies in: what is kept for later must read the same then. */
function wholeEscape(views: readonly Unescaped[], place: number): number {
  let whole = place
  for (const { bytes, placeOf } of views) {
    let [low, high] = [0, bytes.length]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (placeOf(middle) <= whole) low = middle
      else high = middle - 1
    }
    whole = Math.min(whole, placeOf(low))
  }
  return whole === place ? place : wholeEscape(views, whole)
}

function joined(ranges: readonly Range[]): readonly Range[] {
  const result: { from: number; to: number }[] = []
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last === undefined || from > last.to) result.push({ from, to })
    else last.to = Math.max(last.to, to)
  }
  return result
}
