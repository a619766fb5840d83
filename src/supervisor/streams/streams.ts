// Output on its way from the terminal: into the log, then to clients, to the screen, the recording and the file that is kept.
import type { Clock, Timer } from '../../clock.ts'
import { BACKLOG_BYTES, OUTPUT_FRAME_BYTES_MAX } from '../../limits.ts'
import type { Size, SubscribeOptions } from '../../wire/payloads.ts'
import type { SessionOptions } from '../../wire/session-options.ts'
import { FanOut, type ChildFlow } from './fan-out.ts'
import type { KeptFile } from './kept-file.ts'
import { OscScanner } from '../state/osc.ts'
import { OutputLog, READ_BYTES } from './output-log.ts'
import type { Recording } from '../../storage/recording.ts'
import type { Screen } from '../screen/screen.ts'
import { Subscriber, type SubscriberPort } from './subscriber.ts'

/** A read shorter than this is an echo or a keystroke's worth: it goes out at once. */
const SMALL_READ_BYTES = 1 << 10
const GATHER_MS = 1

export interface StreamsParts {
  readonly options: SessionOptions
  readonly clock: Clock
  /** Stops and goes on reading the terminal. */
  readonly flow: ChildFlow
  /** Both read the output, so they are made here. */
  readonly screen: (output: OutputLog) => Screen
  readonly kept: (output: OutputLog) => KeptFile
  readonly recording: Recording | undefined
  /** An operating system command in the output. */
  readonly onSignal: (code: number, text: string) => void
  /** So much went out to those who follow. */
  readonly onFlush: (bytes: number, nowMs: number) => void
}

export class SessionStreams {
  readonly #parts: StreamsParts
  readonly #clock: Clock
  readonly #output: OutputLog
  readonly #fanOut: FanOut
  readonly #osc: OscScanner
  readonly #kept: KeptFile
  readonly screen: Screen
  #flushedTo = 0
  #flushedMs = Number.NEGATIVE_INFINITY
  #gathering: Timer | undefined

  constructor(parts: StreamsParts) {
    const { options, clock, flow } = parts
    this.#parts = parts
    this.#clock = clock
    // Room beyond the backlog for what is read between two looks at who is behind.
    const keepBytes = Math.max(options.scrollbackBytes, BACKLOG_BYTES) + (1 << 20)
    this.#output = new OutputLog(keepBytes, (from, to) => this.#fanOut.isInFlight(from, to))
    this.#fanOut = new FanOut(flow, clock, { stallMs: options.stallMs, backlogBytes: BACKLOG_BYTES })
    this.#osc = new OscScanner(parts.onSignal)
    this.screen = parts.screen(this.#output)
    this.#kept = parts.kept(this.#output)
  }

  /** First byte that is still kept, and the byte after the last one. */
  get range(): { readonly start: number; readonly end: number } {
    return { start: this.#output.start, end: this.#output.end }
  }

  get isDelivered(): boolean {
    return this.#fanOut.isDelivered
  }

  /** Where the terminal's next output goes. */
  room(): Buffer {
    return this.#output.room()
  }

  /** So much of it has come. */
  read(bytes: number): void {
    this.#output.commit(bytes)
    const gathered = this.#output.end - this.#flushedTo
    // Small output at once, so that an echo is not late. A kernel that hands out a page at a time would make a flood
    // of small writes: there, what a millisecond brings goes out together.
    if (
      bytes < SMALL_READ_BYTES ||
      // Before it is more than a frame: the rest would be a small one.
      gathered > OUTPUT_FRAME_BYTES_MAX - READ_BYTES ||
      this.#clock.monoMs() - this.#flushedMs >= GATHER_MS
    )
      this.flush()
    else
      this.#gathering ??= this.#clock.after(GATHER_MS, () => {
        this.#gathering = undefined
        this.flush()
      })
  }

  /** To the clients first. */
  flush(): void {
    const from = this.#flushedTo
    if (from === this.#output.end) return
    this.#flushedTo = this.#output.end
    this.#fanOut.flush()
    const nowMs = this.#clock.monoMs()
    this.#flushedMs = nowMs
    for (const slice of this.#output.slices(from, this.#flushedTo)) {
      this.#osc.scan(slice)
      this.#parts.recording?.output(slice)
    }
    this.screen.advance()
    this.#kept.advance()
    this.#parts.onFlush(this.#flushedTo - from, nowMs)
  }

  subscribe(options: SubscribeOptions, to: Omit<SubscriberPort, 'snapshot'>): Subscriber {
    const snapshot = (): ReturnType<Screen['snapshot']> => this.screen.snapshot()
    const subscriber = new Subscriber(this.#output, options, { ...to, snapshot }, this.#parts.options.scrollbackBytes)
    this.flush()
    this.#fanOut.add(subscriber)
    return subscriber
  }

  drained(subscriber: Subscriber): void {
    this.#fanOut.drained(subscriber)
  }

  leave(subscriber: Subscriber): void {
    this.#fanOut.remove(subscriber)
  }

  resize(size: Size): void {
    this.screen.resize(size)
    this.#parts.recording?.resize(size)
  }

  /** At the end, before anybody is told of it. */
  save(): void {
    this.#kept.save()
  }

  /** EXIT behind the last byte, to each. */
  finish(code: number): void {
    this.#fanOut.finish(code)
  }

  /** After the end, for those who ask when nobody answers any more. */
  async keepScreen(): Promise<void> {
    if (this.#kept.isFromStart && this.screen.isUntouched) return
    const screen = await this.screen.snapshot()
    if (screen !== undefined) this.#kept.save({ ...screen, drawing: screen.bytes })
  }

  close(): void {
    this.screen.close()
    this.#kept.close()
    this.#gathering?.cancel()
  }
}
