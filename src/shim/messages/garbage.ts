// What has passed and is not freed yet is bounded here, and not by when the engine happens to look.
import { PASSED_BYTES_UNFREED_MAX } from '../../limits.ts'

type Collect = (options: { readonly type: 'minor' }) => void

/**
 * Each read is a buffer of its own outside the heap. Until Node.js 22 the engine collected at 32 MiB of them; since 24 it
 * lets twice that and more pile up, in every shim of every agent. A minor collection of so few objects takes less than a
 * millisecond. Detaching each buffer when it is done was the other way, and needs to know of everyone who has a piece of it.
 */
export class Garbage {
  #bytes = 0
  #collect: Collect | undefined

  /** So much of it goes without a collection. */
  freed(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes)
  }

  passed(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < PASSED_BYTES_UNFREED_MAX) return
    this.#bytes = 0
    this.#collect ??= exposed()
    this.#collect({ type: 'minor' })
  }
}

/** Asked for when a first large amount has passed: most shims never see one. */
function exposed(): Collect {
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  // The function is part of contexts that are made from now on.
  return process.getBuiltinModule('node:vm').runInNewContext('gc') as Collect
}
