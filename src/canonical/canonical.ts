// Canonical JSON and its hash (seed 004 §1.9): one text for each JSON value, made straight from source text.
import { hash } from 'node:crypto'
import { refuseLoneSurrogates } from './value.ts'
import { CanonicalWriter } from './writer.ts'

export { canonicalJson } from './value.ts'

// Reused because most calls are a few hundred bytes, where taking memory would cost more than the work.
const shared = new CanonicalWriter()

/** The canonical text of `source` as UTF-8. Throws JSON_* where the source has none. */
export function canonicalBytes(source: string | Uint8Array): Buffer {
  return Buffer.from(canonicalView(source))
}

/** SHA-256 over the canonical text, lowercase hex: `args_hash` of the event stream. */
export function canonicalHash(source: string | Uint8Array): string {
  return hash('sha256', canonicalView(source), 'hex')
}

function canonicalView(source: string | Uint8Array): Buffer {
  return shared.write(bytesOf(source))
}

function bytesOf(source: string | Uint8Array): Buffer {
  if (typeof source !== 'string') return viewOf(source)
  // Encoding would turn half a surrogate pair into U+FFFD, and two texts into one.
  refuseLoneSurrogates(source)
  return Buffer.from(source)
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * The same for input that comes in pieces, cut anywhere. Malformed input is refused with the piece that shows it.
 * Memory grows with the canonical text, not with the source: the first key of an object may turn up last.
 */
export class IncrementalCanonical {
  readonly #writer = new CanonicalWriter()

  push(piece: Uint8Array): void {
    this.#writer.push(viewOf(piece))
  }

  /** Ends the input. To be asked for once, this or `digest`. */
  bytes(): Buffer {
    return Buffer.from(this.#writer.finish())
  }

  digest(): string {
    return hash('sha256', this.#writer.finish(), 'hex')
  }
}
