// A piece of work with a beginning and an end, as tracing systems know it.
import { createHash } from 'node:crypto'
import { SPAN_TIME_MS_MAX } from '../../limits.ts'

type AttributeValue = string | number | boolean | readonly string[]
export type Attributes = Readonly<Record<string, AttributeValue>>

/** Where a span is: known from what stands in the record alone, so that the same run always makes the same spans. */
export interface SpanPlace {
  readonly traceId: string
  readonly spanId: string
}

interface SpanEvent {
  readonly name: string
  readonly atMs: number
  readonly attributes: Attributes
}

export interface Span extends SpanPlace {
  readonly parentId: string | null
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly startMs: number
  readonly endMs: number
  /** Null for all that did not fail. */
  readonly error: { readonly message?: string } | null
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly droppedEvents: number
  readonly links: readonly SpanPlace[]
  /** Who wrote the record: the same object for all spans of one run. */
  readonly resource: Attributes
}

/** What becomes of a span when it ends. */
export class OpenSpan {
  readonly place: SpanPlace
  readonly startMs: number
  readonly #events: SpanEvent[] = []
  readonly #eventsMax: number
  #droppedEvents = 0

  constructor(place: SpanPlace, startMs: number, eventsMax: number) {
    this.place = place
    this.startMs = startMs
    this.#eventsMax = eventsMax
  }

  add(event: SpanEvent): void {
    if (this.#events.length < this.#eventsMax) this.#events.push(event)
    else this.#droppedEvents += 1
  }

  end(endMs: number, rest: Omit<Span, keyof SpanPlace | 'startMs' | 'endMs' | 'events' | 'droppedEvents'>): Span {
    return {
      ...this.place,
      startMs: this.startMs,
      // A wall clock that was set back must not make work end before it began.
      endMs: Math.min(Math.max(endMs, this.startMs), SPAN_TIME_MS_MAX),
      events: this.#events,
      droppedEvents: this.#droppedEvents,
      ...rest,
    }
  }
}

/** 16 bytes in hexadecimal that belong to these words and to no others. */
export const traceIdOf = (...words: readonly (string | number)[]): string => digest(words).slice(0, 32)

/** Of something in a trace, by what tells it from the rest of the trace. */
export const placeIn = (traceId: string, ...words: readonly (string | number)[]): SpanPlace => ({
  traceId,
  spanId: digest([traceId, ...words]).slice(0, 16),
})

const digest = (words: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(words)).digest('hex')
