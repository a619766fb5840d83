// The screen as the emulator keeps it, in a worker beside the stream: behind it at times, never in its way.
import { createRequire } from 'node:module'
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../clock.ts'
import { BACKLOG_BYTES, SCREEN_LAG_BYTES_MAX } from '../../limits.ts'
import type { TerminalColors, Size } from '../../wire/payloads.ts'
import { condense } from './condense.ts'
import type { OutputLog } from '../streams/output-log.ts'
import { QueryScanner } from '../../cells/query-stream.ts'
import type { ScreenQuestion } from './terminal-questions.ts'
import type { FromScreen, ScreenLook, ScreenStart, ToScreen } from './screen-messages.ts'
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

/** How often output is passed on while it flows, and how long a pause counts as one. */
const TICK_MS = 250
/** Per tick: what the emulator parses in a twentieth of it. More than this is a flood, and waits for its end. */
const TICK_BYTES_MAX = 256 << 10
/** After a flood only its end is drawn: many screenfuls. */
const TAIL_BYTES = 512 << 10
/** While output flows, the screen is looked at this seldom. */
const LOOK_TICKS = 4
/** What waits at most for an emulator that has not been asked anything yet. */
const ASLEEP_BYTES_MAX = 256 << 10
/** What a message takes beside its bytes. */
const MESSAGE_BYTES = 64
const RESTARTS_MAX = 3
const MEMORY_MB_MAX = 128

interface Turn {
  readonly at: number
  readonly to: Extract<ToScreen, { is: 'size' | 'answering' }>
}

export class Screen {
  readonly #parts: ScreenParts
  #worker: Worker | undefined
  #starts = 0
  #size: Size
  /** What the emulator is given when it wakes. While output only flows by, it would take time from the stream for nothing. */
  #asleep: ToScreen[] = []
  #asleepBytes = 0
  /** The size before that. */
  #asleepSize: Size | undefined
  /** The emulator has been given everything before this byte, or what matters of it. */
  #fedTo = 0
  /** Sizes, and who answers, from these bytes on. */
  #turns: Turn[] = []
  readonly #queries = new QueryScanner()
  #scannedTo = 0
  /** Of the output that comes, and of the output that the emulator was given last. */
  #isAnswering = true
  #isAnsweringFed = true
  #isAnswerDue = false
  #isAskedAgain = false
  #tick: Timer | undefined
  #endAtTick = 0
  #flowTicks = 0
  #requests = 0
  #colors: TerminalColors | undefined
  readonly #waiting = new Map<number, (answer: ScreenLook | undefined) => void>()
  #isClosed = false

  constructor(parts: ScreenParts) {
    this.#parts = parts
    this.#colors = parts.colors
    this.#size = parts.size
  }

  /** There is new output in the log. */
  advance(): void {
    if (this.#isClosed) return
    // What falls out of the log next would be lost to the emulator for good.
    if (this.#parts.output.end - this.#fedTo > BACKLOG_BYTES) this.#skip()
    this.#arm()
    if (this.#hasQuery()) this.#answer()
  }

  resize(size: Size): void {
    const at = this.#turn({ is: 'size', size })
    if (at > 0) this.#arm()
    else this.#size = size
  }

  /** Whether what the program asks from now on is answered here, or by the terminal of somebody who watches. */
  answering(isOn: boolean): void {
    if (isOn === this.#isAnswering) return
    this.#isAnswering = isOn
    this.#turn({ is: 'answering', isOn })
  }

  /** At once: whoever looks at the program now looks at it in these. */
  colors(colors: TerminalColors): void {
    this.#colors = colors
    if (this.#worker !== undefined) give(this.#worker, { is: 'colors', colors })
  }

  /** The screen at the latest place where the stream may be joined. */
  async snapshot(): Promise<ScreenSnapshot | undefined> {
    this.#feed()
    const offset = this.#parts.output.cutAtOrBefore(this.#fedTo)
    const answer = await this.#ask(true)
    if (answer === undefined) return undefined
    return { offset, size: answer.size, isWhole: answer.isWhole, bytes: Buffer.from(answer.drawing) }
  }

  /** No emulator was needed so far, and the output, drawn at the size of now, is the screen. */
  get isUntouched(): boolean {
    if (this.#starts > 0 || this.#asleep.some(({ is }) => is === 'size' || is === 'skipped')) return false
    return this.#turns.every(({ at, to }) => at === 0 || to.is !== 'size')
  }

  /** Modes that the child has switched on, and what the lowest line says; nothing before there was output. */
  async summary(): Promise<Pick<ScreenLook, 'modes' | 'lastLine'>> {
    if (this.#parts.output.end === 0) return { modes: { alt_screen: false, bracketed_paste: false }, lastLine: '' }
    this.#feed()
    const { modes, lastLine } = (await this.#ask(false)) ?? { modes: {}, lastLine: '' }
    return { modes, lastLine }
  }

  /** What the screen asks a person, as it is now. */
  async question(): Promise<ScreenQuestion | undefined> {
    if (this.#parts.output.end === 0) return undefined
    this.#feed()
    return (await this.#ask(false))?.question
  }

  close(): void {
    this.#isClosed = true
    this.#tick?.cancel()
    this.#answerNobody()
    void this.#worker?.terminate()
  }

  #turn(to: Turn['to']): number {
    const at = this.#parts.output.end
    // Where nothing came in between, the last of each kind is all that counts: a program may write nothing for days.
    const before = this.#turns.findLastIndex((turn) => turn.at === at && turn.to.is === to.is)
    if (before >= 0) this.#turns.splice(before, 1)
    this.#turns.push({ at, to })
    return at
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
    this.#feed()
    void this.#ask(false).then(() => {
      this.#isAnswerDue = false
      if (this.#isAskedAgain) this.#answer()
    })
  }

  #arm(): void {
    this.#tick ??= this.#parts.clock.after(
      TICK_MS,
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
      if (end - this.#fedTo <= TICK_BYTES_MAX) this.#feed()
      this.#flowTicks += 1
      // Half-drawn, a screen may look like anything; but a question that is gone is not to wait for a pause.
      if (this.#starts > 0 && this.#flowTicks % LOOK_TICKS === 0)
        void this.#ask(false).then((answer) => {
          if (answer !== undefined && answer.question === undefined) this.#parts.onQuestion(undefined)
        })
      this.#arm()
      return
    }
    void this.question().then((question) => this.#parts.onQuestion(question))
  }

  /** Everything up to now, or after a flood its end. */
  #feed(): void {
    const { output } = this.#parts
    if (output.end - this.#fedTo > SCREEN_LAG_BYTES_MAX) this.#skip()
    this.#feedUpTo(output.end, (slices) => {
      for (const bytes of slices) this.#post({ is: 'output', bytes })
    })
  }

  /** Gives the emulator what there is, in turn with what changes on the way. */
  #feedUpTo(end: number, give: (slices: readonly Buffer[]) => void): void {
    const feed = (to: number): void => {
      if (to <= this.#fedTo) return
      give(this.#parts.output.slices(this.#fedTo, to))
      this.#fedTo = to
    }
    while (this.#turns[0] !== undefined && this.#turns[0].at <= end) {
      const [{ at, to }] = this.#turns.splice(0, 1) as [Turn]
      feed(at)
      this.#post(to)
      if (to.is === 'size') this.#size = to.size
      else this.#isAnsweringFed = to.isOn
    }
    feed(end)
  }

  /** Passes over what there is no time for, but for the modes it sets and what it asks. */
  #skip(): void {
    const { output, log } = this.#parts
    const from = Math.max(this.#fedTo, output.start)
    const to = output.cutAtOrAfter(Math.max(from, output.end - TAIL_BYTES)) ?? output.end
    log.write('debug', 'screen', `too fast: passed over ${to - this.#fedTo} bytes`)
    this.#feedUpTo(to, (slices) => {
      const bytes = condense(slices)
      if (bytes.length > 0) this.#post({ is: 'output', bytes })
    })
    // Behind what was kept: a switch of screens in there is no fresh screen, for what was drawn on it is missing.
    this.#post({ is: 'skipped' })
  }

  /** To the emulator, or for it when it wakes; it is not woken for this before it would take more memory than it is worth. */
  #post(message: ToScreen): void {
    // Copied and given away: to send a view would be to send the whole slab that it is a view of.
    const own = message.is === 'output' ? { ...message, bytes: new Uint8Array(message.bytes) } : message
    if (this.#worker !== undefined) {
      give(this.#worker, own)
      return
    }
    const last = this.#asleep.at(-1)
    if (own.is === 'skipped' && last?.is === 'skipped') return
    if (last === undefined) this.#asleepSize = this.#size
    this.#asleep.push(own)
    this.#asleepBytes += MESSAGE_BYTES + (own.is === 'output' ? own.bytes.length : 0)
    if (this.#asleepBytes > ASLEEP_BYTES_MAX) this.#running()
  }

  #ask(isDrawn: boolean): Promise<ScreenLook | undefined> {
    const worker = this.#running()
    if (worker === undefined) return Promise.resolve(undefined)
    this.#requests += 1
    const request = this.#requests
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve)
      give(worker, { is: 'look', request, isDrawn })
    })
  }

  /** Started when first needed; started again from what is kept when it died, a few times. */
  #running(): Worker | undefined {
    if (this.#worker !== undefined) return this.#worker
    const asleep = this.#asleep
    this.#asleep = []
    this.#asleepBytes = 0
    if (this.#isClosed || this.#starts > RESTARTS_MAX) return undefined
    this.#starts += 1
    // Loaded here: a session that has not written yet must not pay for threads.
    const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof Worker }
    const worker = new threads.Worker(this.#parts.worker, {
      // What is read a second time was answered the first time.
      workerData: {
        size: this.#asleepSize ?? this.#size,
        isAnswering: this.#starts === 1,
        colors: this.#colors,
      } satisfies ScreenStart,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    })
    worker.unref()
    worker.on('message', (message: FromScreen) => {
      if (message.is === 'answer') {
        this.#parts.onAnswer(message.text)
        return
      }
      const resolve = this.#waiting.get(message.request)
      this.#waiting.delete(message.request)
      resolve?.(message)
    })
    worker.on('error', (error) => {
      this.#parts.log.write('error', 'screen', `emulator ended: ${error.message}`)
      this.#worker = undefined
      this.#turns.unshift({ at: this.#fedTo, to: { is: 'answering', isOn: this.#isAnsweringFed } })
      this.#fedTo = this.#parts.output.start
      this.#answerNobody()
    })
    this.#worker = worker
    this.#asleepSize = undefined
    if (this.#starts > 1) give(worker, { is: 'skipped' })
    for (const message of asleep) give(worker, message)
    return worker
  }

  #answerNobody(): void {
    for (const resolve of this.#waiting.values()) resolve(undefined)
    this.#waiting.clear()
  }
}

function give(worker: Worker, message: ToScreen): void {
  worker.postMessage(message, message.is === 'output' ? [message.bytes.buffer as ArrayBuffer] : [])
}
