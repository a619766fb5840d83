// Spans in batches: one is sent while the next one fills; a full one makes the reader of the records wait.
import type { Clock, Timer } from '../../clock.ts'
import { OTLP_BATCH_BYTES, OTLP_BATCH_MS, OTLP_BATCH_SPANS } from '../../limits.ts'
import type { Span } from '../traces/span.ts'
import type { SpanSink } from './span-sink.ts'

export class SpanBatches {
  readonly #sink: SpanSink
  readonly #clock: Clock
  readonly #onFailure: (error: unknown) => void
  #pending: Span[] = []
  #bytes = 0
  #timer: Timer | null = null
  #sending: Promise<boolean> = Promise.resolve(true)
  readonly #traces = new Set<string>()
  sent = 0

  /** `onFailure` receives the error of a batch that the timer sent. */
  constructor(sink: SpanSink, clock: Clock, onFailure: (error: unknown) => void) {
    this.#sink = sink
    this.#clock = clock
    this.#onFailure = onFailure
  }

  get pending(): number {
    return this.#pending.length
  }

  get traces(): number {
    return this.#traces.size
  }

  /** `bytes` of the record became these spans. False when the sink is closed. */
  async add(spans: readonly Span[], bytes: number): Promise<boolean> {
    if (spans.length === 0) return true
    this.#pending.push(...spans)
    this.#bytes += bytes
    if (this.#pending.length >= OTLP_BATCH_SPANS || this.#bytes >= OTLP_BATCH_BYTES) return await this.flush()
    this.#timer ??= this.#clock.after(OTLP_BATCH_MS, () => void this.flush().catch(this.#onFailure))
    return true
  }

  flush(): Promise<boolean> {
    this.#timer?.cancel()
    this.#timer = null
    return (this.#sending = this.#sending.then((isTaken) => (isTaken ? this.#send() : false)))
  }

  async #send(): Promise<boolean> {
    const spans = this.#pending
    if (spans.length === 0) return true
    this.#pending = []
    this.#bytes = 0
    if (!(await this.#sink.send(spans))) {
      this.#pending = [...spans, ...this.#pending]
      return false
    }
    this.sent += spans.length
    for (const { traceId } of spans) this.#traces.add(traceId)
    return true
  }
}
