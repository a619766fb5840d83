// The arguments of one call, hashed and parsed only when somebody asks.
import { createHash } from 'node:crypto'
import { canonicalHash } from '../canonical/canonical.ts'
import { HeimdallError } from '../errors.ts'
import type { CallFacts } from '../policy/types.ts'

/** Seed 004 §1.9: the hash of a call without arguments is that of `{}`. */
const EMPTY = Buffer.from('{}')

/**
 * Arguments that two parsers could read differently (a key twice, half a surrogate pair) count as uninspectable, like those
 * that are too large: rules that need them take `decision_on_error`, and there is no canonical hash.
 */
export class CallArguments implements CallFacts {
  readonly #bytes: Buffer | null
  #hash: string | undefined
  #args: CallFacts['args'] | undefined

  constructor(bytes: Buffer | null) {
    this.#bytes = bytes !== null && bytes.length === 0 ? EMPTY : bytes
    if (bytes === null) this.#hash = ''
  }

  /** Lowercase hex, or empty where there is none. */
  get hash(): string {
    this.#hash ??= hashOf(this.#bytes)
    return this.#hash
  }

  get args_hash(): string {
    return this.hash
  }

  get args(): CallFacts['args'] {
    this.#args ??= this.hash === '' ? 'uninspectable' : (JSON.parse(String(this.#bytes)) as Record<string, unknown>)
    return this.#args
  }

  /** Stands in for the hash where the arguments were read but have no canonical form. */
  get streamHash(): string | undefined {
    return this.#bytes !== null && this.hash === '' ? createHash('sha256').update(this.#bytes).digest('hex') : undefined
  }
}

function hashOf(bytes: Buffer | null): string {
  if (bytes === null) return ''
  try {
    return canonicalHash(bytes)
  } catch (error) {
    if (error instanceof HeimdallError && error.code.startsWith('JSON_')) return ''
    throw error
  }
}
