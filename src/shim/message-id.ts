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
    // 1.0 and 1 are one id. Beyond 2^53 numbers run together, so there the text itself is compared.
    return { raw, key: Number.isSafeInteger(value) ? value : `n${raw}` }
  }
  if (seen.kind === 'string') {
    const raw = seen.raw
    const text = seen.text
    return raw === null || text === null ? null : { raw, key: `s${text}` }
  }
  return null
}
