// The screen as the emulator keeps it, in a worker beside the stream: behind it at times, never in its way.
import type { Clock, Timer } from '../../clock.ts'
import { BACKLOG_BYTES, SCREEN_LOOK_TICKS, SCREEN_TICK_BYTES_MAX, SCREEN_TICK_MS } from '../../limits.ts'
import type { TerminalColors, Size } from '../../wire/payloads.ts'
import type { OutputLog } from '../streams/output-log.ts'
import { QueryScanner } from '../../cells/query-stream.ts'
import type { ScreenQuestion } from './terminal-questions.ts'
import { EmulatorThread } from './emulator-thread.ts'
import { ScreenFeed } from './screen-feed.ts'
import type { ScreenLook } from './screen-messages.ts'
import type { SessionLog } from '../session-log.ts'
import type { ScreenSnapshot } from '../streams/subscriber.ts'

export interface ScreenParts {
  readonly output: OutputLog
  readonly size: Size
  /** Of the terminal that the session was started from, where that is known. */
  readonly colors?: TerminalColors | undefined
  /** Path of `screen-worker.cjs`. */
  readonly worker: string
  readonly clock: Clock
  readonly log: SessionLog
  /** What the screen asks, at each pause of the output; in the midst of it only that it asks nothing. */
  readonly onQuestion: (question: ScreenQuestion | undefined) => void
  /** The program asked its terminal something, and this is the answer. */
  readonly onAnswer: (text: string) => void
}

export class Screen {
  readonly #parts: ScreenParts
  readonly #emulator: EmulatorThread
  readonly #feed: ScreenFeed
  readonly #queries = new QueryScanner()
  #scannedTo = 0
  /** Of the output that comes. */
  #isAnswering = true
  #isAnswerDue = false
  #isAskedAgain = false
  #tick: Timer | undefined
  #endAtTick = 0
  #flowTicks = 0

  constructor(parts: ScreenParts) {
    this.#parts = parts
    this.#emulator = new EmulatorThread({ ...parts, onDied: () => this.#feed.rewind() })
    this.#feed = new ScreenFeed({ ...parts, post: (message) => this.#emulator.post(message) })
  }

  /** There is new output in the log. */
  advance(): void {
    if (this.#emulator.isClosed) return
    // What falls out of the log next would be lost to the emulator for good.
    if (this.#feed.lagBytes > BACKLOG_BYTES) this.#feed.skip()
    this.#arm()
    if (this.#hasQuery()) this.#answer()
  }

  resize(size: Size): void {
    const at = this.#feed.turn({ is: 'size', size })
    if (at > 0) this.#arm()
    else this.#emulator.startAt(size)
  }

  /** Whether what the program asks from now on is answered here, or by the terminal of somebody who watches. */
  answering(isOn: boolean): void {
    if (isOn === this.#isAnswering) return
    this.#isAnswering = isOn
    this.#feed.turn({ is: 'answering', isOn })
  }

  /** At once: whoever looks at the program now looks at it in these. */
  colors(colors: TerminalColors): void {
    this.#emulator.colors(colors)
  }

  /** The screen at the latest place where the stream may be joined. */
  async snapshot(): Promise<ScreenSnapshot | undefined> {
    this.#feed.feed()
    const offset = this.#parts.output.cutAtOrBefore(this.#feed.fedTo)
    const answer = await this.#emulator.ask(true)
    if (answer === undefined) return undefined
    return { offset, size: answer.size, isWhole: answer.isWhole, bytes: Buffer.from(answer.drawing) }
  }

  /** No emulator was needed so far, and the output, drawn at the size of now, is the screen. */
  get isUntouched(): boolean {
    return this.#emulator.isUntouched && this.#feed.isOfOneSize
  }

  /** Modes that the child has switched on, and what the lowest line says; nothing before there was output. */
  async summary(): Promise<Pick<ScreenLook, 'modes' | 'lastLine'>> {
    if (this.#parts.output.end === 0) return { modes: { alt_screen: false, bracketed_paste: false }, lastLine: '' }
    this.#feed.feed()
    const { modes, lastLine } = (await this.#emulator.ask(false)) ?? { modes: {}, lastLine: '' }
    return { modes, lastLine }
  }

  /** What the screen asks a person, as it is now. */
  async question(): Promise<ScreenQuestion | undefined> {
    if (this.#parts.output.end === 0) return undefined
    this.#feed.feed()
    return (await this.#emulator.ask(false))?.question
  }

  close(): void {
    this.#tick?.cancel()
    this.#emulator.close()
  }

  /** Each byte is looked at once, and only while it is ours to answer. */
  #hasQuery(): boolean {
    const { output } = this.#parts
    const from = Math.max(this.#scannedTo, output.start)
    this.#scannedTo = output.end
    if (!this.#isAnswering) return false
    let hasQuery = false
    for (const slice of output.slices(from, output.end)) if (this.#queries.scan(slice)) hasQuery = true
    return hasQuery
  }

  /** Now, not at the next tick: the program waits. At most one such haste at a time, so that a flood of questions is none of work. */
  #answer(): void {
    this.#isAskedAgain = this.#isAnswerDue
    if (this.#isAnswerDue) return
    this.#isAnswerDue = true
    this.#feed.feed()
    void this.#emulator.ask(false).then(() => {
      this.#isAnswerDue = false
      if (this.#isAskedAgain) this.#answer()
    })
  }

  #arm(): void {
    this.#tick ??= this.#parts.clock.after(
      SCREEN_TICK_MS,
      () => {
        this.#tick = undefined
        this.#ticked()
      },
      { background: true },
    )
  }

  #ticked(): void {
    const { end } = this.#parts.output
    const isQuiet = end === this.#endAtTick
    this.#endAtTick = end
    if (!isQuiet) {
      if (this.#feed.lagBytes <= SCREEN_TICK_BYTES_MAX) this.#feed.feed()
      this.#flowTicks += 1
      // Half-drawn, a screen may look like anything; but a question that is gone is not to wait for a pause.
      if (this.#emulator.hasStarted && this.#flowTicks % SCREEN_LOOK_TICKS === 0)
        void this.#emulator.ask(false).then((answer) => {
          if (answer !== undefined && answer.question === undefined) this.#parts.onQuestion(undefined)
        })
      this.#arm()
      return
    }
    void this.question().then((question) => this.#parts.onQuestion(question))
  }
}
