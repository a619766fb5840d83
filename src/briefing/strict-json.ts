// JSON as a contract reads it: one document, no key twice, valid UTF-8, no half characters.
import { canonicalBytes } from '../canonical/canonical.ts'
import { HeimdallError } from '../errors.ts'

/** Throws JSON_* with a reason; `JSON.parse` alone would let the last of two equal keys win. */
export function parseStrict(bytes: Uint8Array): unknown {
  try {
    canonicalBytes(bytes)
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'JSON_MALFORMED' && error.message.endsWith('expected the end'))
      throw new HeimdallError('JSON_MALFORMED', `more than one JSON document, or text after it: ${error.message}`)
    throw error
  }
  return JSON.parse(Buffer.from(bytes).toString('utf8'))
}
