// The thread that the emulator runs in: started when it is first asked something, started again when it died, and what waits for it until then.
import { createRequire } from 'node:module'
import type { Worker } from 'node:worker_threads'
import { EMULATOR_ASLEEP_BYTES_MAX, EMULATOR_MEMORY_MB_MAX, EMULATOR_RESTARTS_MAX } from '../../limits.ts'
import type { TerminalColors, Size } from '../../wire/payloads.ts'
import type { FromScreen, ScreenLook, ScreenStart, ToScreen } from './screen-messages.ts'
import type { SessionLog } from '../session-log.ts'

export interface EmulatorThreadParts {
  /** Path of `screen-worker.cjs`. */
  readonly worker: string
  readonly size: Size
  readonly colors?: TerminalColors | undefined
  readonly log: SessionLog
  readonly onAnswer: (text: string) => void
  /** It died; the next one knows nothing of what this one was given. */
  readonly onDied: () => void
}

/** What a message takes beside its bytes. */
const MESSAGE_BYTES = 64

export class EmulatorThread {
  readonly #parts: EmulatorThreadParts
  #worker: Worker | undefined
  #starts = 0
  #size: Size
  #colors: TerminalColors | undefined
  /** What the emulator is given when it wakes. While output only flows by, it would take time from the stream for nothing. */
  #asleep: ToScreen[] = []
  #asleepBytes = 0
  /** The size before that. */
  #asleepSize: Size | undefined
  #requests = 0
  readonly #waiting = new Map<number, (answer: ScreenLook | undefined) => void>()
  #isClosed = false

  constructor(parts: EmulatorThreadParts) {
    this.#parts = parts
    this.#size = parts.size
    this.#colors = parts.colors
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get hasStarted(): boolean {
    return this.#starts > 0
  }

  /** Not started, and all that waits is to be drawn as it came, at one size. */
  get isUntouched(): boolean {
    return this.#starts === 0 && !this.#asleep.some(({ is }) => is === 'size' || is === 'skipped')
  }

  /** Before there is anything to draw. */
  startAt(size: Size): void {
    this.#size = size
  }

  /** At once, past all that waits: whoever looks at the program now looks at it in these. */
  colors(colors: TerminalColors): void {
    this.#colors = colors
    if (this.#worker !== undefined) give(this.#worker, { is: 'colors', colors })
  }

  /** To the emulator, or for it when it wakes; it is not woken for this before it would take more memory than it is worth. */
  post(message: ToScreen): void {
    // Copied and given away: to send a view would be to send the whole slab that it is a view of.
    const own = message.is === 'output' ? { ...message, bytes: new Uint8Array(message.bytes) } : message
    if (this.#worker === undefined) this.#keep(own)
    else give(this.#worker, own)
    if (own.is === 'size') this.#size = own.size
  }

  /** Nothing when there is no emulator any more. */
  ask(isDrawn: boolean): Promise<ScreenLook | undefined> {
    const worker = this.#running()
    if (worker === undefined) return Promise.resolve(undefined)
    this.#requests += 1
    const request = this.#requests
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve)
      give(worker, { is: 'look', request, isDrawn })
    })
  }

  close(): void {
    this.#isClosed = true
    this.#answerNobody()
    void this.#worker?.terminate()
  }

  #keep(message: ToScreen): void {
    const last = this.#asleep.at(-1)
    if (message.is === 'skipped' && last?.is === 'skipped') return
    if (last === undefined) this.#asleepSize = this.#size
    this.#asleep.push(message)
    this.#asleepBytes += MESSAGE_BYTES + (message.is === 'output' ? message.bytes.length : 0)
    if (this.#asleepBytes > EMULATOR_ASLEEP_BYTES_MAX) this.#running()
  }

  /** Started when first needed; started again from what is kept when it died, a few times. */
  #running(): Worker | undefined {
    if (this.#worker !== undefined) return this.#worker
    const asleep = this.#asleep
    this.#asleep = []
    this.#asleepBytes = 0
    if (this.#isClosed || this.#starts > EMULATOR_RESTARTS_MAX) return undefined
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
      resourceLimits: { maxOldGenerationSizeMb: EMULATOR_MEMORY_MB_MAX },
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
      this.#parts.onDied()
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
