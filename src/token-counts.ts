// Tokens of a model by kind, as hosts count them, as records keep them and as costs are booked.

/** No token stands in two of the first four; `cache_write_1h` is part of `cache_write`, and `reasoning` part of `output`. */
export interface TokenCounts {
  /** Neither read from the cache nor written to it. */
  readonly input: number
  readonly cached: number
  readonly cache_write: number
  readonly cache_write_1h: number
  readonly output: number
  readonly reasoning: number
}
