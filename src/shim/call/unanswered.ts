// Calls that were sent on and that upstream will not answer any more.
import { PREVIEW_NONE } from '../../events/preview.ts'
import type { CallGate } from './call-gate.ts'
import type { OpenCall } from './open-calls.ts'
import { protocolError } from './refusals.ts'

/** JSON-RPC's code for what the server itself did wrong. */
export const INTERNAL_ERROR = -32_603

/** Ends such a call in the record. Returns the line that the client is to be told, or null when it has an answer that may be this call's. */
export function endUnanswered(
  gate: CallGate,
  { judged, idRaw, perhaps }: OpenCall,
  code: number,
  why: string,
): string | null {
  if (perhaps !== null) {
    gate.finish(judged, perhaps)
    return null
  }
  const line = protocolError(idRaw, code, gate.words.clean(why))
  gate.finish(judged, {
    status: 'ERROR',
    bytesOut: Buffer.byteLength(line),
    error: { class: 'transport', message: why, code, retryable: false },
    result: PREVIEW_NONE,
  })
  return line
}
