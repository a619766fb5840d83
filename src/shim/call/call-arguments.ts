// The arguments of one call, hashed and parsed only when somebody asks.
import { createHash } from 'node:crypto'
import { canonicalHash } from '../../canonical/canonical.ts'
import { HeimdallError } from '../../errors.ts'
import type { CallFacts, Locations } from '../../policy/types.ts'

/** Seed 004 §1.9: the hash of a call without arguments is that of `{}`. */
const EMPTY = Buffer.from('{}')
const NO_LOCATIONS: Locations = new Map()
const NO_APPROVALS: NonNullable<CallFacts['approvals']> = new Map()

/**
 * Arguments with a key twice are ambiguous, and refused where a rule looks at them. What has no canonical form for another
 * reason (half a surrogate pair, a number beyond doubles) counts as uninspectable, like arguments that are too large.
 */
export class CallArguments implements CallFacts {
  readonly wallMs: number
  readonly #bytes: Buffer | null
  #hash: string | undefined
  #isAmbiguous = false
  #args: CallFacts['args'] | undefined
  /** Set by the gate where a rule looks at paths. */
  locations: Locations = NO_LOCATIONS
  /** Set by the gate where a rule asks a person. */
  approvals: NonNullable<CallFacts['approvals']> = NO_APPROVALS

  constructor(bytes: Buffer | null, wallMs: number) {
    this.wallMs = wallMs
    this.#bytes = bytes !== null && bytes.length === 0 ? EMPTY : bytes
    if (bytes === null) this.#hash = ''
  }

  /** Lowercase hex, or empty where there is none. */
  get hash(): string {
    this.#hash ??= this.#hashed()
    return this.#hash
  }

  get args_hash(): string {
    return this.hash
  }

  get args(): CallFacts['args'] {
    this.#args ??=
      this.hash === '' ? this.#unread() : (JSON.parse((this.#bytes ?? EMPTY).toString()) as Record<string, unknown>)
    return this.#args
  }

  #unread(): 'uninspectable' | 'ambiguous' {
    return this.#isAmbiguous ? 'ambiguous' : 'uninspectable'
  }

  /** Stands in for the hash where the arguments were read but have no canonical form. */
  get streamHash(): string | undefined {
    return this.#bytes !== null && this.hash === '' ? createHash('sha256').update(this.#bytes).digest('hex') : undefined
  }

  #hashed(): string {
    if (this.#bytes === null) return ''
    try {
      return canonicalHash(this.#bytes)
    } catch (error) {
      if (!(error instanceof HeimdallError && error.code.startsWith('JSON_'))) throw error
      this.#isAmbiguous = error.code === 'JSON_DUPLICATE_KEY'
      return ''
    }
  }
}
