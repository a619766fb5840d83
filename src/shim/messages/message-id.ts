// The id of a JSON-RPC message: as it is written, for answers, and as it is compared, for matching an answer to its request.
import type { Seen } from './scanned.ts'

export interface MessageId {
  /** JSON text, byte for byte what the sender wrote. */
  readonly raw: string
  readonly key: IdKey
}

export type IdKey = string | number

/** Only strings and numbers are ids; everything else, and text beyond the cap, is none. */
export function idOf(seen: Seen): MessageId | null {
  if (seen.kind === 'number') {
    const raw = seen.raw
    if (raw === null) return null
    const value = Number(raw)
    // As most readers understand it: 1.50 comes back as 1.5, and 2^53 + 1 as 2^53. Beyond all numbers only the text is left.
    return { raw, key: Number.isFinite(value) ? value : `n${raw}` }
  }
  if (seen.kind === 'string') {
    const raw = seen.raw
    const text = seen.text
    return raw === null || text === null ? null : { raw, key: `s${text}` }
  }
  return null
}
