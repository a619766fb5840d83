// The queue of events that are not yet in the record: plain objects, encoded as JSON lines when they are written.
import { jsonValue } from './json-text.ts'
import { type EventType, PACK_VERSION, type Transport } from './types.ts'

/** Members of an event besides the envelope. `call.seq` is assigned when the event is written. */
export interface EventBody {
  readonly call?: CallFields
  readonly decision?: Readonly<Record<string, unknown>>
  readonly status?: string
  preview?: EventPreview
  readonly [field: string]: unknown
}

export interface CallFields {
  readonly call_id: string
  readonly server_name?: string
  readonly tool_name?: string
  readonly args_hash?: string
  readonly transport?: Transport
  readonly bytes_in?: number
  readonly method?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly args_stream_hash?: string | undefined
  preview?: EventPreview
  seq?: number
}

/** `args_preview` or `result_preview` holds the text; without one, `truncated` says whether there was something to show. */
export interface EventPreview {
  readonly truncated: boolean
  readonly args_preview?: string
  readonly result_preview?: string
}

export interface QueuedEvent {
  readonly type: EventType
  /** ISO 8601. */
  readonly ts: string
  /** JSON text of the producer's identity, without braces: the same for every event of a shim. */
  readonly envelope: string
  readonly fields: EventBody
}

/** A position in the queue. */
export interface Mark {
  readonly clearings: number
  readonly count: number
}

/** About what the members of a call's event need without its preview; queue limits need no exact size. */
const CALL_EVENT_BYTES = 700
const OMITTED: EventPreview = { truncated: true }

export class EventLines {
  readonly #events: QueuedEvent[] = []
  #bytes = 0
  /** A mark from before the last `clear` is void. */
  #clearings = 0

  get events(): readonly QueuedEvent[] {
    return this.#events
  }

  get count(): number {
    return this.#events.length
  }

  /** Approximate size of the lines. */
  get length(): number {
    return this.#bytes
  }

  put(event: QueuedEvent): void {
    this.#events.push(event)
    this.#bytes += sizeOf(event)
  }

  /** The lines as they are written to a record. */
  encode(): Buffer {
    let text = ''
    for (const { type, ts, envelope, fields } of this.#events)
      text += `{"v":"${PACK_VERSION}","type":"${type}","ts":"${ts}",${envelope},${jsonValue(fields).slice(1)}\n`
    return Buffer.from(text)
  }

  mark(): Mark {
    return { clearings: this.#clearings, count: this.#events.length }
  }

  /** Removes the events between two marks; false when they have been written. */
  takeBack(from: Mark, to: Mark): boolean {
    if (from.clearings !== this.#clearings) return false
    for (const event of this.#events.splice(from.count, to.count - from.count)) this.#bytes -= sizeOf(event)
    return true
  }

  clear(): void {
    this.#events.length = 0
    this.#bytes = 0
    this.#clearings += 1
  }

  /** Removes the text of all previews, to free memory for events that matter more. */
  strip(): void {
    this.#bytes = 0
    for (const event of this.#events) {
      const { fields } = event
      const holder = fields.call?.preview === undefined ? fields : fields.call
      if (previewChars(holder.preview) > 0) holder.preview = OMITTED
      this.#bytes += sizeOf(event)
    }
  }
}

function sizeOf({ type, fields }: QueuedEvent): number {
  if (type === 'tool_call_start') return CALL_EVENT_BYTES + previewChars(fields.call?.preview)
  if (type === 'tool_call_end') return CALL_EVENT_BYTES + previewChars(fields.preview)
  if (type === 'tool_call_decision' && !('hint' in (fields.decision ?? {}))) return CALL_EVENT_BYTES
  return CALL_EVENT_BYTES + JSON.stringify(fields).length
}

const previewChars = (preview: EventPreview | undefined): number =>
  (preview?.args_preview ?? preview?.result_preview ?? '').length
