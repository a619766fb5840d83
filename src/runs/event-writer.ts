// Between the data path and the record: lines wait here for company and are written together. What is behind is waited for, not lost.
import { type Clock, pause, type Timer } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import {
  EVENT_BATCH_BYTES,
  EVENT_BATCH_MS,
  EVENT_BEHIND_BYTES,
  EVENT_CLOSE_MS,
  EVENT_QUEUE_FULL,
  EVENT_QUEUE_MAX,
  EVENT_QUEUE_SOFT,
  EVENT_RETRY_MS,
  EVENT_RETRY_MS_MAX,
  EVENT_STALL_MS,
} from '../limits.ts'
import type { EventLines, Mark, QueuedEvent } from '../events/event-lines.ts'
import type { RecordedCount } from '../policy/decide/counted.ts'
import { insist, type Record } from './record.ts'
import type { RunFold } from './run-fold.ts'
import type { RunStatus } from '../events/types.ts'

export interface EventWriterOptions {
  readonly record: Record
  readonly clock: Clock
  /** Where events are put; `room` is asked before, `added` told after. */
  readonly lines: EventLines
  /** Gets what was written as well, to be used at once; a copy that is not taken is not repeated. */
  readonly copy?: (lines: Buffer) => void
  /** Told once when writing begins to fail, and once when it works again. */
  readonly onTrouble: (error: Error | null, eventsLost: number, excess: readonly Excess[]) => void
}

/** A budget that was exceeded while the record could not be written. */
export interface Excess {
  readonly rule_id: string
  readonly counter: string
  readonly over: number
}

export type Outcome = 'written' | 'failing'

/** What may be put: everything, everything but previews, or nothing. */
export type Room = 'whole' | 'bare' | 'none'

export class EventWriter {
  readonly #record: Record
  readonly #clock: Clock
  readonly #lines: EventLines
  readonly #options: EventWriterOptions
  #timer: Timer | undefined
  #lastFlushMs = -Infinity
  #retryMs = EVENT_RETRY_MS
  #lost = 0
  #failing: Error | null = null
  /** Since when the record has not taken what it was offered. */
  #refusedSinceMs: number | null = null
  /** No line has a preview any more; so it stays until there is room again. */
  #isStripped = false
  #waiting: (() => void)[] = []
  #excess: readonly Excess[] = []

  constructor(options: EventWriterOptions) {
    this.#options = options
    this.#record = options.record
    this.#clock = options.clock
    this.#lines = options.lines
  }

  /** Events cannot be written at present; in mode *control* that is an error that policy has to answer. */
  get isFailing(): boolean {
    return this.#failing !== null
  }

  /** The record works but does not keep up: whoever makes events should pause until `caughtUp`. */
  get isBehind(): boolean {
    return this.#failing === null && this.#lines.length > EVENT_BEHIND_BYTES
  }

  /** What the record adds up to, with what was counted here and is not written yet. */
  get fold(): RunFold {
    return this.#record.fold
  }

  /** Budgets that were exceeded while the record could not be written. */
  get excess(): readonly Excess[] {
    return this.#excess
  }

  /** Reads what other processes have written, where that needs no waiting and the record works. */
  refresh(): void {
    if (this.#failing !== null) return
    try {
      this.#record.refresh()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Events that are lost for good. */
  get eventsLost(): number {
    return this.#lost
  }

  /**
   * Asked before events are put. A record that works is waited for, so only one that fails lets them pile up. Then
   * previews go first, then the ends of calls; beginnings stay with their decisions until memory itself is at stake.
   */
  room(what: 'call' | 'end' | 'other', count: number): Room {
    // Many events of one moment, such as the ends of all open calls: what is queued goes first.
    if (this.#lines.length > EVENT_QUEUE_SOFT && this.#failing === null && this.#refusedSinceMs === null) this.flush()
    if (this.#lines.length <= EVENT_QUEUE_SOFT) {
      this.#isStripped = false
      return 'whole'
    }
    if (!this.#isStripped) {
      this.#isStripped = true
      this.#lines.strip()
    }
    if (this.#lines.length <= (what === 'end' ? EVENT_QUEUE_FULL : EVENT_QUEUE_MAX)) return 'bare'
    this.#lost += count
    return 'none'
  }

  /** A lone event goes out with the next turn of the loop; in a stream of them, one batch every few milliseconds. */
  added(): void {
    if (this.#failing !== null || this.#timer !== undefined) return
    const sinceMs = this.#clock.monoMs() - this.#lastFlushMs
    this.#wakeIn(sinceMs >= EVENT_BATCH_MS ? 0 : EVENT_BATCH_MS, () => this.#flushBatch())
  }

  /** Lines that came behind a batch that a call has had written meanwhile wait for the next: with calls one after the other, ends go with the call behind them. */
  #flushBatch(): void {
    const restMs = this.#lastFlushMs + EVENT_BATCH_MS - this.#clock.monoMs()
    if (restMs > 0 && this.#lines.count > 0) this.#wakeIn(Math.ceil(restMs), () => this.#flushBatch())
    else this.flush()
  }

  /** Told when a chunk of traffic has been dealt with. A timer alone would starve while chunks come in. */
  endOfTurn(): void {
    if (this.#lines.length >= EVENT_BATCH_BYTES && this.#failing === null && this.#refusedSinceMs === null) this.flush()
  }

  /** Writes what is there, and what `decide` puts, as far as that needs no waiting. */
  flush(decide?: () => void): void {
    this.#lastFlushMs = this.#clock.monoMs()
    if (this.#lines.count === 0 && decide === undefined) {
      this.#settle()
      return
    }
    let written: Buffer | undefined
    try {
      written = this.#record.write(this.#lines, decide)
    } catch (error) {
      this.#fail(error)
      return
    }
    if (written === undefined) {
      this.#refused()
      return
    }
    if (this.#failing !== null) this.#excess = excessIn(this.#lines.events, this.#record.fold)
    this.#options.copy?.(written)
    this.#lines.clear()
    this.#refusedSinceMs = null
    this.#settle()
    this.#wakeWaiting()
  }

  mark(): Mark {
    return this.#lines.mark()
  }

  /** Takes back what was put between two marks; false when it has been written. */
  takeBack(from: Mark, to: Mark): boolean {
    return this.#lines.takeBack(from, to)
  }

  /**
   * A turn: `decide` is called once, when all that other processes have written is known and none of them can write, and
   * what it puts is written with all that waits. Where the record fails it may not have been called.
   */
  turn(decide: () => void): Outcome | Promise<Outcome> {
    let isDecided = false
    const once = (): void => {
      if (isDecided) return
      isDecided = true
      decide()
    }
    const tried = (): Outcome | 'waiting' => {
      if (this.#failing === null) this.flush(once)
      if (this.#failing !== null) return 'failing'
      return isDecided && this.#lines.count === 0 && this.#record.isDelivered() ? 'written' : 'waiting'
    }
    const outcome = tried()
    return outcome === 'waiting' ? this.#insisted(tried) : outcome
  }

  /** With waiting, for as long as a record may be in the way of a call. */
  async #insisted(tried: () => Outcome | 'waiting'): Promise<Outcome> {
    const deadlineMs = this.#clock.monoMs() + EVENT_STALL_MS
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 20)) {
      await pause(this.#clock, pauseMs)
      const outcome = tried()
      if (outcome !== 'waiting') return outcome
      if (this.#clock.monoMs() >= deadlineMs) {
        // Reported once, and for all calls that follow: a reader that stands still is not waited for by each of them.
        this.#fail(stalled())
        return 'failing'
      }
    }
  }

  /** Resolves when the record keeps up again, or fails. */
  caughtUp(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isBehind) this.#waiting.push(resolve)
      else resolve()
    })
  }

  /** Writes the rest, takes leave of the run and reports what could not be written. */
  async close(status: RunStatus): Promise<void> {
    try {
      await insist(this.#clock, 'the record of events', () => this.#drained(), EVENT_CLOSE_MS)
    } catch (error) {
      if (!(error instanceof HeimdallError && error.code === 'STORE_BUSY')) throw error
    }
    this.#timer?.cancel()
    this.#lost += this.#lines.count
    try {
      const written = await insist(
        this.#clock,
        'the record of events',
        () => this.#record.leave(status, this.#lost),
        EVENT_CLOSE_MS,
      )
      this.#options.copy?.(written)
    } catch (error) {
      this.#options.onTrouble(asError(error), this.#lost, [])
    }
    this.#record.close()
  }

  /** A reader that is behind is waited for; a disk that is full has been tried often enough. */
  #drained(): true | undefined {
    this.flush()
    return this.#lines.count === 0 || this.#failing !== null ? true : undefined
  }

  /** One that is set when lines are written before their time stays: it comes for those behind them, and costs less than two. */
  #wakeIn(ms: number, act = () => this.flush()): void {
    this.#timer?.cancel()
    this.#timer = this.#clock.after(ms, () => {
      this.#timer = undefined
      act()
    })
  }

  /** Somebody else has the record, or its reader is behind. For a moment that is usual; for longer it is as bad as a full disk. */
  #refused(): void {
    const nowMs = this.#clock.monoMs()
    this.#refusedSinceMs ??= nowMs
    // Each attempt encodes all that waits.
    if (nowMs - this.#refusedSinceMs < EVENT_STALL_MS) this.#wakeIn(EVENT_BATCH_MS)
    else this.#fail(stalled())
  }

  #fail(error: unknown): void {
    if (!isDiskError(error)) throw error
    const isNew = this.#failing === null
    this.#failing = asError(error)
    if (isNew) this.#options.onTrouble(this.#failing, this.#lost, [])
    this.#wakeIn(this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, EVENT_RETRY_MS_MAX)
    this.#wakeWaiting()
  }

  /** What failed works again when all that was written has gone out. */
  #settle(): void {
    if (this.#failing === null) return
    if (!this.#isDelivered()) {
      this.#wakeIn(this.#retryMs)
      return
    }
    this.#failing = null
    this.#retryMs = EVENT_RETRY_MS
    this.#options.onTrouble(null, this.#lost, this.#excess)
  }

  #isDelivered(): boolean {
    try {
      return this.#record.isDelivered()
    } catch (error) {
      if (!isDiskError(error)) throw error
      return false
    }
  }

  #wakeWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

const stalled = (): HeimdallError => new HeimdallError('STORE_BUSY', `event log blocked for ${EVENT_STALL_MS} ms`)

/** Several processes decided by what each of them knew; the limit is the one that their decisions tell. */
function excessIn(events: readonly QueuedEvent[], fold: RunFold): Excess[] {
  const found = new Map<string, Excess>()
  for (const { type, fields } of events) {
    const counters = type === 'tool_call_decision' ? (fields.decision?.['counters'] as RecordedCount[] | undefined) : []
    for (const { rule_id, counter, key, limit } of counters ?? []) {
      const at = counter === 'calls' ? 0 : counter === 'cost_units' ? 1 : undefined
      const over = at === undefined ? 0 : (fold.get(key, '')?.[at] ?? 0) - limit
      if (over > 0) found.set(`${key} ${counter}`, { rule_id, counter, over })
    }
  }
  return [...found.values()]
}

/** What the disk or the reader of a stream does; anything else is our own mistake and must not be hidden. */
function isDiskError(error: unknown): boolean {
  return error instanceof HeimdallError ? error.entry.kind !== 'bug' : isSystemError(error)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
