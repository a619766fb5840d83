// A stream of bytes with its known secrets taken out. What may be the beginning of one waits for the bytes that tell.
import type { KnownSecrets } from './known-secrets.ts'

export class StreamRedactor {
  readonly #secrets: KnownSecrets
  readonly #mark: Buffer
  readonly #onFound: () => void
  /** The last bytes, from the first that something may have begun with. */
  #kept: Buffer = Buffer.alloc(0)
  /** How many of them have been passed on already: one secret may begin inside another. */
  #passed = 0
  /** The last thing passed on was the mark. */
  #isMarked = false

  constructor(secrets: KnownSecrets, mark: string, onFound: () => void = () => undefined) {
    this.#secrets = secrets
    this.#mark = Buffer.from(mark)
    this.#onFound = onFound
  }

  /** Returns what can be passed on by now. */
  push(piece: Buffer): Buffer {
    return this.#advance(piece, false)
  }

  /** Returns the rest: nothing more comes. */
  end(): Buffer {
    return this.#advance(Buffer.alloc(0), true)
  }

  #advance(piece: Buffer, isLast: boolean): Buffer {
    const bytes = this.#kept.length === 0 ? piece : Buffer.concat([this.#kept, piece])
    const { found, openFrom } = this.#secrets.look(bytes)
    const keepFrom = isLast ? bytes.length : openFrom
    const out: Buffer[] = []
    let at = this.#passed
    for (const { from, to } of found) {
      if (to <= at || from > keepFrom) continue
      if (from > at) this.#pass(bytes.subarray(at, from), out)
      if (!this.#isMarked) {
        out.push(this.#mark)
        this.#isMarked = true
        this.#onFound()
      }
      at = to
    }
    if (keepFrom > at) {
      this.#pass(bytes.subarray(at, keepFrom), out)
      at = keepFrom
    }
    this.#kept = Buffer.from(bytes.subarray(Math.min(keepFrom, at)))
    this.#passed = at - Math.min(keepFrom, at)
    if (isLast) this.#isMarked = false
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out)
  }

  #pass(bytes: Buffer, out: Buffer[]): void {
    out.push(bytes)
    this.#isMarked = false
  }
}

/** All of some bytes at once. */
export function withoutSecrets(bytes: Buffer, secrets: KnownSecrets, mark: string): Buffer {
  const redactor = new StreamRedactor(secrets, mark)
  return Buffer.concat([redactor.push(bytes), redactor.end()])
}
