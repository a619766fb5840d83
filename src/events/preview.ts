// The part of arguments or of a result that an event shows: redacted first, then cut between two characters.
import { MAX_PREVIEW_BYTES } from '../limits.ts'
import type { EventPreview } from './event-lines.ts'
import { jsonValue } from './json-text.ts'
import { type Redact, REDACTED } from './redact.ts'

/** Read past the cut, so that a secret across it is found and redacted. */
const MARGIN_BYTES = 4_096
/** Keeps the line within LOG_LINE_BYTES_MAX. */
const ENCODED_MAX = 40_000

/** Bytes of a value within the message that holds it. */
export interface Piece {
  readonly buffer: Buffer
  readonly from: number
  readonly to: number
}

/** A `preview` without text: the message was too large to inspect, or memory was short. */
export const PREVIEW_OMITTED: EventPreview = { truncated: true }

/** A `preview` where there is nothing to show. */
export const PREVIEW_NONE: EventPreview = { truncated: false }

export type Absent = EventPreview

export function isAbsent(preview: object): preview is Absent {
  return preview === PREVIEW_NONE || preview === PREVIEW_OMITTED
}

export type Preview = Absent | Shown

export interface Shown {
  readonly field: 'args_preview' | 'result_preview'
  /** The value as it was sent. */
  readonly piece: Piece
  readonly redact: Redact
}

/** The `preview` member of an event. */
export function previewOf(preview: Preview): EventPreview {
  if (isAbsent(preview)) return preview
  const { field, piece, redact } = preview
  const { buffer, from, to } = piece
  // Never past the value: the bytes after it may belong to the answer of another call.
  const end = Math.min(to, from + MAX_PREVIEW_BYTES + MARGIN_BYTES)
  const redacted =
    end < to
      ? withoutHalfSecret(redact.beginning(buffer.subarray(from, end)))
      : redact(buffer.toString('utf8', from, end))
  let text = cutAtBytes(redacted, MAX_PREVIEW_BYTES)
  if (text.length * 6 > ENCODED_MAX && jsonValue(text).length > ENCODED_MAX)
    text = cutAtBytes(text, MAX_PREVIEW_BYTES / 4)
  const truncated = to - from > MAX_PREVIEW_BYTES || text.length < redacted.length
  return field === 'args_preview' ? { truncated, args_preview: text } : { truncated, result_preview: text }
}

/** Redaction shortens the text, so the cut may reach the end of what was read, where half a secret may be. */
function withoutHalfSecret(redacted: string): string {
  const bytes = Buffer.byteLength(redacted) - MARGIN_BYTES
  if (bytes >= MAX_PREVIEW_BYTES) return redacted
  const sure = cutAtBytes(redacted, Math.max(0, bytes))
  // Everything up to the last redacted secret was read whole.
  return redacted.slice(0, Math.max(sure.length, redacted.lastIndexOf(REDACTED) + REDACTED.length))
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
