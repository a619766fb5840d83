// The id of a JSON-RPC message: as it is written, for answers, and as it is compared, for matching an answer to its request.
import type { Seen } from './scanned.ts'

export interface MessageId {
  /** JSON text, byte for byte what the sender wrote. */
  readonly raw: string
  readonly key: IdKey
}

export type IdKey = string | number

/** Ids are counted anew in each session of a server that several clients reach at once. An empty scope is that of a server with one client. */
export function inScope(scope: string, id: MessageId): MessageId {
  return scope === '' ? id : { raw: id.raw, key: scopedKey(scope, id.key) }
}

export const scopedKey = (scope: string, key: IdKey): IdKey => (scope === '' ? key : `${scope} ${key}`)

/** Only strings and numbers are ids; everything else, and text beyond the cap, is none. */
export function idOf(seen: Seen): MessageId | null {
  if (seen.kind === 'number') {
    const { integer } = seen
    if (integer >= 0) return { raw: String(integer), key: integer }
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

/** What a lenient client takes the id of an answer for: itself first, then the number that a string spells, or the other way round. */
export function readingsOf(key: IdKey): readonly IdKey[] {
  if (typeof key === 'number') return [key, `s${key}`]
  const spelt = key.startsWith('s') && key.trim() !== 's' ? Number(key.slice(1)) : Number.NaN
  return Number.isFinite(spelt) ? [key, spelt] : [key]
}
