// The part of arguments or a result that an event shows: redacted first, then cut where a character ends.
import { MAX_PREVIEW_BYTES } from '../limits.ts'
import { jsonString } from './json-text.ts'
import type { Redact } from './redact.ts'

/** What is read past the cut, so that a secret that lies across it is seen whole and taken out. */
const MARGIN_BYTES = 4_096
/** The encoded preview may not make its line larger than a line of a log may be. */
const ENCODED_MAX = 40_000

/** The JSON text of `preview` without any text: the message was too large to look into, or had to make room. */
export const PREVIEW_OMITTED = '{"truncated":true}'

/** The JSON text of `preview` where there is nothing to show. */
export const PREVIEW_NONE = '{"truncated":false}'

/** The JSON text of an event's `preview` object. `bytes` is the value as it stood in the message. */
export function previewOf(field: 'args_preview' | 'result_preview', bytes: Buffer, redact: Redact): string {
  const isWhole = bytes.length <= MAX_PREVIEW_BYTES
  const window = isWhole ? bytes : bytes.subarray(0, MAX_PREVIEW_BYTES + MARGIN_BYTES)
  const redacted = redact(window.toString())
  const text = isWhole && redacted.length * 3 <= MAX_PREVIEW_BYTES ? redacted : cutAtBytes(redacted, MAX_PREVIEW_BYTES)
  let encoded = jsonString(text)
  let isCut = !isWhole || text.length < redacted.length
  if (encoded.length > ENCODED_MAX) {
    encoded = jsonString(cutAtBytes(text, MAX_PREVIEW_BYTES / 4))
    isCut = true
  }
  return `{"truncated":${isCut},"${field}":${encoded}}`
}

/** The longest beginning of `text` that takes at most `max` bytes in UTF-8. */
export function cutAtBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= max) return text
  let end = max
  // Bytes 10xxxxxx continue a character: step back to where it begins.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
