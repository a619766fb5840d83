// Looks for the server's secrets in what it answers. That goes on as it is; what was seen is told.
import type { KnownSecrets } from '../../known-secrets/known-secrets.ts'
import type { SecretNames, Secrets } from './secrets.ts'

interface Seen {
  /** Where it ends, in bytes from the beginning of the stream. */
  readonly endsAt: number
  readonly names: readonly SecretNames[]
}

/** Of the next chunk, to see what became of a beginning: longer than most secrets in most forms. */
const SEAM_BYTES = 1_024
const NO_BYTES = Buffer.alloc(0)
const NOTHING: readonly SecretNames[] = []

export class Exposure {
  readonly #known: KnownSecrets
  readonly #namesIn: Secrets['namesIn']
  /** The last bytes, from the first that something may have begun with, and where they begin. */
  #kept = NO_BYTES
  #keptAt = 0
  #chunkAt = 0
  #chunkEnd = 0
  #toldUpTo = 0
  #seen: Seen[] = []

  constructor(known: KnownSecrets, namesIn: Secrets['namesIn']) {
    this.#known = known
    this.#namesIn = namesIn
  }

  push(chunk: Buffer): void {
    this.#chunkAt = this.#chunkEnd
    this.#chunkEnd += chunk.length
    let rest = chunk
    if (this.#kept.length > 0) {
      // A few bytes tell of most beginnings that they were none; to join whole chunks would cost more than to look.
      this.#look(Buffer.concat([this.#kept, chunk.subarray(0, SEAM_BYTES)]))
      const openFrom = this.#keptAt - this.#chunkAt
      rest = openFrom >= 0 ? chunk.subarray(openFrom) : Buffer.concat([this.#kept, chunk.subarray(SEAM_BYTES)])
    }
    this.#look(rest)
  }

  /** At bytes that begin where what was kept does. */
  #look(bytes: Buffer): void {
    const { found, openFrom } = this.#known.look(bytes)
    for (const { from, to } of found) {
      const endsAt = this.#keptAt + to
      // In bytes that were kept it may have been seen before.
      if (endsAt <= this.#toldUpTo) continue
      this.#seen.push({ endsAt, names: this.#namesIn(bytes.subarray(from, to)) })
      this.#toldUpTo = endsAt
    }
    this.#kept = openFrom === bytes.length ? NO_BYTES : Buffer.from(bytes.subarray(openFrom))
    this.#keptAt += openFrom
  }

  /** Those that end before this place of the last chunk, and were not taken yet; each once. */
  takeUpTo(end: number): readonly SecretNames[] {
    if (this.#seen.length === 0) return NOTHING
    const isPast = ({ endsAt }: Seen): boolean => endsAt <= this.#chunkAt + end
    const taken = this.#seen.filter(isPast).flatMap(({ names }) => names)
    this.#seen = this.#seen.filter((seen) => !isPast(seen))
    return taken.filter(({ inject_as: name }, index) => taken.findIndex((one) => one.inject_as === name) === index)
  }
}
