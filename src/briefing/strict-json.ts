// JSON as a contract reads it: one document, no key twice, valid UTF-8.
import { HeimdallError } from '../errors.ts'

export function parseStrict(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
    throw new HeimdallError('JSON_MALFORMED', error.message, { cause: error })
  }
}
