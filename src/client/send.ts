// Sends a text to the program in a session as a careful person would: paste, see that it was taken, press Enter, wait.
import { type Clock, pause, systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { SEND_ECHO_MS, SEND_REACTION_MS, SEND_SETTLE_MS, SEND_TAKEN_MS } from '../limits.ts'
import type { Info } from '../wire/payloads.ts'
import type { SessionConnection } from './connection.ts'
import { encodeKey, encodePaste } from './keystrokes.ts'
import { type SeenSoFar, Watch } from './watch.ts'

export interface SendOptions {
  /** Keys pressed after the text, each in a write of its own: `enter`, `escape`, `ctrl-c` … */
  readonly keys?: readonly string[]
  /** What to wait for after the last key. */
  readonly waitFor?: 'idle' | 'needs-input'
  /** For all of it; without one, only the taking of the text is bounded. */
  readonly timeoutMs?: number
  /** In what name, for the session's records; see `callAs`. */
  readonly as?: string
  readonly clock?: Clock
}

export interface Sent {
  /** Bytes that the terminal has taken, as the session confirmed. */
  readonly writtenBytes: number
  readonly isBracketed: boolean
  /** The program put something out after the text, an echo at least. */
  readonly reacted: boolean
  /** What was waited for, when it came; null when nothing was asked for. */
  readonly state: string | null
  readonly needsInput: boolean | null
}

/** The connection is used up: what confirms the text belongs to a subscription, and it is closed at the end. */
export async function sendText(connection: SessionConnection, text: string, options: SendOptions = {}): Promise<Sent> {
  const { clock = systemClock } = options
  try {
    if (options.as !== undefined) await connection.callAs(options.as)
    const watch = new Watch(connection.subscribe({ from: 'live', acks: true, events: true }), clock)
    return await new Sending(connection, watch, clock, options).run(text)
  } finally {
    connection.close()
  }
}

class Sending {
  readonly #connection: SessionConnection
  readonly #watch: Watch
  readonly #clock: Clock
  readonly #options: SendOptions
  readonly #startMs: number
  #sentBytes = 0

  constructor(connection: SessionConnection, watch: Watch, clock: Clock, options: SendOptions) {
    this.#connection = connection
    this.#watch = watch
    this.#clock = clock
    this.#options = options
    this.#startMs = clock.monoMs()
  }

  async run(text: string): Promise<Sent> {
    const { modes } = await this.#connection.info()
    const paste = encodePaste(text, modes)
    const keys = (this.#options.keys ?? []).map((key) => encodeKey(key, modes))
    const outputBefore = this.#watch.seen.outputBytes
    await this.#type(paste.bytes)
    let before = this.#watch.seen
    for (const key of keys) {
      await this.#settle(outputBefore)
      before = this.#watch.seen
      await this.#type(Buffer.from(key))
    }
    const after = this.#options.waitFor === undefined ? undefined : await this.#wait(this.#options.waitFor, before)
    return {
      writtenBytes: this.#sentBytes,
      isBracketed: paste.isBracketed,
      reacted: this.#watch.seen.outputBytes > outputBefore,
      state: after?.state ?? null,
      needsInput: after?.needs_input.value ?? null,
    }
  }

  /** Resolves when the terminal has taken the bytes, which a program that does not read can put off for ever. */
  async #type(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return
    this.#sentBytes += bytes.length
    await this.#connection.input(bytes)
    const wholeMs = this.#left() ?? SEND_TAKEN_MS
    const taken = await this.#watch.until((seen) => seen.ackedBytes >= this.#sentBytes, wholeMs)
    if (taken) return
    const { ackedBytes } = this.#watch.seen
    throw new HeimdallError(
      'SESSION_SILENT',
      `the terminal took ${ackedBytes} of ${this.#sentBytes} bytes within ${Math.round(wholeMs)} ms`,
      { hint: 'the program is not reading; the rest stays queued in the session' },
    )
  }

  /** Waits for the echo of what was typed and for a short silence after it. */
  async #settle(outputBefore: number): Promise<void> {
    const deadlineMs = this.#clock.monoMs() + SEND_ECHO_MS
    await this.#watch.until((seen) => seen.outputBytes > outputBefore, SEND_ECHO_MS)
    for (;;) {
      const nowMs = this.#clock.monoMs()
      const quietMs = nowMs - this.#watch.seen.lastOutputMs
      if (quietMs >= SEND_SETTLE_MS || nowMs >= deadlineMs) return
      await pause(this.#clock, SEND_SETTLE_MS - quietMs)
    }
  }

  async #wait(what: 'idle' | 'needs-input', before: SeenSoFar): Promise<Pick<Info, 'state' | 'needs_input'>> {
    const isMet = (state: Pick<Info, 'state' | 'needs_input'>): boolean =>
      what === 'idle' ? state.state === 'idle' : state.needs_input.value
    // Idle is what it becomes: a new title, told of before the program's work is noticed, still says "idle".
    const hasWorked = ({ busyEvents }: SeenSoFar): boolean =>
      busyEvents > before.busyEvents || (before.state !== undefined && before.state.state !== 'idle')
    const cameTrue = (timeoutMs: number | undefined): Promise<boolean> =>
      this.#watch.until(
        (seen) =>
          seen.stateEvents > before.stateEvents &&
          seen.state !== undefined &&
          isMet(seen.state) &&
          (what !== 'idle' || hasWorked(seen)),
        timeoutMs,
      )
    // A session that shows no change at all within the reaction time is judged by what it says when asked.
    if (!(await cameTrue(Math.min(this.#left() ?? Infinity, SEND_REACTION_MS)))) {
      const now = await this.#connection.info()
      if (isMet(now)) return now
      if (!(await cameTrue(this.#left())))
        throw new HeimdallError(
          'SESSION_SILENT',
          `the text was taken, but the session did not become ${what} in time`,
          {
            hint: 'raise --timeout',
          },
        )
    }
    const { state } = this.#watch.seen
    if (state === undefined) throw new HeimdallError('INTERNAL', 'a state event without a state')
    return state
  }

  #left(): number | undefined {
    const { timeoutMs } = this.#options
    return timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (this.#clock.monoMs() - this.#startMs))
  }
}
