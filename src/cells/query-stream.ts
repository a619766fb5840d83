// Questions to the terminal in a stream of chunks: whether there is one, and the stream without them. Pure.
import { MAY_ASK, QUERY, QUERY_BYTES_MAX } from './terminal-queries.ts'

const ESC = 0x1b
const EMPTY = Buffer.alloc(0)

/** Where a question may have begun that the next chunk goes on with; the length of `bytes` where none has. */
function openFrom(bytes: Buffer): number {
  const escape = bytes.lastIndexOf(ESC)
  if (escape < 0) return bytes.length
  // The ESC of a terminator belongs to the sequence that it ends.
  const isTerminator = bytes.length - escape <= 2 && (bytes[escape + 1] ?? 0x5c) === 0x5c
  const starts = [isTerminator && escape > 0 ? bytes.lastIndexOf(ESC, escape - 1) : -1, escape]
  return starts.find((at) => at >= 0 && bytes.length - at <= QUERY_BYTES_MAX) ?? bytes.length
}

/** Says when the program has asked something, so that the emulator is woken for it. Text costs one native search. */
export class QueryScanner {
  #open: Buffer = EMPTY

  scan(chunk: Buffer): boolean {
    const from = this.#open.length === 0 ? chunk.indexOf(ESC) : 0
    if (from < 0) return false
    const bytes = this.#open.length === 0 ? chunk.subarray(from) : Buffer.concat([this.#open, chunk])
    const text = bytes.toString('latin1')
    let answeredTo = 0
    if (MAY_ASK.test(text)) for (const { index, 0: query } of text.matchAll(QUERY)) answeredTo = index + query.length
    this.#open = Buffer.from(bytes.subarray(Math.max(answeredTo, openFrom(bytes))))
    return answeredTo > 0
  }
}

/** Takes the questions out: what is shown again must not be asked again. */
export class QueryFilter {
  #open: Buffer = EMPTY

  /** The chunk without questions; the beginning of one is held back until it is known what it is. */
  push(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#open, chunk])
    const text = bytes.toString('latin1')
    // A whole question at the end is no open one.
    const rest = text.replaceAll(QUERY, '')
    const kept = rest.length === text.length ? bytes : Buffer.from(rest, 'latin1')
    const from = openFrom(kept)
    this.#open = Buffer.from(kept.subarray(from))
    return kept.subarray(0, from)
  }

  /** What was held back: the rest of it comes from elsewhere, and is asked there. */
  end(): Buffer {
    const open = this.#open
    this.#open = EMPTY
    return open
  }
}
