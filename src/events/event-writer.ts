// Between the data path and the record: a bounded queue, written in batches. Taking an event never waits for anything.
import type { Clock, Timer } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import {
  EVENT_BATCH_BYTES,
  EVENT_BATCH_MS,
  EVENT_CLOSE_MS,
  EVENT_QUEUE_FULL,
  EVENT_QUEUE_MAX,
  EVENT_QUEUE_SOFT,
  EVENT_RETRY_MS,
  EVENT_RETRY_MS_MAX,
} from '../limits.ts'
import { type EventLine, withoutPreview } from './event-text.ts'
import { insist, type Record } from './record.ts'
import type { RunStatus } from './types.ts'

export interface EventWriterOptions {
  readonly record: Record
  readonly clock: Clock
  /** Gets what was written as well, to be used at once; a copy that is not taken is not repeated. */
  readonly copy?: (lines: Buffer) => void
  /** Told once when writing begins to fail, and once when it works again. */
  readonly onTrouble: (error: Error | null, eventsLost: number) => void
}

export class EventWriter {
  readonly #record: Record
  readonly #clock: Clock
  readonly #options: EventWriterOptions
  #queue: EventLine[] = []
  #bytes = 0
  #timer: Timer | undefined
  #lastFlushMs = -Infinity
  #retryMs = EVENT_RETRY_MS
  #lost = 0
  #failing: Error | null = null
  /** The queue holds no preview any more; so it stays until it is short again. */
  #isStripped = false

  constructor(options: EventWriterOptions) {
    this.#options = options
    this.#record = options.record
    this.#clock = options.clock
  }

  /** Events cannot be written at present; in mode *control* that is an error that policy has to answer. */
  get isFailing(): boolean {
    return this.#failing !== null
  }

  /** Events that are lost for good. */
  get eventsLost(): number {
    return this.#lost
  }

  put(line: EventLine): void {
    const isTight = this.#bytes > EVENT_QUEUE_SOFT
    if (!isTight) this.#isStripped = false
    else if (!this.#isStripped) this.#stripQueue()
    // Under pressure previews go first, then starts and ends; decisions stay until memory itself is at stake.
    const isKept = line.type !== 'tool_call_start' && line.type !== 'tool_call_end'
    if (this.#bytes > (isKept ? EVENT_QUEUE_MAX : EVENT_QUEUE_FULL)) {
      this.#lost += 1
      return
    }
    const taken = isTight ? withoutPreview(line) : line
    this.#queue.push(taken)
    this.#bytes += taken.to - taken.from
    if (this.#failing !== null) return
    if (this.#bytes >= EVENT_BATCH_BYTES && this.#queue.length > 1) this.#schedule(0)
    else this.#schedule(EVENT_BATCH_MS)
  }

  /** Writes what is there, as far as that needs no waiting. */
  flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#lastFlushMs = this.#clock.monoMs()
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch()
      let written: Buffer | undefined
      try {
        written = this.#record.write(batch)
      } catch (error) {
        this.#giveBack(batch)
        this.#fail(error)
        return
      }
      if (written === undefined) {
        this.#giveBack(batch)
        this.#schedule(1)
        return
      }
      this.#recover()
      this.#options.copy?.(written)
    }
  }

  /** Writes the rest, takes leave of the run and reports what could not be written. */
  async close(status: RunStatus): Promise<void> {
    try {
      await insist(this.#clock, 'the record of events', () => this.#drained(), EVENT_CLOSE_MS)
    } catch (error) {
      if (!(error instanceof HeimdallError && error.code === 'STORE_BUSY')) throw error
    }
    this.#timer?.cancel()
    this.#lost += this.#queue.length
    try {
      const written = await insist(
        this.#clock,
        'the record of events',
        () => this.#record.leave(status, this.#lost),
        EVENT_CLOSE_MS,
      )
      this.#options.copy?.(written)
    } catch (error) {
      this.#options.onTrouble(asError(error), this.#lost)
    }
    this.#record.close()
  }

  /** A reader that is behind is waited for; a disk that is full has been tried often enough. */
  #drained(): true | undefined {
    this.flush()
    return this.#queue.length === 0 || this.#failing !== null ? true : undefined
  }

  /** A lone event goes out with the next turn of the loop; in a stream of them, one batch every few milliseconds. */
  #schedule(ms: number): void {
    if (this.#timer !== undefined) return
    const sinceMs = this.#clock.monoMs() - this.#lastFlushMs
    const waitMs = ms === EVENT_BATCH_MS && sinceMs >= EVENT_BATCH_MS ? 0 : ms
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined
      this.flush()
    })
  }

  #takeBatch(): EventLine[] {
    let bytes = 0
    let count = 0
    for (const line of this.#queue) {
      bytes += line.to - line.from
      count += 1
      if (bytes >= EVENT_BATCH_BYTES * 4) break
    }
    const batch = count === this.#queue.length ? this.#queue : this.#queue.slice(0, count)
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count)
    this.#bytes -= bytes
    return batch
  }

  #giveBack(batch: EventLine[]): void {
    this.#queue = batch.concat(this.#queue)
    for (const line of batch) this.#bytes += line.to - line.from
  }

  #stripQueue(): void {
    this.#isStripped = true
    this.#queue = this.#queue.map((line) => withoutPreview(line))
    this.#bytes = 0
    for (const { from, to } of this.#queue) this.#bytes += to - from
  }

  #fail(error: unknown): void {
    if (!isDiskError(error)) throw error
    if (this.#failing === null) this.#options.onTrouble(asError(error), this.#lost)
    this.#failing = asError(error)
    // What was put when writing began to work again, a moment ago, may have set one.
    this.#timer?.cancel()
    this.#timer = this.#clock.after(this.#retryMs, () => {
      this.#timer = undefined
      this.flush()
    })
    this.#retryMs = Math.min(this.#retryMs * 2, EVENT_RETRY_MS_MAX)
  }

  #recover(): void {
    if (this.#failing === null) return
    this.#failing = null
    this.#retryMs = EVENT_RETRY_MS
    this.#options.onTrouble(null, this.#lost)
  }
}

/** What the disk or the reader of a stream does; anything else is our own mistake and must not be hidden. */
function isDiskError(error: unknown): boolean {
  return error instanceof HeimdallError ? error.entry.kind !== 'bug' : isSystemError(error)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
