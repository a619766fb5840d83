// What a terminal was sent, with known secrets covered in place: as many bytes as before, so that what is drawn around them stays where it was.
import { COVER_HELD_BYTES_MAX } from '../limits.ts'
import { KnownSecrets } from './known-secrets.ts'
import { isControl, plainText } from './plain-text.ts'

const MARK = Buffer.from('[REDACTED]')
const STAR = 0x2a

const NO_BYTES = Buffer.alloc(0)

export class TerminalCover {
  readonly #values = new Set<string>()
  #known: KnownSecrets | null = null
  #heldMax = COVER_HELD_BYTES_MAX
  #held: Buffer = NO_BYTES
  #lastText = ''
  #lastCovered = ''

  /** From now on these are covered too. */
  add(values: readonly string[]): void {
    const before = this.#values.size
    for (const value of values) {
      this.#values.add(value)
      // As a terminal shows it, which writes a new line in its own way.
      this.#values.add(withoutControls(value))
      this.#heldMax = Math.max(this.#heldMax, 8 * Buffer.byteLength(value))
    }
    if (this.#values.size === before) return
    this.#known = new KnownSecrets([...this.#values].filter((value) => value !== ''))
    this.#lastText = this.#lastCovered = ''
  }

  get size(): number {
    return this.#values.size
  }

  /** Bytes of a stream as far as they can be passed on; the same bytes when no secret is known. */
  push(piece: Buffer): Buffer {
    if (this.#known === null) return piece
    const bytes = this.#held.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#held, piece])
    const openFrom = this.#cover(bytes, this.#known, this.#heldMax)
    this.#held = Buffer.from(bytes.subarray(openFrom))
    return bytes.subarray(0, openFrom)
  }

  /** The rest of the stream. */
  end(): Buffer {
    const rest = this.#held
    this.#held = NO_BYTES
    return this.whole(rest)
  }

  /** All of some bytes at once; the stream is not touched by it. */
  whole(bytes: Buffer): Buffer {
    if (this.#known === null) return bytes
    const covered = Buffer.from(bytes)
    this.#cover(covered, this.#known, 0)
    return covered
  }

  /** The same for a line that is shown beside the terminal; mostly it is the line of before. */
  text(line: string): string {
    if (this.#known === null || line === '') return line
    if (line !== this.#lastText) {
      this.#lastCovered = this.whole(Buffer.from(line)).toString()
      this.#lastText = line
    }
    return this.#lastCovered
  }

  /** Covers what is found, but for what waits; returns where that begins. */
  #cover(bytes: Buffer, known: KnownSecrets, heldMax: number): number {
    // As they are: what a sequence itself carries, a title or an address. Without sequences: what is shown.
    const raw = known.look(bytes)
    const plain = plainText(bytes)
    const shown = known.look(plain.bytes)
    const placeOf = (at: number): number => plain.places[at] ?? plain.unfinishedFrom
    const ranges = [
      ...raw.found.map(({ from, to }) => ({ from, to, cover: () => coverRun(bytes, from, to) })),
      ...shown.found.map(({ from, to }) => ({
        from: placeOf(from),
        to: placeOf(to - 1) + 1,
        cover: () => coverPlaces(bytes, plain.places.subarray(from, to)),
      })),
    ].toSorted((a, b) => b.from - a.from)
    let openFrom = Math.min(raw.openFrom, placeOf(shown.openFrom), plain.unfinishedFrom)
    // A secret inside which another may have begun waits whole: without its beginning its end would not be known.
    for (const { from, to } of ranges) if (to > openFrom) openFrom = Math.min(openFrom, from)
    if (bytes.length - openFrom > heldMax || heldMax === 0) openFrom = bytes.length
    for (const { from, cover } of ranges) if (from < openFrom) cover()
    return openFrom
  }
}

function coverRun(bytes: Buffer, from: number, to: number): void {
  const places: number[] = []
  for (let at = from; at < to; at += 1) if (!isControl(bytes[at] as number)) places.push(at)
  coverPlaces(bytes, places)
}

function coverPlaces(bytes: Buffer, places: ArrayLike<number>): void {
  const isMarked = places.length >= MARK.length
  for (let i = 0; i < places.length; i += 1) bytes[places[i] as number] = isMarked ? (MARK[i] ?? STAR) : STAR
}

const withoutControls = (text: string): string => plainText(Buffer.from(text)).bytes.toString()
