// The screen as the emulator keeps it, in a worker beside the stream: behind it at times, never in its way.
import { createRequire } from 'node:module'
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../clock.ts'
import { BACKLOG_BYTES, SCREEN_LAG_BYTES_MAX } from '../limits.ts'
import type { Size } from '../wire/messages.ts'
import { condense } from './condense.ts'
import type { OutputLog } from './output-log.ts'
import type { ScreenAnswer, ToScreen } from './screen-messages.ts'
import type { SessionLog } from './session-log.ts'
import type { Snapshot } from './subscriber.ts'

export interface ScreenParts {
  readonly output: OutputLog
  readonly size: Size
  /** Path of `screen-worker.cjs`. */
  readonly worker: string
  readonly clock: Clock
  readonly log: SessionLog
  /** The question on the screen has changed. */
  readonly onQuestion: (question: string | undefined) => void
}

/** How often output is passed on while it flows, and how long a pause counts as one. */
const TICK_MS = 250
/** Per tick: what the emulator parses in a twentieth of it. More than this is a flood, and waits for its end. */
const TICK_BYTES_MAX = 256 << 10
/** After a flood only its end is drawn: many screenfuls. */
const TAIL_BYTES = 512 << 10
const RESTARTS_MAX = 3
const MEMORY_MB_MAX = 128

export class Screen {
  readonly #parts: ScreenParts
  #worker: Worker | undefined
  #starts = 0
  #size: Size
  /** The emulator has been given everything before this byte, or what matters of it. */
  #fedTo = 0
  /** Sizes that apply from these bytes on. */
  #resizes: { readonly at: number; readonly size: Size }[] = []
  #tick: Timer | undefined
  #endAtTick = 0
  #requests = 0
  readonly #waiting = new Map<number, (answer: ScreenAnswer | undefined) => void>()
  #question: string | undefined
  #isClosed = false

  constructor(parts: ScreenParts) {
    this.#parts = parts
    this.#size = parts.size
  }

  /** There is new output in the log. */
  advance(): void {
    if (this.#isClosed) return
    // What falls out of the log next would be lost to the emulator for good.
    if (this.#parts.output.end - this.#fedTo > BACKLOG_BYTES) this.#skip()
    this.#arm()
  }

  resize(size: Size): void {
    const at = this.#parts.output.end
    // Nothing was drawn at the size before.
    if (this.#resizes.at(-1)?.at === at) this.#resizes.pop()
    this.#resizes.push({ at, size })
    if (at > 0) this.#arm()
    else this.#size = size
  }

  /** The screen at the latest place where the stream may be joined. */
  async snapshot(): Promise<Snapshot | undefined> {
    this.#feed()
    const offset = this.#parts.output.cutAtOrBefore(this.#fedTo)
    const answer = await this.#ask(true)
    if (answer === undefined) return undefined
    return { offset, size: answer.size, isWhole: answer.isWhole, bytes: Buffer.from(answer.drawing) }
  }

  /** Modes that the child has switched on; none before there was output. */
  async modes(): Promise<Readonly<Record<string, boolean | number>>> {
    if (this.#parts.output.end === 0) return { alt_screen: false, bracketed_paste: false }
    this.#feed()
    return (await this.#ask(false))?.modes ?? {}
  }

  close(): void {
    this.#isClosed = true
    this.#tick?.cancel()
    this.#answerNobody()
    void this.#worker?.terminate()
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
      this.#arm()
      return
    }
    this.#feed()
    void this.#ask(false).then((answer) => {
      if (answer === undefined || answer.question === this.#question) return
      this.#question = answer.question
      this.#parts.onQuestion(answer.question)
    })
  }

  /** Everything up to now, or after a flood its end. */
  #feed(): void {
    if (this.#parts.output.end - this.#fedTo > SCREEN_LAG_BYTES_MAX) this.#skip()
    const { output } = this.#parts
    for (const { at, size } of this.#resizes.splice(0)) {
      this.#feedUpTo(Math.min(at, output.end))
      this.#size = size
      this.#post({ is: 'size', size })
    }
    this.#feedUpTo(output.end)
  }

  #feedUpTo(to: number): void {
    if (to <= this.#fedTo) return
    for (const slice of this.#parts.output.slices(this.#fedTo, to)) this.#post({ is: 'output', bytes: slice })
    this.#fedTo = to
  }

  /** Passes over what there is no time for, but for the modes it sets. */
  #skip(): void {
    const { output, log } = this.#parts
    const from = Math.max(this.#fedTo, output.start)
    const to = output.cutAtOrAfter(Math.max(from, output.end - TAIL_BYTES)) ?? output.end
    const kept = condense(output.slices(from, to))
    log.write('debug', 'screen', `too fast: passed over ${to - this.#fedTo} bytes`)
    this.#fedTo = to
    if (kept.length > 0) this.#post({ is: 'output', bytes: kept })
    // Behind what was kept: a switch of screens in there is no fresh screen, for what was drawn on it is missing.
    this.#post({ is: 'skipped' })
  }

  #post(message: ToScreen): void {
    if (message.is !== 'output') {
      this.#running()?.postMessage(message)
      return
    }
    // Copied and given away: to send a view would be to send the whole slab that it is a view of.
    const bytes = new Uint8Array(message.bytes)
    this.#running()?.postMessage({ is: 'output', bytes } satisfies ToScreen, [bytes.buffer])
  }

  #ask(isDrawn: boolean): Promise<ScreenAnswer | undefined> {
    const worker = this.#running()
    if (worker === undefined) return Promise.resolve(undefined)
    this.#requests += 1
    const request = this.#requests
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve)
      worker.postMessage({ is: 'look', request, isDrawn } satisfies ToScreen)
    })
  }

  /** Started when first needed; started again from what is kept when it died, a few times. */
  #running(): Worker | undefined {
    if (this.#worker !== undefined || this.#isClosed || this.#starts > RESTARTS_MAX) return this.#worker
    this.#starts += 1
    // Loaded here: a session that has not written yet must not pay for threads.
    const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof Worker }
    const worker = new threads.Worker(this.#parts.worker, {
      workerData: this.#size,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    })
    worker.unref()
    worker.on('message', (answer: ScreenAnswer) => {
      const resolve = this.#waiting.get(answer.request)
      this.#waiting.delete(answer.request)
      resolve?.(answer)
    })
    worker.on('error', (error) => {
      this.#parts.log.write('error', 'screen', `emulator ended: ${error.message}`)
      this.#worker = undefined
      this.#fedTo = this.#parts.output.start
      this.#answerNobody()
    })
    this.#worker = worker
    if (this.#starts > 1) worker.postMessage({ is: 'skipped' } satisfies ToScreen)
    return worker
  }

  #answerNobody(): void {
    for (const resolve of this.#waiting.values()) resolve(undefined)
    this.#waiting.clear()
  }
}
