// The part of arguments or a result that an event shows: redacted first, then cut where a character ends.
import { MAX_PREVIEW_BYTES } from '../limits.ts'
import { jsonString } from './json-text.ts'
import type { LineBytes, Piece } from './line-bytes.ts'
import { type Redact, REDACTED } from './redact.ts'

/** What is read past the cut, so that a secret that lies across it is seen whole and taken out. */
const MARGIN_BYTES = 4_096
/** The encoded preview may not make its line larger than a line of a log may be. */
const ENCODED_MAX = 40_000

/** A `preview` without any text: the message was too large to look into, or had to make room. */
export const PREVIEW_OMITTED = Buffer.from('{"truncated":true}')

/** A `preview` where there is nothing to show. */
export const PREVIEW_NONE = Buffer.from('{"truncated":false}')

/** One of the two above: why there is nothing to show. */
export type Absent = typeof PREVIEW_OMITTED

export function isAbsent(preview: object): preview is Absent {
  return preview === PREVIEW_NONE || preview === PREVIEW_OMITTED
}

export type Preview = Absent | Shown

export interface Shown {
  readonly field: 'args_preview' | 'result_preview'
  /** The value as it stood in the message. */
  readonly piece: Piece
  readonly redact: Redact
}

/** Writes the JSON text of an event's `preview` object. */
export function putPreview(line: LineBytes, preview: Preview): void {
  if (isAbsent(preview)) {
    line.put(preview)
    return
  }
  const { field, piece, redact } = preview
  const { buffer, from, to } = piece
  const isWhole = to - from <= MAX_PREVIEW_BYTES
  // Never past the value: behind it in the buffer stands what another call was answered.
  const end = Math.min(to, from + MAX_PREVIEW_BYTES + MARGIN_BYTES)
  const redacted =
    end < to
      ? withoutHalfSecret(redact.beginning(buffer.subarray(from, end)))
      : redact(buffer.toString('utf8', from, end))
  line.text(previewText(field, redacted, isWhole))
}

/** Where secrets were taken out, the cut moves towards the end of what was read, and there may stand half of another one. */
function withoutHalfSecret(redacted: string): string {
  const bytes = Buffer.byteLength(redacted) - MARGIN_BYTES
  if (bytes >= MAX_PREVIEW_BYTES) return redacted
  const sure = cutAtBytes(redacted, Math.max(0, bytes))
  // Up to the last one that was taken out, everything was seen whole.
  return redacted.slice(0, Math.max(sure.length, redacted.lastIndexOf(REDACTED) + REDACTED.length))
}

function previewText(field: Shown['field'], redacted: string, isWhole: boolean): string {
  const text = cutAtBytes(redacted, MAX_PREVIEW_BYTES)
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
